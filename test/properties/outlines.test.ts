import { propertyRuns } from '../support/property-runs.ts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Compacted } from '../../src/compaction/compact.ts'
import { viewUnder } from '../../src/compaction/view/view.ts'
import { compact } from '../support/compacted.ts'
import { createMadeCache } from '../../src/compaction/made-cache.ts'
import type { Profile } from '../../src/profiles/schema.ts'
import { outlineOf, passRanges, type MessageTreatment } from '../../src/compaction/outline.ts'
import type { History } from '../../src/compaction/history/history.ts'
import { runAtOnce } from '../../src/json/source.ts'
import { standingSummary } from '../support/at-once.ts'
import { atFirstSight } from '../support/compacted.ts'
import { conversation } from '../support/arbitrary-conversation.ts'
import { profileOf, historyOf, viewTexts } from '../support/subject.ts'

const RUNS = 150

type Run = {
  readonly messages: readonly object[]
  readonly profile: Profile
  readonly budgetTokens: number
  readonly strict: boolean
  /** Which part of what is folded a summary stands for; 0: none. */
  readonly summarised: number
}

const passes = fc.constantFrom(
  {},
  { clear: { enabled: false } },
  { fold: { at: 0.99 }, clear: { keep_results: 1 } },
  { render: { at: 0 }, preview: { at: 0, threshold_tokens: 100, max_chars: 120 } },
  { limit: { turns: 2, messages: 12 } },
)
const runs: fc.Arbitrary<Run> = fc.record({
  messages: conversation,
  profile: fc
    .tuple(passes, fc.record({ recent_messages: fc.integer({ min: 0, max: 12 }), task: fc.boolean() }))
    .map(([profile, keep]) => profileOf({ ...profile, keep })),
  budgetTokens: fc.oneof(fc.integer({ min: 40, max: 900 }), fc.integer({ min: 700, max: 20_000 })),
  strict: fc.boolean(),
  summarised: fc.constantFrom(0, 0.3, 1),
})

/** A conversation as it is sent, a summary by a model in place of a recap where one is wanted. */
function compacted(history: History, { profile, budgetTokens, strict, summarised }: Run): Compacted {
  const cache = createMadeCache({ bytesMax: 10_000_000 })
  const { systemCount } = history.structure
  const system = history.sizes.slice(0, systemCount).reduce((sum, size) => sum + size, 0)
  const room = { budgetTokens, aroundTokens: system + 3 }
  const numbers = { ...atFirstSight(room), forced: false, prepared: null }
  const made = runAtOnce(compact(history, cache, { profile, newest: null, strict, ...numbers }))
  const fold = made.compaction?.fold ?? null
  if (made.compaction === null || fold === null || summarised === 0) return made
  const end = systemCount + Math.ceil((fold.frontier - systemCount) * summarised)
  const range = { start: systemCount, end, except: [] }
  const written = { written: 'What was done: much.', systemTokensMax: 0, note: '' }
  const summaries = [standingSummary(history, range, written)]
  const compaction = { ...made.compaction, fold: { ...fold, summaries } }
  return { compaction, view: runAtOnce(viewUnder(history, cache, { profile, strict, compaction })) }
}

type Promised = (outline: readonly MessageTreatment[], history: History, made: Compacted) => void

/** Every promise is held against the same runs: each is made once. */
const known = new Map<string, Parameters<Promised>>()

function outlined(run: Run): Parameters<Promised> {
  const history = historyOf(run.messages)
  const sent = compacted(history, run)
  return [outlineOf(history, sent), history, sent]
}

function check(promise: Promised, parameters: { readonly seed?: number } = {}): void {
  fc.assert(
    fc.property(runs, (run) => {
      const key = JSON.stringify(run)
      const parts = known.get(key) ?? outlined(run)
      known.set(key, parts)
      promise(...parts)
    }),
    { ...parameters, numRuns: propertyRuns(RUNS) },
  )
}

const total = (counts: readonly (number | null)[]): number =>
  counts.reduce<number>((sum, count) => sum + (count ?? 0), 0)

