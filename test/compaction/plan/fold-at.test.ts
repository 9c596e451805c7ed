import { expect, test } from 'vitest'
import { foldAt } from '../../../src/compaction/plan/fold-at.ts'
import { createMadeCache } from '../../../src/compaction/made-cache.ts'
import { pinsAt } from '../../../src/compaction/plan/parts.ts'
import { countsOf } from '../../../src/compaction/token-counts.ts'
import { standingSummary } from '../../support/at-once.ts'
import { policyOf, subjectOf } from '../../support/subject.ts'
import { assistant, prose, user } from '../sending.ts'

const turns = Array.from({ length: 40 }, (_, turn) => [
  user(`Turn ${turn}.`),
  assistant(prose(`Answer ${turn}`, 200)),
])
const subject = subjectOf([user('The task.'), assistant('Well.'), ...turns.flat(), user('And now?')])
const frontier = 60
const summary = standingSummary(
  subject,
  { start: 0, end: frontier, except: [0] },
  { written: prose('Much was done', 800), systemTokensMax: 0, note: '' },
)

/** What summary and recap before the frontier may take together. */
function foldedTokensMax(togetherTokensMax: number, recapsBeside = true): number {
  const policy = policyOf({ recap: { beside_summaries: recapsBeside } })
  const counts = countsOf(subject, policy, createMadeCache({ charsMax: 1e6 }))
  const tokensMax = summary.tokens + 20
  const pins = pinsAt(subject, policy, subject.messages.length)
  const caps = {
    recapTokensMax: tokensMax,
    tokensMax,
    besideTokensMin: 500,
    togetherTokensMax,
    systemTokensMax: 0,
  }
  const frame = {
    counts,
    pins,
    options: { previous: null, plannedTokensMax: null, point: subject.messages.length },
  }
  return foldAt({ frame, caps, summaries: [summary] }, frontier).beforeTokensMax
}

// A summary that filled the room of both left none for the recap, and with it went all that the user had said.
test('a summary leaves the recap beside it its least share, as far as both may have it', () => {
  expect(foldedTokensMax(10_000)).toBe(summary.tokens + 500)
  expect(foldedTokensMax(summary.tokens + 300)).toBe(summary.tokens + 300)
  expect(foldedTokensMax(10_000, false)).toBeLessThanOrEqual(summary.tokens + 20)
})
