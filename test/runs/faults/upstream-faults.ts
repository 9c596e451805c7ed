import { setTimeout } from 'node:timers/promises'
import type { Failing, UpstreamFault } from './upstream-stand.ts'
import {
  after,
  all,
  end,
  none,
  part,
  reset,
  stay,
  type Act,
  textOfAnswer,
  wholeOnWire,
  type GoodAnswer,
  chunked,
} from './wire/answers.ts'
import type { Play } from './wire/raw-upstream.ts'

const streams = ['streamed', 'compacted, streamed'] as const
const bodies = ['plain', 'compacted', 'relayed'] as const
/** Kinds whose answer is never held back. */
const atOnce = ['plain', 'streamed', 'relayed'] as const

const HINTS = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'
const OK = 'HTTP/1.1 200 OK\r\n'
const REFUSAL = JSON.stringify({ error: { message: 'Not now.', type: 'server_error', code: null } })
const noise = Array.from({ length: 512 }, (_, index) => (index * 7_919 + 131) % 256)
const TYPE_JSON = 'content-type: application/json\r\n'
const TYPE_PAGE = 'content-type: text/html\r\n'
const GZIP = 'content-encoding: gzip\r\n'

const fault = (
  name: string,
  fails: UpstreamFault['fails'],
  more: Partial<UpstreamFault> = {},
): UpstreamFault => ({ name, fails, ...more })

/** An upstream that ends its answer before it should, or never begins it. */
export const brokenConnections: readonly UpstreamFault[] = [
  fault('refuses the connection', () => ({ play: null, owed: null, isAll: false }), { isClosed: true }),
  fault('resets before the headers', () => none(reset)),
  fault('closes before the headers', () => none(end)),
  fault('resets in the middle of the headers', ({ head }) => none(after(head.slice(0, -8), reset))),
  fault('resets after the headers', ({ head }) => part('', after(head, reset))),
  fault('resets in the middle of a body of stated length', (answer) => half(answer, reset), {
    kinds: bodies,
  }),
  fault('closes in the middle of the answer', (answer) => half(answer, end)),
  fault(
    'resets in the middle of a chunk',
    ({ head, framed, pieces: [first = '', second = ''] }) => {
      const begun = framed(second).slice(0, -10)
      const owed = first + begun.slice(begun.indexOf('\r\n') + 2)
      return part(owed, after(head + framed(first) + begun, reset))
    },
    { kinds: streams },
  ),
  fault(
    'resets in the middle of an event',
    (answer) => {
      const owed = textOfAnswer(answer).slice(0, 300)
      return part(owed, after(answer.head + answer.framed(owed), reset))
    },
    { kinds: streams },
  ),
  fault(
    'resets after the last event, before the end of the body',
    (answer) => part(textOfAnswer(answer), after(wholeOnWire(answer).slice(0, -answer.end.length), reset)),
    { kinds: streams },
  ),
  fault('resets a body that ends with its connection', (answer) => {
    const owed = answer.pieces.slice(0, 2).join('').slice(0, -5)
    return part(owed, after(withoutLength(answer) + owed, reset))
  }),
  fault('closes a body that ends with its connection', (answer) =>
    all(textOfAnswer(answer), after(withoutLength(answer) + textOfAnswer(answer), end)),
  ),
  fault('resets a connection that was kept, as it is used again', () => none(reset), {
    isOnKeptConnection: true,
  }),
]

/** An upstream that takes its time. */
export const slowAnswers: readonly UpstreamFault[] = [
  fault('never answers (`limits.first_byte_s`)', () => none(stay), { limits: { first_byte_s: 1 } }),
  fault('falls silent after the headers (`limits.idle_s`)', ({ head }) => part('', after(head, stay)), {
    limits: { idle_s: 1 },
  }),
  fault('falls silent in the middle of the answer (`limits.idle_s`)', (answer) => half(answer, stay), {
    limits: { idle_s: 1 },
  }),
  fault(
    'gives a byte a second, for longer than `limits.idle_s`',
    (answer) => all(textOfAnswer(answer), trickle(answer, 4)),
    { limits: { idle_s: 3 } },
  ),
  fault(
    'gives the next byte once the client has the one before',
    (answer, _kind, clientHas) =>
      all(textOfAnswer(answer), async (socket) => {
        socket.write(answer.head)
        let given = 0
        for (const character of textOfAnswer(answer)) {
          socket.write(answer.framed(character))
          given += 1
          await clientHas(given)
        }
        socket.write(answer.end)
      }),
    { kinds: atOnce },
  ),
]

const says = (name: string, bytes: string | Buffer, act: Act): UpstreamFault =>
  fault(name, () => none(after(bytes, act)))

