import type { Answer, Upstreams } from '../../upstream/upstreams.ts'
import { deliver, type Delivery } from '../wire/deliver.ts'
import { onwardOf, type Exchange } from '../wire/exchange.ts'
import type { RequestBody } from './read-body.ts'
import type { UnreadReason } from './read-chat.ts'

/** The answer to a body that was not read, and why it was not. */
export type Unread = {
  readonly unread: UnreadReason
  readonly answer: Answer
  /** Gives the body's bytes back to the budget, once the answer is over. */
  readonly release: () => void
}

/** Sends a body as it came: what cannot be read with certainty is the upstream's to judge. */
export async function sendUnread(
  exchange: Exchange,
  body: RequestBody,
  reason: UnreadReason,
  parts: { readonly upstreams: Upstreams },
): Promise<Unread> {
  const answer = await parts.upstreams.send({
    upstream: exchange.upstreamName,
    ...onwardOf(exchange),
    body: body.raw,
  })
  return { unread: reason, answer, release: body.release }
}

/** Gives the answer to the client untouched. */
export async function deliverUnread(
  exchange: Exchange,
  { unread, answer }: Unread,
  parts: { readonly stallMs: number },
): Promise<Delivery> {
  const action = unread === 'failed' ? 'failed-open;reason=reading' : `relayed;reason=${unread}`
  return deliver(exchange, answer, { headers: { 'x-foldgate-action': action }, stallMs: parts.stallMs })
}
