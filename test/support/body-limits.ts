import { scanBody } from '../../src/json/body-scan.ts'
import type { BodyLimits, EntrySpan } from '../../src/json/body-spans.ts'
import { runAtOnce, type Source, type Span } from '../../src/json/source.ts'

/** More than any test's body holds that is not about these limits. */
export const bodyLimits: BodyLimits = {
  depthMax: 512,
  elementsMax: 1_000_000,
  keysMax: 10_000,
  messagesMax: 50_000,
  partsMax: 50_000,
}

const unlimited: BodyLimits = {
  ...bodyLimits,
  depthMax: Infinity,
  elementsMax: Infinity,
  messagesMax: Infinity,
  partsMax: Infinity,
}

/** The elements of a text that is an array, as entries of a history of any length. */
export function entriesOf(source: Source): readonly EntrySpan[] {
  const before = '{"history":'
  const body = source.joined([before, { start: 0, end: source.length }, '}'])
  const scanned = runAtOnce(scanBody(body, { history: 'history', content: null }, null, unlimited))
  if (typeof scanned === 'string') throw new Error(`the test made an array that is not read: ${scanned}`)
  const movedBack = ({ start, end }: Span): Span => ({
    start: start - before.length,
    end: end - before.length,
  })
  return (scanned.history ?? []).map(({ longStrings, elements, keys, ...span }) => ({
    ...movedBack(span),
    elements,
    keys,
    ...(longStrings !== undefined && { longStrings: longStrings.map(movedBack) }),
  }))
}
