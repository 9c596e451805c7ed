import { describe, expect, test } from 'vitest'
import { foldAhead, type AheadOptions, type FoldAhead } from '../../src/compaction/ahead.ts'
import type { Compacted } from '../../src/compaction/compact.ts'
import { compact } from '../support/compacted.ts'
import { createMadeCache } from '../../src/compaction/made-cache.ts'
import type { PreparedFold } from '../../src/compaction/plan/options.ts'
import type { Compaction } from '../../src/compaction/compaction.ts'
import { finish } from '../../src/conversation/source.ts'
import { standingSummary } from '../support/at-once.ts'
import { atFirstSight } from '../support/compacted.ts'
import { profileSchema } from '../../src/profiles/schema.ts'
import { subjectOf, viewTexts } from '../support/subject.ts'
import { assistant, prose, rounds, system, user } from './sending.ts'

const BUDGET = 6000
const cache = createMadeCache({ charsMax: 10_000_000 })

const policy = profileSchema.parse({
  trigger: 0.75,
  target: 0.5,
  keep: { recent_messages: 4 },
  clear: { enabled: false },
  recap: { beside_summaries: false },
  summary: { at: 0.6, max_tokens: 400 },
})

const room = { budgetTokens: BUDGET, aroundTokens: 3 }

function ahead(messages: readonly object[], options: Partial<AheadOptions> = {}): FoldAhead | null {
  const subject = subjectOf(messages)
  return finish(
    foldAhead(subject, cache, { policy, compaction: null, room, strict: false, due: null, ...options }),
  )
}

function sent(
  messages: readonly object[],
  newest: Compaction | null = null,
  prepared: PreparedFold | null = null,
): Compacted & { readonly contents: readonly string[] } {
  const subject = subjectOf(messages)
  const numbers = { ...atFirstSight(room), strict: false, forced: false }
  const made = finish(compact(subject, cache, { policy, newest, prepared, ...numbers }))
  return { ...made, contents: viewTexts(subject, made.view) }
}

/** The fold with summaries of so many characters. */
function written(
  messages: readonly object[],
  fold: FoldAhead | null,
  texts: readonly (string | null)[],
): PreparedFold {
  if (fold === null) throw new Error('there is nothing to be summarised')
  const subject = subjectOf(messages)
  const { frontier, kept, ranges, systemTokensMax } = fold
  const summaries = ranges.flatMap((range, index) => {
    const text = texts[index] ?? null
    return text === null
      ? []
      : [standingSummary(subject, range, { written: text, systemTokensMax, note: '' })]
  })
  return { frontier, kept, summaries }
}

const task = user(prose('The task', 60))
/** Rounds of 200 tokens and more. */
const run = (count: number): readonly object[] => [task, ...rounds('a', count, 200)]

/** The first number of rounds for which this holds. */
function firstCount(holds: (count: number) => boolean): number {
  for (let count = 1; count < 60; count += 1) if (holds(count)) return count
  throw new Error('never')
}

/** A conversation with as many further rounds as make its first compaction due at its end. */
function untilDue(begun: readonly object[]): readonly object[] {
  const grown = (count: number): readonly object[] => [...begun, ...rounds('z', count, 200)]
  return grown(firstCount((count) => sent(grown(count)).compaction !== null))
}

const askedAt = firstCount((count) => ahead(run(count)) !== null)
const dueAt = firstCount((count) => sent(run(count)).compaction !== null)

const done = 'What was done: much.'
/** The first compaction of the run, with a summary that was asked for ahead. */
const firstSummarised = () => sent(run(dueAt), null, written(run(askedAt), ahead(run(askedAt)), [done]))

