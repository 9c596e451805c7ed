import type { FactsReader } from './facts.ts'
import type { EntrySpan } from '../../conversation/body-scan.ts'
import type { Message } from '../../conversation/message.ts'
import type { Source, Steps } from '../../conversation/source.ts'

/** How much is read between two pauses: about a millisecond where nothing of it was seen before. */
const stepBytes = 65_536

/**
 * The messages at `entries` with their facts, in steps; null where one of them cannot be read with certainty.
 */
export function* readMessages(
  entries: readonly EntrySpan[],
  source: Source,
  scope: string,
  readFacts: FactsReader,
): Steps<readonly Message[] | null> {
  const messages: Message[] = []
  let bytes = 0
  for (const entry of entries) {
    const { start, end } = entry
    const facts = yield* readFacts(scope, source, entry)
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
