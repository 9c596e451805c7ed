import type { Socket } from 'node:net'
import type { RequestKind } from './requests.ts'
import type { Failing } from '../upstream-stand.ts'
import type { Play } from './raw-upstream.ts'

const OK = 'HTTP/1.1 200 OK\r\n'

const about = { id: 'chatcmpl-1', created: 1, model: 'test-model' }

const SUMMARY = [
  '## Task',
  'Repair what the nightly run breaks, beginning at src/f0.ts.',
  '## Facts',
  '- Builds BLD-7001 to BLD-7004 ended with the codes 301 to 304.',
  '- The files src/f1.ts to src/f4.ts were read.',
  '## Next',
  'Go on with the next file.',
].join('\n')

/** An answer in the pieces in which it goes over the wire, so that it can be broken off between them. */
export type GoodAnswer = {
  /** Status line and headers, up to the body. */
  readonly head: string
  /** What the client is owed, piece by piece. */
  readonly pieces: readonly string[]
  /** A piece as it stands on the wire. */
  readonly framed: (piece: string) => string
  /** What ends the body on the wire. */
  readonly end: string
}

/** A good answer to this kind of request: events in chunks to a streamed one, else JSON of a stated length. */
export function goodAnswer({ isStreamed, path }: RequestKind): GoodAnswer {
  if (isStreamed) {
    return {
      head: `${OK}content-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n`,
      pieces: events,
      framed: chunked,
      end: '0\r\n\r\n',
    }
  }
  return jsonAnswer(path === '/embeddings' ? embedding : completionOf('It is over.'))
}

/** A good answer to a request for a summary. */
export const goodSummary: GoodAnswer = jsonAnswer(completionOf(SUMMARY))

/** The whole of it, as it stands on the wire. */
export const wholeOnWire = ({ head, pieces, framed, end }: GoodAnswer): string =>
  head + pieces.map(framed).join('') + end

/** What the client is owed of it. */
export const textOfAnswer = ({ pieces }: GoodAnswer): string => pieces.join('')

/** A piece in chunk framing. */
export const chunked = (piece: string): string => `${Buffer.byteLength(piece).toString(16)}\r\n${piece}\r\n`

/** What is done to a connection. */
export type Act = (socket: Socket) => void

/** Ends it with a reset, at once. */
export const reset: Act = (socket) => void socket.resetAndDestroy()

/** Closes it, once what was written is on its way. */
export const end: Act = (socket) => void socket.end(() => socket.destroy())

/** Writes, and acts once that is on its way. */
export const after =
  (bytes: string | Buffer, act: Act): Play =>
  (socket) =>
    void socket.write(bytes, () => act(socket))

/** There is no answer that could be told. */
export const none = (play: Play): Failing => ({ play, owed: null, isAll: false })

/** What came of the answer is not all of it. */
export const part = (owed: string, play: Play): Failing => ({ play, owed, isAll: false })

/** What came is all that there is. */
export const all = (owed: string, play: Play): Failing => ({ play, owed, isAll: true })

/** Leaves the connection as it is. */
export const stay: Act = () => {}

function completionOf(content: string): string {
  return JSON.stringify({
    ...about,
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 10, completion_tokens: 4, total_tokens: 14 },
  })
}

function jsonAnswer(text: string): GoodAnswer {
  const half = Math.floor(text.length / 2)
  return {
    head: `${OK}content-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n`,
    pieces: [text.slice(0, half), text.slice(half)],
    framed: (piece) => piece,
    end: '',
  }
}

const embedding = JSON.stringify({ object: 'list', data: [{ object: 'embedding', embedding: [0.5, 0.25] }] })

const events = [
  event({ role: 'assistant', content: '' }, null),
  event({ content: 'It is' }, null),
  event({ content: ' over.' }, null),
  event({}, 'stop'),
  'data: [DONE]\n\n',
]

function event(delta: object, finish: string | null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }]
  return `data: ${JSON.stringify({ ...about, object: 'chat.completion.chunk', choices })}\n\n`
}