describe('an outline', () => {
  test('names every message of the client once, in their order', () => {
    check((outline, history) => {
      const indexes = outline.flatMap(({ index }) => index ?? [])
      expect(indexes).toEqual(history.messages.map((_, index) => index))
    })
  })

  test('adds up to what came and to what is sent', () => {
    check((outline, history, { view }) => {
      expect(total(outline.map(({ receivedTokens }) => receivedTokens))).toBe(total(history.sizes))
      expect(total(outline.map(({ sentTokens }) => sentTokens))).toBe(view.tokens)
    })
  })

  test('has each summary and recap where it is sent', () => {
    check((outline, _, { view }) => {
      const parts = view.messages.flatMap((message) =>
        message.joined.length === 0 ? [message] : message.joined,
      )
      const sent = outline.filter(({ treatment }) => !unsent.has(treatment))
      expect(sent.length).toBe(parts.length)
      for (const [place, { index, how }] of parts.entries()) {
        if (index === null) expect(sent[place]).toMatchObject({ index, treatment: how })
      }
    })
  })

  test('says of each message what stands in the bytes that are sent', () => {
    const told = new Set<string>()
    const promise: Promised = (outline, history, { view }) => {
      const texts = viewTexts(history, view)
      const bytesOf = new Map(view.messages.map(({ index }, place) => [index, texts[place] ?? '']))
      const joinedInto = new Map(
        view.messages.flatMap(({ index, joined }) => joined.map((part) => [part.index, index])),
      )
      for (const { index, treatment, pinned } of outline) {
        if (index === null) continue
        told.add(treatment)
        const message = history.messages[index]
        const own = history.source.text(message?.start ?? 0, message?.end ?? 0)
        const sent = bytesOf.get(index)
        if (unsent.has(treatment) || treatment === 'joined') expect(sent).toBeUndefined()
        else if (joinedInto.has(index)) expect(sent).not.toBe(own)
        else expect(sent === own).toBe(treatment === 'kept')
        if (treatment === 'joined') expect(joinedInto.get(index)).toBeLessThan(index)
        const mark = marks[treatment]
        if (mark !== undefined && !joinedInto.has(index)) expect(sent).toMatch(mark)
        if (treatment === 'rendered') expect(sent).not.toMatch(anyMark)
        if (pinned !== null) expect(['kept', 'joined']).toContain(treatment)
      }
    }
    check(promise)
    // What is never tried is not shown. One in ten rounds happens on nothing to render: further ones are drawn then.
    const tried = 'kept rendered previewed cleared clipped folded joined unloaded unbound'.split(' ')
    const isShown = (): boolean => tried.every((treatment) => told.has(treatment))
    for (let seed = 2; seed < 40 && !isShown(); seed += 1) check(promise, { seed })
    expect([...told]).toEqual(expect.arrayContaining(tried))
  })

  test('names a summary or recap for what was folded, and none for what was dropped', () => {
    check((outline) => {
      const ranges = outline.flatMap(({ standsFor }) => standsFor ?? [])
      const isInside = ({ index }: MessageTreatment): boolean =>
        ranges.some(({ start, end }) => index !== null && index >= start && index < end)
      const left = outline.filter(({ treatment }) => treatment === 'folded' || treatment === 'dropped')
      expect(left.map(isInside)).toEqual(left.map(({ treatment }) => treatment === 'folded'))
    })
  })

  test('of what was not compacted says that all was kept', () => {
    check((_, history) => {
      const outline = outlineOf(history, null)
      const tokens = ({ index }: MessageTreatment): number => history.sizes[index ?? -1] ?? 0
      for (const each of outline) {
        expect(each).toMatchObject({ treatment: 'kept', standsFor: null })
        expect([each.receivedTokens, each.sentTokens]).toEqual([tokens(each), tokens(each)])
      }
      const uncounted = outline.map((each) => ({ ...each, receivedTokens: null, sentTokens: null }))
      expect(outlineOf({ ...history, sizes: null }, null)).toEqual(uncounted)
    })
  })
})

test('the ranges of a compaction hold all that it treated, and nothing that leads or came after', () => {
  check((outline, history, { compaction, view }) => {
    if (compaction === null) return
    const { systemCount } = history.structure
    const ranges = passRanges(compaction, systemCount)
    for (const { start, end } of ranges) {
      expect(start).toBeGreaterThanOrEqual(systemCount)
      expect(end).toBeGreaterThan(start)
      expect(end).toBeLessThanOrEqual(compaction.point)
    }
    const folded = outline.filter(({ treatment }) => treatment === 'folded' || treatment === 'dropped')
    const fold = ranges.find(({ pass }) => pass === 'fold')
    for (const { index } of folded) expect(index).toBeLessThan(fold?.end ?? 0)
    expect(view.passes.includes('fold')).toBe(fold !== undefined && folded.length > 0)
  })
})

const marks: Partial<Record<MessageTreatment['treatment'], RegExp>> = {
  previewed: /\[preview: /,
  cleared: /\[cleared: /,
  unloaded: /\[media left out\]/,
  // Arguments for which no room is left become an empty object.
  clipped: /\[clipped: |\[media left out\]|\[cut\]|\{\}/,
}

const unsent: ReadonlySet<MessageTreatment['treatment']> = new Set(['folded', 'dropped', 'outdated'])

const anyMark = /\[(preview|cleared|clipped): |\[media left out\]/
