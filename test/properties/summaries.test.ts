import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { foldAhead, type FoldAhead } from '../../src/compaction/fold-ahead.ts'
import type { Compacted } from '../../src/compaction/compact.ts'
import { atFirstSight, compact, fixedTokens, parsed, sentTokens, shapes } from '../support/compacted.ts'
import { covers, layoutOf } from '../../src/compaction/folded-parts.ts'
import { createMadeCache } from '../../src/compaction/made-cache.ts'
import type { Room } from '../../src/tokens/budget.ts'
import {
  type Compaction,
  readCompaction,
  writeCompaction,
  type PreparedFold,
} from '../../src/compaction/compaction.ts'
import { SHARE } from '../../src/compaction/shares.ts'
import type { History } from '../../src/compaction/history/history.ts'
import { violationsOf } from '../support/chat-completions.ts'
import { runAtOnce } from '../../src/json/source.ts'
import { standingSummary } from '../support/at-once.ts'
import type { Profile } from '../../src/profiles/schema.ts'
import { conversation } from '../support/arbitrary-conversation.ts'
import { historyOf, profileOf, viewTexts } from '../support/subject.ts'
import { forAll, propertyRuns, weighed } from '../support/property-runs.ts'

const RUNS = 50

const policyWith = (recapsBeside: boolean, recentMessages: number, at: number): Profile =>
  profileOf({
    trigger: 0.75,
    target: 0.5,
    keep: { recent_messages: recentMessages },
    recap: { max_tokens: 1024, beside_summaries: recapsBeside },
    summary: { at, model: 'cheap' },
  })

/** What a model wrote: long and short, in any script, with our own tags, or nothing at all because it failed. */
const written = fc.oneof(
  weighed(5, fc.lorem({ maxCount: 300 })),
  weighed(2, fc.string({ unit: 'grapheme', maxLength: 3000, size: 'max' })),
  weighed(1, fc.constant('<conversation-summary>\nx\n</conversation-summary>\n<conversation-recap>')),
  weighed(1, fc.constant('')),
  weighed(2, fc.constant(null)),
)

type Sent = {
  readonly messages: readonly object[]
  readonly history: History
  readonly texts: readonly string[]
  readonly compacted: Compacted
  readonly around: number
  /** The record that it was made from. */
  readonly newest: Compaction | null
}

type Run = {
  readonly messages: readonly object[]
  readonly budgetTokens: number
  readonly profile: Profile
  readonly strict: boolean
  readonly texts: readonly (string | null)[]
}

const runs: fc.Arbitrary<Run> = fc.record({
  messages: conversation,
  budgetTokens: fc.integer({ min: 1500, max: 9000 }),
  profile: fc
    .tuple(fc.boolean(), fc.integer({ min: 0, max: 6 }), fc.constantFrom(0.1, 0.4, 0.6))
    .map((given) => policyWith(...given)),
  strict: fc.boolean(),
  texts: fc.array(written, { minLength: 1, maxLength: 8 }),
})

/** The requests that led to a conversation: what was asked for ahead of need is there when its compaction is due, or not. */
function requestsOf({ messages, budgetTokens, profile, strict, texts }: Run): readonly Sent[] {
  const sent: Sent[] = []
  let newest: Compaction | null = null
  let asked: FoldAhead | null = null
  let answers = 0
  const cache = createMadeCache({ bytesMax: 10_000_000 })
  for (const point of historyOf(messages).structure.requestPoints) {
    const prefix = messages.slice(0, point)
    const history = historyOf(prefix)
    const room = roomOf(history, budgetTokens)
    const view = (prepared: PreparedFold | null): Compacted =>
      compacted(history, { profile, room, strict, newest, prepared })
    let made = view(null)
    if (made.compaction !== newest && asked !== null) {
      const fold: FoldAhead = asked
      const summaries = fold.ranges.flatMap((range) => {
        const text = texts[(answers += 1) % texts.length] ?? null
        if (text === null) return []
        const { systemTokensMax } = fold
        return [standingSummary(history, range, { written: text, systemTokensMax, note: '' })]
      })
      if (summaries.length > 0) made = view({ frontier: fold.frontier, kept: fold.kept, summaries })
      // What was prepared never keeps a compaction from being made that is due.
      expect(made.compaction).not.toBe(newest)
    }
    sent.push({
      messages: prefix,
      history,
      texts: viewTexts(history, made.view),
      compacted: made,
      around: 3,
      newest,
    })
    if (made.compaction !== newest) asked = null
    newest = made.compaction
    asked ??= runAtOnce(foldAhead(history, cache, { profile, compaction: newest, room, strict, due: null }))
  }
  return sent
}

