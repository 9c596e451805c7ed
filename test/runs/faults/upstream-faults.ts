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

/** An upstream that ends its answer before it should, or never begins it. */
export const brokenConnections: readonly UpstreamFault[] = [
  { name: 'refuses the connection', isClosed: true, fails: () => ({ play: null, owed: null, isAll: false }) },
  { name: 'resets before the headers', fails: () => none(reset) },
  { name: 'closes before the headers', fails: () => none(end) },
  { name: 'resets in the middle of the headers', fails: ({ head }) => none(after(head.slice(0, -8), reset)) },
  { name: 'resets after the headers', fails: ({ head }) => part('', after(head, reset)) },
  {
    name: 'resets in the middle of a body of stated length',
    kinds: bodies,
    fails: (answer) => half(answer, reset),
  },
  { name: 'closes in the middle of the answer', fails: (answer) => half(answer, end) },
  {
    name: 'resets in the middle of a chunk',
    kinds: streams,
    fails: (answer) => {
      const [first = '', second = ''] = answer.pieces
      const begun = answer.framed(second).slice(0, -10)
      const owed = first + begun.slice(begun.indexOf('\r\n') + 2)
      return part(owed, after(answer.head + answer.framed(first) + begun, reset))
    },
  },
  {
    name: 'resets in the middle of an event',
    kinds: streams,
    fails: (answer) => {
      const owed = textOfAnswer(answer).slice(0, 300)
      return part(owed, after(answer.head + answer.framed(owed), reset))
    },
  },
  {
    name: 'resets after the last event, before the end of the body',
    kinds: streams,
    fails: (answer) =>
      part(textOfAnswer(answer), after(wholeOnWire(answer).slice(0, -answer.end.length), reset)),
  },
  {
    name: 'resets a body that ends with its connection',
    fails: (answer) => {
      const owed = answer.pieces.slice(0, 2).join('').slice(0, -5)
      return part(owed, after(withoutLength(answer) + owed, reset))
    },
  },
  {
    name: 'closes a body that ends with its connection',
    fails: (answer) => all(textOfAnswer(answer), after(withoutLength(answer) + textOfAnswer(answer), end)),
  },
  {
    name: 'resets a connection that was kept, as it is used again',
    isOnKeptConnection: true,
    fails: () => none(reset),
  },
]

/** An upstream that takes its time. */
export const slowAnswers: readonly UpstreamFault[] = [
  { name: 'never answers (`limits.first_byte_s`)', limits: { first_byte_s: 1 }, fails: () => none(stay) },
  {
    name: 'falls silent after the headers (`limits.idle_s`)',
    limits: { idle_s: 1 },
    fails: ({ head }) => part('', after(head, stay)),
  },
  {
    name: 'falls silent in the middle of the answer (`limits.idle_s`)',
    limits: { idle_s: 1 },
    fails: (answer) => half(answer, stay),
  },
  {
    name: 'gives a byte a second, for longer than `limits.idle_s`',
    limits: { idle_s: 3 },
    fails: (answer) => all(textOfAnswer(answer), trickle(answer, 4)),
  },
  {
    name: 'gives the next byte once the client has the one before',
    kinds: atOnce,
    fails: (answer, _kind, clientHas) =>
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
  },
]

/** An upstream that breaks the rules of HTTP, or of its own API. */
export const nonsense: readonly UpstreamFault[] = [
  { name: 'answers with what is no HTTP', fails: () => none(after('SSH-2.0-OpenSSH_9.6\r\n', end)) },
  { name: 'answers with bytes at random', fails: () => none(after(Buffer.from(noise), end)) },
  {
    name: 'sends headers without an end',
    fails: () => none(after(`${OK}x-long: ${'x'.repeat(70_000)}`, stay)),
  },
  {
    name: 'answers with headers of 70 kB',
    fails: () => none(after(`${OK}x-long: ${'x'.repeat(70_000)}\r\n\r\n`, stay)),
  },
  {
    name: 'states two different lengths',
    fails: () => none(after(`${OK}content-length: 3\r\ncontent-length: 5\r\n\r\nabcde`, stay)),
  },
  {
    name: 'answers with a status that does not exist (`999`)',
    fails: () => all('{}', after('HTTP/1.1 999 What\r\ncontent-length: 2\r\n\r\n{}', stay)),
  },
  {
    name: 'answers with a status below 100 (`99`)',
    fails: () => none(after('HTTP/1.1 099 What\r\ncontent-length: 2\r\n\r\n{}', stay)),
  },
  {
    name: 'says 100, which nobody waits for',
    fails: () => none(after('HTTP/1.1 100 Continue\r\n\r\n', stay)),
  },
  {
    name: 'says 103, then answers',
    fails: (answer) => all(textOfAnswer(answer), after(`${HINTS}${wholeOnWire(answer)}`, stay)),
  },
  {
    name: 'says 103 and ends',
    fails: () => none(after(HINTS, end)),
  },
  {
    name: 'switches to a protocol that nobody asked for',
    fails: () =>
      none(
        after('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n', stay),
      ),
  },
  {
    name: 'states more bytes than it has, and closes',
    kinds: bodies,
    fails: (answer) => part(textOfAnswer(answer), after(withLength(answer, 10) + textOfAnswer(answer), end)),
  },
  {
    name: 'states fewer bytes than it has: the rest looks like a next answer',
    kinds: bodies,
    fails: (answer) =>
      all(
        textOfAnswer(answer),
        after(`${wholeOnWire(answer)}HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\npoison`, stay),
      ),
  },
  {
    name: 'breaks the chunk framing',
    kinds: streams,
    fails: (answer) =>
      part(answer.pieces[0] ?? '', after(`${answer.head}${chunked(answer.pieces[0] ?? '')}zz\r\n`, stay)),
  },
  {
    name: 'answers 200 with JSON that is none',
    fails: () => whole(200, '{"choices": [{"index": '),
  },
  {
    name: 'answers 200 with a page',
    fails: () => whole(200, '<html>Please log in.</html>', { contentType: 'text/html' }),
  },
  { name: 'answers 200 with nothing', fails: () => whole(200, '') },
  {
    name: 'answers in gzip that is broken',
    fails: () => whole(200, 'this is not gzip', { headers: 'content-encoding: gzip\r\n' }),
  },
  {
    name: 'refuses in gzip that is broken',
    kinds: atOnce,
    fails: () => whole(400, 'this is not gzip', { headers: 'content-encoding: gzip\r\n' }),
  },
]