describe('a fold that is planned ahead', () => {
  test('begins with summary.at, before its compaction is due', () => {
    expect(askedAt).toBeGreaterThan(4)
    expect(askedAt).toBeLessThan(dueAt)
  })

  test('leaves the task, and ends at a frontier', () => {
    const fold = ahead(run(askedAt))
    expect(fold?.ranges).toMatchObject([{ start: 0, end: fold?.frontier, except: [0] }])
    expect(subjectOf(run(askedAt)).structure.isFrontier(fold?.frontier ?? -1)).toBe(true)
  })

  test('is the frontier that its compaction takes, when the view has grown up to the trigger', () => {
    const fold = ahead(run(askedAt))
    const due = firstSummarised()
    expect(due.compaction?.fold?.frontier).toBe(fold?.frontier)
    expect(due.view.standIns).toEqual({ summaries: 1, recaps: 0 })
    expect(due.contents[1]).toContain(done)
    // Nothing of the tail was touched.
    const tail = run(dueAt)
      .slice(fold?.frontier)
      .map((message) => JSON.stringify(message))
    expect(due.contents.slice(2)).toEqual(tail)
  })

  test('says what it makes room for: what the messages weigh that it replaces', () => {
    const messages = run(askedAt)
    const fold = ahead(messages)
    const { sizes } = subjectOf(messages)
    const folded = sizes.slice(1, fold?.frontier).reduce((sum, size) => sum + size, 0)
    expect(fold?.ranges[0]).toMatchObject({ replacedTokens: folded, expiredTokens: folded })
  })

  test('goes on from the summary that stands: it is replaced, and weighs what it weighs', () => {
    const first = firstSummarised()
    const [standing] = first.compaction?.fold?.summaries ?? []
    const count = firstCount(
      (more) => more > dueAt && ahead(run(more), { compaction: first.compaction }) !== null,
    )
    const next = ahead(run(count), { compaction: first.compaction })
    expect(next?.frontier).toBeGreaterThan(first.compaction?.fold?.frontier ?? 0)
    const [range] = next?.ranges ?? []
    expect(range?.start).toBe(0)
    expect(range?.expiredTokens).toBeGreaterThan(range?.replacedTokens ?? 0)
    expect(range?.replacedTokens).toBeGreaterThan(standing?.tokens ?? 0)
  })

  test('where a recap stands it is a reason for one, however small the view is', () => {
    const due = sent(run(dueAt))
    expect(due.view.standIns).toEqual({ summaries: 0, recaps: 1 })
    const fold = ahead(run(dueAt), { compaction: due.compaction })
    expect(fold?.frontier).toBe(due.compaction?.fold?.frontier)
    expect(fold?.ranges[0]).toMatchObject({ start: 0, end: due.compaction?.fold?.frontier })
    // Of what is there already nothing more is asked.
    expect(ahead(run(dueAt), { compaction: firstSummarised().compaction })).toBeNull()
  })

  test('has two ranges where it passes the latest user message, none of which holds that message', () => {
    const begun = [task, ...rounds('a', 3, 200), assistant('Done.')]
    const second = user(prose('The second', 40))
    const messages = untilDue([...begun, second])
    const fold = ahead(messages, { due: 'trigger' })
    const place = begun.length
    expect(fold?.ranges.map(({ start, end }) => [start, end])).toEqual([
      [0, place],
      [place + 1, fold?.frontier],
    ])
    const due = sent(messages, null, written(messages, fold, ['The first part.', 'The second part.']))
    const [before, after] = due.contents.flatMap((text, at) =>
      text.includes('conversation-summary') ? [at] : [],
    )
    expect([before, after]).toEqual([1, 3])
    expect(due.contents[2]).toBe(JSON.stringify(second))
  })

  test('a summary that is not there leaves a recap in its place, beside one that is', () => {
    const messages = untilDue([task, ...rounds('a', 3, 200), assistant('Done.'), user('Go on.')])
    const fold = ahead(messages, { due: 'trigger' })
    const onlySecond = sent(messages, null, written(messages, fold, [null, 'The second part.']))
    expect(onlySecond.view.standIns).toEqual({ summaries: 1, recaps: 1 })
    const texts = onlySecond.contents.join('\n')
    expect(texts.indexOf('<conversation-recap>')).toBeLessThan(texts.indexOf('<conversation-summary>'))
    expect(texts).toContain('Done.')
  })

  test('is planned by nothing but the conversation: the same wherever and however often', () => {
    expect(ahead(run(askedAt))).toEqual(ahead(run(askedAt)))
    const options = { policy, compaction: null, room, strict: false, due: null }
    const later = finish(foldAhead(subjectOf(run(askedAt)), createMadeCache({ charsMax: 10 }), options))
    expect(later).toEqual(ahead(run(askedAt)))
  })

  test('system messages in the middle are quoted in the summary, each distinct one once, newest first', () => {
    const messages = untilDue([
      task,
      ...rounds('a', 2, 200),
      system('Rule one.'),
      ...rounds('b', 2, 200),
      system('Rule two.'),
      ...rounds('c', 1, 200),
      system('Rule one.'),
    ])
    const fold = ahead(messages, { due: 'trigger' })
    const due = sent(messages, null, written(messages, fold, ['What was done.']))
    const [, summary = ''] = due.contents
    expect(summary.match(/Rule one\./g)).toHaveLength(1)
    expect(summary.match(/Rule two\./g)).toHaveLength(1)
    expect(summary.indexOf('Rule one.')).toBeLessThan(summary.indexOf('Rule two.'))
  })

  // A summary that was too long left a recap at its own frontier, which freed too little to be a compaction: then there was
  // none, although one was due.
  test('summaries for which there is no room do not stand: a recap does, and the view fits', () => {
    const messages = run(dueAt)
    const huge = prose('huge', 5000)
    const due = sent(messages, null, written(messages, ahead(messages, { due: 'trigger' }), [huge]))
    expect(due.view.standIns).toEqual({ summaries: 0, recaps: 1 })
    expect(due.view.tokens).toBeLessThanOrEqual(BUDGET)
  })
})
