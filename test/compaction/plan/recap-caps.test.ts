import { describe, expect, test } from 'vitest'
import { createMadeCache } from '../../../src/compaction/made-cache.ts'
import { foldAt } from '../../../src/compaction/plan/fold.ts'
import { frameOf } from '../../../src/compaction/plan/frame.ts'
import type { Profile } from '../../../src/profiles/schema.ts'
import type { History } from '../../../src/compaction/history/history.ts'
import { countsOf } from '../../../src/compaction/token-counts.ts'
import { runAtOnce } from '../../../src/json/source.ts'
import { standingSummary } from '../../support/at-once.ts'
import { countThirds, profileOf, historyOf } from '../../support/subject.ts'
import { assistant, prose, round, rounds, send, sendGrowing, system, user } from '../sending.ts'
import { times } from '../../support/times.ts'

const recapOpening = '<conversation-recap>'

/** The contents of the recaps that each compaction of a growing conversation writes. */
const recapsOfCompactions = (conversation: readonly object[], budgetTokens: number): string[][] =>
  sendGrowing(conversation, { budgetTokens, profile: profileOf(defaults) })
    .filter(({ isCompacted }) => isCompacted)
    .map(({ contents }) => contents.filter((content) => content.startsWith(recapOpening)))

/** A result of so many lines, of which no two are alike. */
const listing = (prefix: string, step: number, lineCount: number): string =>
  times(lineCount, (line) => `${prefix}_${step}_${line}.ts is new`).join('\n')

const defaults = {
  trigger: 1,
  target: 0.7,
  keep: { recent_messages: 4 },
  recap: { max_tokens: 8192 },
  clear: { enabled: false },
  preview: { threshold_tokens: 100_000 },
}

describe('the room of recaps', () => {
  // A reminder that a client repeats in every turn was given room for each of its copies, and names filled it.
  test('holds a system message that is repeated once', () => {
    const reminder = system(prose('Remember the rules', 100))
    const talk = times(60, (index) => [
      reminder,
      ...round(`a${index}`, prose(`result_${index}.ts in src/part_${index}`, 200)),
    ])
    const profile = profileOf({ recap: { max_tokens: 500 }, clear: { enabled: false } })
    const { contents } = send([user('The task.'), ...talk.flat()], { budgetTokens: 12_000, profile })
    const recap = contents.find((content) => content.startsWith(recapOpening)) ?? ''
    expect(recap.split('Remember the rules')).toHaveLength(2)
    expect(countThirds(recap)).toBeLessThanOrEqual(500 + 110)
  })

  // It went up and down with the tail of each compaction, and lost the provider's cache each time.
  test('leaves the recap before the latest user message as it is while a turn goes on', () => {
    const lineCounts = times(60, (index) => 2 + ((index * index * 37) % 101))
    const conversation = [
      user('The task.'),
      ...times(30, (index) => round(`a${index}`, listing('a', index, 30))).flat(),
      assistant('Done.'),
      user('Go on.'),
      ...lineCounts.flatMap((count, index) => round(`b${index}`, listing('b', index, count))),
    ]
    const before = recapsOfCompactions(conversation, 8_000).flatMap((recaps) =>
      recaps.length === 2 ? recaps.slice(0, 1) : [],
    )
    expect(before.length).toBeGreaterThan(4)
    const changes = before.filter((recap, index) => index > 0 && recap !== before[index - 1])
    expect(changes.length).toBeLessThanOrEqual(2)
  })
})

const turns = times(40, (turn) => [user(`Turn ${turn}.`), assistant(prose(`Answer ${turn}`, 200))])
const history = historyOf([user('The task.'), assistant('Well.'), ...turns.flat(), user('And now?')])
const frontier = 60
const summary = standingSummary(
  history,
  { start: 0, end: frontier, except: [0] },
  { written: prose('Much was done', 800), systemTokensMax: 0, note: '' },
)

/** A plan for all messages of a conversation in this room; `plannedTokensMax`: what a summary may take that is not there yet. */
function frameFor(of: History, profile: Profile, budgetTokens: number, plannedTokensMax: number | null) {
  const counts = countsOf(of, profile, createMadeCache({ bytesMax: 1e6 }))
  const options = {
    point: of.messages.length,
    previous: null,
    room: { budgetTokens, aroundTokens: 0 },
    reason: 'trigger',
    isBeyondBudget: false,
    keepRecent: 4,
    smallest: false,
    strict: false,
    prepared: null,
    plannedTokensMax,
    viewTokens: null,
  } as const
  return runAtOnce(frameOf(counts, options))
}

/** What summary and recap before the frontier may take together. */
function foldedTokensMax(togetherTokensMax: number, recapsBeside = true): number {
  const profile = profileOf({ recap: { beside_summaries: recapsBeside } })
  const tokensMax = summary.tokens + 20
  const caps = {
    recapTokensMax: tokensMax,
    tokensMax,
    besideTokensMin: 500,
    togetherTokensMax,
    systemTokensMax: 0,
    keptTokensMax: 0,
  }
  return foldAt({ ...frameFor(history, profile, 20_000, null), caps }, [summary], frontier).beforeTokensMax
}

// A summary that filled the room of both left none for the recap, and with it went all that the user had said.
test('a summary leaves the recap beside it its least share, as far as both may have it', () => {
  expect(foldedTokensMax(10_000)).toBe(summary.tokens + 500)
  expect(foldedTokensMax(summary.tokens + 300)).toBe(summary.tokens + 300)
  expect(foldedTokensMax(10_000, false)).toBeLessThanOrEqual(summary.tokens + 20)
})

// The recap of the latest turn was planned with the logarithm of less than nothing, and no frontier was looked for.
test('a summary that may take more than all of the room leaves recaps nothing, and is planned for all the same', () => {
  const long = historyOf([user('The task.'), assistant('Well.'), user('Go on.'), ...rounds('a', 8, 200)])
  const frame = frameFor(long, profileOf({ recap: { beside_summaries: true } }), 900, 4_000)
  const { beforeTokensMax, afterTokensMax } = foldAt(frame, [], long.messages.length)
  expect([beforeTokensMax, afterTokensMax].every(Number.isInteger)).toBe(true)
})