/** An upstream that has said no. */
export const refusals: readonly UpstreamFault[] = [
  refuses('429', 429),
  refuses('429 with retry-after', 429, 'retry-after: 7\r\n'),
  refuses('429 with retry-after as a date', 429, 'retry-after: Wed, 21 Oct 2026 07:28:00 GMT\r\n'),
  refuses('500', 500),
  refuses('500 with retry-after', 500, 'retry-after: 7\r\n'),
  refuses('502', 502),
  refuses('502 with retry-after', 502, 'retry-after: 7\r\n'),
  refuses('503', 503),
  refuses('503 with retry-after', 503, 'retry-after: 7\r\n'),
  refuses('529', 529),
  refuses('529 with retry-after', 529, 'retry-after: 7\r\n'),
  refuses('400, whatever it is sent', 400),
  {
    name: 'answers 400 to what is compacted, and 200 to the original',
    kinds: ['compacted', 'compacted, streamed'],
    fails: (answer, kind) =>
      all(textOfAnswer(answer), (socket, { body }) => {
        socket.write(body.equals(kind.body) ? wholeOnWire(answer) : refusalOnWire(400))
      }),
  },
  {
    name: 'answers 500 and breaks off in the middle of the error',
    fails: () => part(REFUSAL.slice(0, 20), after(refusalOnWire(500).slice(0, 20 - REFUSAL.length), end)),
  },
  {
    name: 'redirects (`307`)',
    fails: () =>
      all(
        '',
        after(
          'HTTP/1.1 307 Temporary Redirect\r\nlocation: http://127.0.0.1:9/\r\ncontent-length: 0\r\n\r\n',
          stay,
        ),
      ),
  },
  {
    name: 'refuses before it has the whole request, and closes',
    fails: () => ({
      ...all(REFUSAL, after(refusalOnWire(413, 'connection: close\r\n'), end)),
      isEarly: true,
    }),
  },
]

// --- internal ---

/** The first half of an answer. */
function half(answer: GoodAnswer, act: Act): Failing {
  const given = answer.pieces.slice(0, answer.pieces.length / 2)
  return part(given.join(''), after(answer.head + given.map(answer.framed).join(''), act))
}

function withoutLength({ head }: GoodAnswer): string {
  return head.replace(/^(?:content-length|transfer-encoding): .*\r\n/m, '')
}

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

const HINTS = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'

const OK = 'HTTP/1.1 200 OK\r\n'

const REFUSAL = JSON.stringify({ error: { message: 'Not now.', type: 'server_error', code: null } })

const noise = Array.from({ length: 512 }, (_, index) => (index * 7_919 + 131) % 256)

function whole(
  status: number,
  body: string,
  { contentType = 'application/json', headers = '' }: { contentType?: string; headers?: string } = {},
): Failing {
  return all(body, after(onWire(status, body, `content-type: ${contentType}\r\n${headers}`), stay))
}

function refuses(name: string, status: number, headers = ''): UpstreamFault {
  return {
    name: `answers ${name}`,
    fails: () => all(REFUSAL, after(refusalOnWire(status, headers), stay)),
  }
}

function refusalOnWire(status: number, headers = ''): string {
  return onWire(status, REFUSAL, `content-type: application/json\r\n${headers}`)
}

function onWire(status: number, body: string, headers: string): string {
  return `HTTP/1.1 ${status} Reason\r\n${headers}content-length: ${body.length}\r\n\r\n${body}`
}

function withLength(answer: GoodAnswer, more: number): string {
  return answer.head.replace(/(?<=content-length: )\d+/, String(textOfAnswer(answer).length + more))
}