function roomOf(history: History, budgetTokens: number): Room {
  const system = history.sizes.slice(0, history.structure.systemCount).reduce((sum, size) => sum + size, 0)
  return { budgetTokens, aroundTokens: system + 3 }
}

function compacted(
  history: History,
  now: {
    readonly profile: Profile
    readonly room: Room
    readonly strict: boolean
    readonly newest: Compaction | null
    readonly prepared: PreparedFold | null
  },
): Compacted {
  // A cache of its own: what another request left there decides nothing.
  const cache = createMadeCache({ bytesMax: 10_000_000 })
  return runAtOnce(compact(history, cache, { ...now, ...atFirstSight(now.room), forced: false }))
}

type Promised = (run: Run, request: Sent, before: Sent | undefined) => void

const promises: Readonly<Record<string, Promised>> = {
  'fits the budget whenever the fixed parts do (P7)': ({ profile, budgetTokens }, request) => {
    if (fixedTokens(request.messages, profile) > budgetTokens) return
    expect(sentTokens(request)).toBeLessThanOrEqual(budgetTokens)
    expect(sentTokens(request)).toBeLessThanOrEqual(request.compacted.view.tokens + request.around)
  },

  'obeys the message rules where the conversation does (P3)': (_, { messages, texts }) => {
    const before = violationsOf(shapes(messages)).length
    expect(violationsOf(shapes(texts.map(parsed))).length).toBeLessThanOrEqual(before)
  },

  'keeps what is pinned word for word, where it needs no more than its share (P4)': (run, request) => {
    const { messages, texts, history, compacted: made } = request
    const { structure } = history
    for (let index = 0; index < structure.systemCount; index += 1)
      expect(texts[index]).toBe(JSON.stringify(messages[index]))
    // Joined with others a message keeps its text, not its frame.
    if (run.strict) return
    const { budgetTokens, aroundTokens } = roomOf(history, run.budgetTokens)
    for (const index of new Set([structure.task, structure.latestUserBefore(messages.length)])) {
      const hasMedia = (history.messages[index]?.facts.media.length ?? 0) > 0
      const isWithinShare = (history.sizes[index] ?? 0) <= (budgetTokens - aroundTokens) * SHARE.pinned
      if (index !== -1 && !hasMedia && (isWithinShare || !made.view.passes.includes('clip')))
        expect(texts).toContain(JSON.stringify(messages[index]))
    }
  },

  'grows only at its end until the next compaction (P5)': ({ strict }, request, before) => {
    if (before === undefined || request.compacted.compaction !== request.newest) return
    // Where the roles have to alternate the last message may be joined with the next.
    const standing = strict ? before.texts.slice(0, -1) : before.texts
    expect(request.texts.slice(0, standing.length)).toEqual(standing)
  },

  // A recap was once given 352.5 tokens, a share of an odd budget. The store reads no halves of tokens: after a restart
  // the compaction was not found, and another was made in its place.
  'is the same wherever its compaction is on record (P6)': ({ profile, budgetTokens, strict }, request) => {
    const { history, texts, compacted: made } = request
    const { compaction } = made
    if (compaction === null) return
    const { systemCount } = history.structure
    const text = writeCompaction(compaction, systemCount)
    const recorded = readCompaction(text, systemCount)
    expect(recorded).toEqual(compaction)
    // With a system message more in front.
    expect(readCompaction(text, systemCount + 1)?.fold?.summaries).toEqual(
      compaction.fold?.summaries.map((summary) => ({
        ...summary,
        start: summary.start + 1,
        end: summary.end + 1,
        except: summary.except.map((index) => index + 1),
      })),
    )
    const room = roomOf(history, budgetTokens)
    // Beside a user message that exceeds the budget by itself no view fits, and each attempt folds what it still can.
    if (made.view.tokens + room.aroundTokens > budgetTokens) return
    const again = compacted(history, { profile, room, strict, newest: recorded, prepared: null })
    expect(viewTexts(history, again.view)).toEqual(texts)
  },

  'stands for every folded message: exactly one summary or the recap, beside summaries all of them': (
    { profile },
    { history, compacted: { compaction } },
  ) => {
    const fold = compaction?.fold ?? null
    if (compaction === null || fold === null) return
    const { systemCount } = history.structure
    const layout = layoutOf(compaction, systemCount)
    const pinned = new Set(layout.pinned)
    const parts = [layout.before, layout.after].filter((part) => part !== null)
    for (let index = systemCount; index < fold.frontier; index += 1) {
      const all = parts.flatMap((part) => part.summaries)
      const summaries = all.filter((summary) => covers(summary, index)).length
      const recaps = parts.filter(({ recap }) => recap !== null && covers(recap, index)).length
      if (pinned.has(index)) expect([summaries, recaps]).toEqual([0, 0])
      else if (profile.recap.beside_summaries && fold.recapsBeside)
        expect([summaries <= 1, recaps]).toEqual([true, 1])
      else expect(summaries + recaps).toBe(1)
    }
  },

  'never holds a summary in a summary, nor more of them than it has frames': (_, request) => {
    const { texts, compacted: made } = request
    for (const [place, { index }] of made.view.messages.entries()) {
      if (index !== null) continue
      const said = JSON.stringify(parsed(texts[place] ?? ''))
      const opened = said.match(/<conversation-(summary|recap)>/g)?.length ?? 0
      const closed = said.match(/<\/conversation-(summary|recap)>/g)?.length ?? 0
      expect(closed).toBe(opened)
      expect(said).not.toMatch(/<conversation-summary>((?!<\/conversation-summary>).)*<conversation-/s)
    }
  },

  'folds never less far than the compaction before it': (_, { compacted: made, newest }) => {
    expect(made.compaction?.fold?.frontier ?? 0).toBeGreaterThanOrEqual(newest?.fold?.frontier ?? 0)
  },
}

