import type { Upstreams } from '../upstream/upstreams.ts'
import { deliver } from './deliver.ts'
import type { Exchange } from './exchange.ts'
import type { RequestBody } from './read-body.ts'
import type { UnreadReason } from './read-chat.ts'

/** Sends a body that was read into memory as it came, and its answer back untouched. */
export async function relayBody(
  exchange: Exchange,
  body: RequestBody,
  reason: UnreadReason,
  parts: { readonly upstreams: Upstreams; readonly stallMs: number },
): Promise<void> {
  const answer = await parts.upstreams.send({
    upstream: exchange.upstreamName,
    method: exchange.method,
    target: exchange.target,
    rawHeaders: exchange.incoming.rawHeaders,
    withholdCredential: exchange.clientKeyName !== null,
    body: body.raw,
    signal: exchange.signal,
  })
  body.release()
  await deliver(exchange, answer, {
    headers: {
      'x-foldgate-action': reason === 'failed' ? 'failed-open;reason=reading' : `relayed;reason=${reason}`,
    },
    stallMs: parts.stallMs,
  })
}