/** An upstream that breaks the rules of HTTP, or of its own API. */
export const nonsense: readonly UpstreamFault[] = [
  says('answers with what is no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n', end),
  says('answers with bytes at random', Buffer.from(noise), end),
  says('sends headers without an end', `${OK}x-long: ${'x'.repeat(70_000)}`, stay),
  says('answers with headers of 70 kB', `${OK}x-long: ${'x'.repeat(70_000)}\r\n\r\n`, stay),
  says('states two different lengths', `${OK}content-length: 3\r\ncontent-length: 5\r\n\r\nabcde`, stay),
  fault('answers with a status that does not exist (`999`)', () =>
    all('{}', after('HTTP/1.1 999 What\r\ncontent-length: 2\r\n\r\n{}', stay)),
  ),
  says('answers with a status below 100 (`99`)', 'HTTP/1.1 099 What\r\ncontent-length: 2\r\n\r\n{}', stay),
  says('says 100, which nobody waits for', 'HTTP/1.1 100 Continue\r\n\r\n', stay),
  fault('says 103, then answers', (answer) =>
    all(textOfAnswer(answer), after(`${HINTS}${wholeOnWire(answer)}`, stay)),
  ),
  says('says 103 and ends', HINTS, end),
  says(
    'switches to a protocol that nobody asked for',
    'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
    stay,
  ),
  fault(
    'states more bytes than it has, and closes',
    (answer) => part(textOfAnswer(answer), after(withLength(answer, 10) + textOfAnswer(answer), end)),
    { kinds: bodies },
  ),
  fault(
    'states fewer bytes than it has: the rest looks like a next answer',
    (answer) => {
      const next = 'HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\npoison'
      return all(textOfAnswer(answer), after(wholeOnWire(answer) + next, stay))
    },
    { kinds: bodies },
  ),
  fault(
    'breaks the chunk framing',
    ({ head, pieces: [first = ''] }) => part(first, after(`${head}${chunked(first)}zz\r\n`, stay)),
    { kinds: streams },
  ),
  fault('answers 200 with JSON that is none', () => whole(200, '{"choices": [{"index": ')),
  fault('answers 200 with a page', () => whole(200, '<html>Please log in.</html>', TYPE_PAGE)),
  fault('answers 200 with nothing', () => whole(200, '')),
  fault('answers in gzip that is broken', () => whole(200, 'this is not gzip', TYPE_JSON + GZIP)),
  fault('refuses in gzip that is broken', () => whole(400, 'this is not gzip', TYPE_JSON + GZIP), {
    kinds: atOnce,
  }),
]

/** An upstream that has said no. */
export const refusals: readonly UpstreamFault[] = [
  refuses('429', 429),
  refuses('429 with retry-after', 429, 'retry-after: 7\r\n'),
  refuses('429 with retry-after as a date', 429, 'retry-after: Wed, 21 Oct 2026 07:28:00 GMT\r\n'),
  ...[500, 502, 503, 529].flatMap((status) => [
    refuses(`${status}`, status),
    refuses(`${status} with retry-after`, status, 'retry-after: 7\r\n'),
  ]),
  refuses('400, whatever it is sent', 400),
  fault(
    'answers 400 to what is compacted, and 200 to the original',
    (answer, kind) =>
      all(textOfAnswer(answer), (socket, { body }) => {
        socket.write(body.equals(kind.body) ? wholeOnWire(answer) : refusalOnWire(400))
      }),
    { kinds: ['compacted', 'compacted, streamed'] },
  ),
  fault('answers 500 and breaks off in the middle of the error', () =>
    part(REFUSAL.slice(0, 20), after(refusalOnWire(500).slice(0, 20 - REFUSAL.length), end)),
  ),
  fault('redirects (`307`)', () => {
    const location = 'location: http://127.0.0.1:9/\r\ncontent-length: 0'
    return all('', after(`HTTP/1.1 307 Temporary Redirect\r\n${location}\r\n\r\n`, stay))
  }),
  fault('refuses before it has the whole request, and closes', () => ({
    ...all(REFUSAL, after(refusalOnWire(413, 'connection: close\r\n'), end)),
    isEarly: true,
  })),
]

/** The first half of an answer. */
function half(answer: GoodAnswer, act: Act): Failing {
  const given = answer.pieces.slice(0, answer.pieces.length / 2)
  return part(given.join(''), after(answer.head + given.map(answer.framed).join(''), act))
}

const withoutLength = ({ head }: GoodAnswer): string =>
  head.replace(/^(?:content-length|transfer-encoding): .*\r\n/m, '')

/** The last bytes of the body a second apart, all else at once. */
function trickle(answer: GoodAnswer, last: number): Play {
  const bytes = wholeOnWire(answer)
  // The end of the last chunk is no part of what the client is owed.
  const bodyEnd = bytes.lastIndexOf(textOfAnswer(answer).slice(-last)) + last
  return async (socket) => {
    socket.write(bytes.slice(0, bodyEnd - last))
    for (const character of bytes.slice(bodyEnd - last, bodyEnd)) {
      await setTimeout(1_000)
      socket.write(character)
    }
    socket.write(bytes.slice(bodyEnd))
  }
}

const whole = (status: number, body: string, headers = TYPE_JSON): Failing =>
  all(body, after(onWire(status, body, headers), stay))

function refuses(name: string, status: number, headers = ''): UpstreamFault {
  return fault(`answers ${name}`, () => all(REFUSAL, after(refusalOnWire(status, headers), stay)))
}

const refusalOnWire = (status: number, headers = ''): string => onWire(status, REFUSAL, TYPE_JSON + headers)

const onWire = (status: number, body: string, headers: string): string =>
  `HTTP/1.1 ${status} Reason\r\n${headers}content-length: ${body.length}\r\n\r\n${body}`

const withLength = (answer: GoodAnswer, more: number): string =>
  answer.head.replace(/(?<=content-length: )\d+/, String(textOfAnswer(answer).length + more))
