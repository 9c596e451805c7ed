import type { Failing, UpstreamFault } from './upstream-stand.ts'
import { after, all, end, none, part, stay } from './wire/acts.ts'
import { chunked, textOfAnswer, wholeOnWire, type GoodAnswer } from './wire/good-answer.ts'

const streams = ['streamed', 'compacted, streamed'] as const
const bodies = ['plain', 'compacted', 'relayed'] as const
/** Kinds whose answer is never held back. */
const atOnce = ['plain', 'streamed', 'relayed'] as const

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
