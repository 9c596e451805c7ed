import type { Message } from '../../src/conversation/message.ts'
import { readBody as readBodyFacts } from '../../src/formats/body-members.ts'
import type { BodyFacts, Dialect } from '../../src/formats/contract.ts'
import { createFactsReader, readEntries } from '../../src/formats/entry-facts.ts'
import { repairCalls } from '../../src/formats/repair.ts'
import { runAtOnce, type Source } from '../../src/json/source.ts'
import { spliceMessages, type ViewItem } from '../../src/json/splice.ts'
import { bytesOf } from '../../src/pipeline/send/outgoing-body.ts'
import { bodyLimits } from './body-limits.ts'
import { digest, sourceOf } from './source.ts'

/** A body as the proxy reads it. */
export type ReadBody = {
  readonly source: Source
  readonly body: BodyFacts
  readonly messages: readonly Message[]
}

/** What stands around the history of a body; throws where it is relayed untouched. */
export function factsOfBody({ bodies }: Dialect, source: Source): BodyFacts {
  const found = runAtOnce(readBodyFacts(bodies, source, bodyLimits, null))
  if (typeof found === 'string') throw new Error(found)
  return found
}

/** A body with its entries; throws where one of them cannot be read. */
export function readBody(dialect: Dialect, text: string): ReadBody {
  const source = sourceOf(text)
  const body = factsOfBody(dialect, source)
  const reader = createFactsReader(digest, { entriesMax: 100 })
  const messages = runAtOnce(readEntries(dialect, body.entrySpans, source, 'scope', reader))
  if (messages === null || messages === 'stateful') throw new Error('the entries cannot be read')
  return { source, body, messages }
}

/** The body of a view. */
export function splicedBody({ source, body, messages }: ReadBody, items: readonly ViewItem[]): string {
  const bytes = Buffer.from(source.bytes)
  return bytesOf(bytes, spliceMessages(messages, items, body.history, bytes.length)).toString()
}

/** A body as it is sent repaired; null if nothing of it was broken. */
export function repairedBody(dialect: Dialect, text: string): string | null {
  const read = readBody(dialect, text)
  const found = runAtOnce(repairCalls(read.source, read.messages, dialect.rules))
  return found === null ? null : splicedBody(read, found.items)
}
