import { describe, expect, test } from 'vitest'
import { foldAhead, type AheadOptions, type FoldAhead } from '../../src/compaction/fold-ahead.ts'
import { createMadeCache } from '../../src/compaction/made-cache.ts'
import type { Compaction, PreparedFold } from '../../src/compaction/compaction.ts'
import { runAtOnce } from '../../src/json/source.ts'
import { standingSummary } from '../support/at-once.ts'
import { atFirstSight, compact } from '../support/compacted.ts'
import { historyOf, profileOf, viewTexts } from '../support/subject.ts'
import { prose, rounds, user } from './sending.ts'

const cache = createMadeCache({ bytesMax: 10_000_000 })

const profile = profileOf({
  trigger: 0.75,
  target: 0.5,
  keep: { recent_messages: 4 },
  clear: { enabled: false },
  recap: { beside_summaries: false },
  summary: { at: 0.6, max_tokens: 400 },
})

const room = { budgetTokens: 6000, aroundTokens: 3 }

const ahead = (messages: readonly object[], more: Partial<AheadOptions> = {}, made = cache) => {
  const options = { profile, compaction: null, room, strict: false, due: null, ...more }
  return runAtOnce(foldAhead(historyOf(messages), made, options))
}

function sent(messages: readonly object[], newest: Compaction | null, prepared: PreparedFold | null) {
  const history = historyOf(messages)
  const now = { ...atFirstSight(room), strict: false, forced: false, profile, newest, prepared }
  const made = runAtOnce(compact(history, cache, now))
  return { ...made, contents: viewTexts(history, made.view) }
}

/** The compaction of a conversation whose fold has these summaries. */
function sentWith(messages: readonly object[], fold: FoldAhead | null, ...texts: readonly (string | null)[]) {
  if (fold === null) throw new Error('there is nothing to be summarised')
  const history = historyOf(messages)
  const { frontier, kept, ranges, systemTokensMax } = fold
  const summaries = ranges.flatMap((range, index) => {
    const written = texts[index] ?? null
    return written === null ? [] : [standingSummary(history, range, { written, systemTokensMax, note: '' })]
  })
  return sent(messages, null, { frontier, kept, summaries })
}

const task = user(prose('The task', 60))
/** Rounds of 200 tokens and more. */
const run = (count: number): readonly object[] => [task, ...rounds('a', count, 200)]

/** The first number of rounds for which this holds. */
function firstCount(holds: (count: number) => boolean): number {
  for (let count = 1; count < 60; count += 1) if (holds(count)) return count
  throw new Error('never')
}

const isDue = (messages: readonly object[]): boolean => sent(messages, null, null).compaction !== null

const asked = run(firstCount((count) => ahead(run(count)) !== null))
const dueAt = firstCount((count) => isDue(run(count)))
const due = run(dueAt)
const done = 'What was done: much.'
/** The first compaction of the run, with a summary that was asked for ahead. */
const summarised = sentWith(due, ahead(asked), done)

describe('a fold that is planned ahead', () => {
  test('begins with summary.at, ends at a frontier, leaves the task and weighs what it replaces', () => {
    expect(asked.length).toBeGreaterThan(9)
    expect(asked.length).toBeLessThan(due.length)
    const { structure, sizes } = historyOf(asked)
    const { ranges = [], frontier = -1 } = ahead(asked) ?? {}
    expect(structure.isFrontier(frontier)).toBe(true)
    const tokens = sizes.slice(1, frontier).reduce((sum, size) => sum + size, 0)
    const weight = { replacedTokens: tokens, expiredTokens: tokens }
    expect(ranges).toMatchObject([{ start: 0, end: frontier, except: [0], ...weight }])
    // By nothing but the conversation: the same wherever and however often.
    expect(ahead(asked, {}, createMadeCache({ bytesMax: 10 }))).toEqual(ahead(asked))
  })

  test('goes on from the summary that stands: it is replaced, and weighs what it weighs', () => {
    const { compaction } = summarised
    const standing = compaction?.fold?.summaries[0]?.tokens ?? 0
    const count = firstCount((more) => more > dueAt && ahead(run(more), { compaction }) !== null)
    const { ranges = [], frontier } = ahead(run(count), { compaction }) ?? {}
    expect(frontier).toBeGreaterThan(compaction?.fold?.frontier ?? 0)
    expect(ranges[0]?.start).toBe(0)
    expect(ranges[0]?.expiredTokens).toBeGreaterThan(ranges[0]?.replacedTokens ?? 0)
    expect(ranges[0]?.replacedTokens).toBeGreaterThan(standing)
  })

  // A summary that was too long left a recap at its own frontier, which freed too little to be a compaction: then there was
  // none, although one was due.
  test('summaries for which there is no room do not stand: a recap does, and the view fits', () => {
    const { view } = sentWith(due, ahead(due, { due: 'trigger' }), prose('huge', 5000))
    expect(view.standIns).toEqual({ summaries: 0, recaps: 1 })
    expect(view.tokens).toBeLessThanOrEqual(room.budgetTokens)
  })
})
