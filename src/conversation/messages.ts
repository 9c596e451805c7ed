import type { FactsReader } from './facts.ts'
import type { Message } from './message.ts'
import type { Source, Span, Steps } from './source.ts'

/** How much is read between two pauses: about a millisecond where nothing of it was seen before. */
const stepBytes = 262_144

/**
 * The messages at `spans` with their facts, in steps; null where one of them cannot be read with certainty.
 * Only then is the whole body known to be what it was taken for.
 */
export function* readMessages(
  spans: readonly Span[],
  source: Source,
  scope: string,
  readFacts: FactsReader,
): Steps<readonly Message[] | null> {
  const messages: Message[] = []
  let bytes = 0
  for (const { start, end } of spans) {
    const facts = readFacts(scope, source, { start, end })
    if (facts === null) return null
    messages.push({ start, end, facts })
    bytes += end - start
    if (bytes >= stepBytes) {
      bytes = 0
      yield
    }
  }
  return messages
}