test('a view in which summaries stand keeps every promise', () => {
  let summarised = 0
  fc.assert(
    fc.property(runs, (run) => {
      const sent = requestsOf(run)
      if (sent.some(({ compacted: { view } }) => view.standIns.summaries > 0)) summarised += 1
      for (const [name, promise] of Object.entries(promises))
        for (const [index, request] of sent.entries())
          expect(() => promise(run, request, sent[index - 1]), `of ${name}`).not.toThrow()
    }),
    // Making a whole run smaller takes minutes.
    { numRuns: propertyRuns(RUNS), endOnFailure: true },
  )
  // What is never tried is not shown.
  expect(summarised).toBeGreaterThan(propertyRuns(RUNS) / 20)
})

test('a compaction record with summaries that is damaged is none, or whole: never one that breaks something later', () => {
  const junk = fc.oneof(fc.constantFrom(null, 'x', -1, 0.5, {}, [], [null], true), fc.jsonValue())
  const recorded = runs
    .map(requestsOf)
    .map((requests) =>
      requests.flatMap(({ compacted: { compaction } }) =>
        compaction !== null && (compaction.fold?.summaries.length ?? 0) > 0 ? [compaction] : [],
      ),
    )
  const records = fc
    .sample(
      recorded.filter((compactions) => compactions.length > 0),
      2,
    )
    .flat()
  forAll(100, fc.constantFrom(...records), fc.nat(), junk, fc.nat(), (compaction, field, value, at) => {
    const text = writeCompaction(compaction, 0)
    expect(readCompaction(text.slice(0, at % text.length), 0)).toBeNull()
    const read = recordSchema.parse(JSON.parse(text))
    const summary = read.fold.summaries[0] ?? {}
    const names = ['start', 'end', 'except', 'quoted', 'text', 'tokens'] as const
    const name = names[field % names.length] ?? 'start'
    const isOfItsKind = JSON.stringify(kindOf(summary[name])) === JSON.stringify(kindOf(value))
    summary[name] = value
    const damaged = readCompaction(JSON.stringify(read), 0)
    if (!isOfItsKind) expect(damaged).toBeNull()
  })
})

const recordSchema = z.looseObject({
  fold: z.looseObject({ summaries: z.array(z.record(z.string(), z.unknown())) }),
})

/** What a field may be taken for. */
function kindOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.every(Number.isInteger) ? 'indexes' : 'other'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'other'
  return typeof value === 'string' ? 'string' : 'other'
}
