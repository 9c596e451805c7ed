import type { BodyLimits, EntrySpan } from '../../src/conversation/body-scan.ts'
import { elementsIn } from '../../src/conversation/spans-in.ts'
import type { Source } from '../../src/conversation/source.ts'

/** More than any test's body holds that is not about these limits. */
export const bodyLimits: BodyLimits = {
  depthMax: 512,
  elementsMax: 1_000_000,
  keysMax: 10_000,
  messagesMax: 50_000,
  partsMax: 100_000,
}

/** The elements of a text that is an array, as entries of a history. */
export function entriesOf(source: Source): readonly EntrySpan[] {
  return (elementsIn(source, { start: 0, end: source.length }) ?? []).map((span) => ({
    ...span,
    elements: 0,
  }))
}
