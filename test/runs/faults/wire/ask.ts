import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import type { RequestKind } from './requests.ts'
import { ownErrorCode } from '../../../support/post-chat.ts'

/** What a client saw of its answer, on a connection of its own. */
export type Seen = {
  /** Null: the connection ended without a word. */
  readonly status: number | null
  readonly header: (name: string) => string | null
  readonly body: Buffer
  /** Whether the answer ended as HTTP says that it does. */
  readonly isWhole: boolean
  /** The code of an error of Foldgate's own; null where it is none. */
  readonly ownCode: string | null
}

/** Sends a request and takes what comes, to the end or the cut. `onBytes` is told how many body bytes there are by now. */
export async function ask(
  url: string,
  { path, body }: Pick<RequestKind, 'path' | 'body'>,
  onBytes: (bytes: number) => void = () => {},
): Promise<Seen> {
  const outgoing = request(`${url}${path}`, {
    method: 'POST',
    agent: false,
    headers: { ...headers, 'content-length': body.length },
  })
  // What there is to be seen is seen without it.
  outgoing.on('error', () => {})
  outgoing.end(body)
  const answered = await new Promise<IncomingMessage | null>((resolve) => {
    outgoing.once('response', resolve).once('close', () => resolve(null))
  })
  if (answered === null) return nothing
  const pieces: Buffer[] = []
  let bytes = 0
  answered.on('data', (piece: Buffer) => {
    pieces.push(piece)
    bytes += piece.length
    onBytes(bytes)
  })
  // A cut is told by `complete`.
  answered.on('error', () => {})
  if (!answered.closed) await once(answered, 'close').catch(() => {})
  const text = Buffer.concat(pieces)
  return {
    status: answered.statusCode ?? null,
    header: (name) => textOf(answered.headers[name]),
    body: text,
    isWhole: answered.complete,
    ownCode: ownErrorCode(text),
  }
}

/** What a client saw, as a cell of the table says it. */
export function seenText(seen: Seen): string {
  const { status, ownCode } = seen
  if (status === null) return 'the connection ends without an answer'
  const parts = [ownCode === null ? `\`${status}\`` : `\`${status}\` \`${ownCode}\``]
  const retryAfter = seen.header('retry-after')
  if (retryAfter !== null) parts.push(`\`retry-after: ${retryAfter}\``)
  const action = seen.header('x-foldgate-action') ?? ''
  if (!ordinaryActions.has(action)) parts.push(`\`${action}\``)
  if (seen.isWhole) return parts.join(', ')
  return `${parts.join(', ')}, then the connection is cut`
}

const headers = { 'content-type': 'application/json', authorization: 'Bearer key-of-a-test' }

const nothing = { status: null, header: () => null, body: Buffer.alloc(0), isWhole: false, ownCode: null }

const textOf = (value: string | string[] | undefined): string | null =>
  Array.isArray(value) ? value.join(', ') : (value ?? null)

const ordinaryActions: ReadonlySet<string> = new Set(['', 'relayed', 'compacted'])
