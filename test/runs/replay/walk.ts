import { hash } from 'node:crypto'
import type { Received } from './job.ts'
import type { Exchange, Stage } from './stage.ts'

/** The messages that the upstream received last, as digests. */
export function received(exchange: Exchange): Received {
  const { rawMessages = [] } = exchange.received.at(-1) ?? {}
  return rawMessages.map((text) => hash('sha1', text).slice(0, DIGEST_CHARS))
}

/** Sends the requests of one conversation in their order; what was received for each. */
export async function walk(
  stage: Stage,
  owner: string,
  points: readonly number[],
  bodyAt: (point: number) => Buffer,
): Promise<readonly Received[]> {
  const lists: Received[] = []
  for (const point of points) lists.push(received(await stage.ask(bodyAt(point), `Bearer ${owner}`)))
  return lists
}

// --- internal ---

// 48 bits tell the messages of one conversation apart.
const DIGEST_CHARS = 12
