import { chatCompletions } from '../../src/formats/chat/chat.ts'
import type { Counted, Form } from '../../src/pipeline/request.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type AheadOptions, foldAhead } from '../../src/compaction/fold-ahead.ts'
import { createMadeCache, type MadeCache } from '../../src/compaction/made-cache.ts'
import type { PreparedFold } from '../../src/compaction/compaction.ts'
import type { Room } from '../../src/tokens/budget.ts'
import type { History } from '../../src/compaction/history/history.ts'
import { createFactsReader } from '../../src/formats/entry-facts.ts'
import { runAtOnce } from '../../src/json/source.ts'
import { bodyLimits } from '../support/body-limits.ts'
import type { TokenCounter } from '../../src/tokens/bpe-counter.ts'
import { type Profile, profileSchema } from '../../src/profiles/schema.ts'
import { createTokenCounting } from '../../src/pipeline/measure/count-tokens.ts'
import { createRecords } from '../../src/pipeline/records/records.ts'
import { digest, readBytes } from '../../src/pipeline/read/read-chat.ts'
import { createLastBodies } from '../../src/pipeline/read/last-bodies.ts'
import type { Advanced } from '../../src/compaction/compact.ts'
import { nextForm, tightenedForm } from '../../src/pipeline/compact/forms.ts'
import { bytesOf } from '../../src/pipeline/send/outgoing-body.ts'
import { openMemoryStore } from '../../src/storage/memory-store.ts'
import { standingSummary } from '../support/at-once.ts'
import { conversation } from '../support/arbitrary-conversation.ts'
import { countThirds } from '../support/subject.ts'
import { propertyRuns, weighed } from '../support/property-runs.ts'

const RUNS = 24

/** What the client does before its next request: it says more, takes something back, or marks its last message. */
type Turn = {
  readonly added: number
  readonly takenBack: number
  readonly isMarked: boolean
  readonly profile: number
  /** Pictures weigh differently from model to model. */
  readonly model: string
  readonly strict: boolean
  readonly forced: boolean
  /** Our numbers of that day, of those of the run. */
  readonly budget: number
  readonly budgetShare: number
  /** Whether the summary of a compaction that falls is there. */
  readonly isSummarised: boolean
  /** Whether the upstream refuses the view, and a smaller one is asked for. */
  readonly isRefused: boolean
}

type Run = {
  readonly pieces: readonly (readonly object[])[]
  readonly turns: readonly Turn[]
  readonly profiles: readonly Profile[]
  readonly budgets: readonly number[]
  /** What the cache of made messages has room for. */
  readonly bytesMax: number
}

const rarely = (percent: number): fc.Arbitrary<boolean> =>
  fc.integer({ min: 0, max: 99 }).map((drawn) => drawn >= 100 - percent)

const turns: fc.Arbitrary<Turn> = fc.record({
  added: fc.integer({ min: 0, max: 6 }),
  takenBack: fc.oneof(weighed(8, fc.constant(0)), weighed(1, fc.integer({ min: 1, max: 20 }))),
  isMarked: rarely(20),
  profile: fc.oneof(weighed(8, fc.constant(0)), weighed(1, fc.constant(1))),
  model: fc.oneof(weighed(9, fc.constant('gpt-4o')), weighed(1, fc.constant('gpt-4o-mini'))),
  strict: rarely(10),
  forced: rarely(5),
  budget: fc.oneof(weighed(8, fc.constant(0)), weighed(1, fc.constant(1))),
  budgetShare: fc.oneof(
    weighed(5, fc.constant(1)),
    weighed(1, fc.double({ min: 0.5, max: 1.5, noNaN: true })),
  ),
  isSummarised: rarely(50),
  isRefused: rarely(4),
})

const profiles: fc.Arbitrary<Profile> = fc
  .record({
    trigger: fc.constantFrom(0.5, 0.75, 1),
    keep: fc.record({ recent_messages: fc.integer({ min: 0, max: 6 }), task: fc.boolean() }),
    render: fc.record({ at: fc.constantFrom(null, 0, 0.3) }),
    preview: fc.record({
      at: fc.constantFrom(null, 0, 0.3),
      threshold_tokens: fc.constantFrom(100, 300, 2048),
    }),
    clear: fc.record({ enabled: fc.boolean(), keep_results: fc.integer({ min: 0, max: 4 }) }),
    every: fc.record({ turns: fc.constantFrom(0, 0, 2), tool_calls: fc.constantFrom(0, 0, 5) }),
    limit: fc.record({ turns: fc.constantFrom(0, 0, 3), messages: fc.constantFrom(0, 0, 12) }),
    recap: fc.record({ max_tokens: fc.constantFrom(256, 1024), beside_summaries: fc.boolean() }),
    recall: fc.record({ enabled: fc.boolean() }),
    summary: fc.record({ max_tokens: fc.constant(300), model: fc.constant('cheap') }),
  })
  .map((profile) => ({ ...profileSchema.parse(profile), name: 'default' }))

const runs: fc.Arbitrary<Run> = fc.record({
  pieces: fc.array(conversation, { minLength: 2, maxLength: 5, size: 'max' }),
  turns: fc.array(turns, { minLength: 8, maxLength: 30, size: 'max' }),
  profiles: fc.tuple(profiles, profiles),
  budgets: fc.tuple(fc.integer({ min: 1_500, max: 9_000 }), fc.integer({ min: 1_500, max: 9_000 })),
  bytesMax: fc.constantFrom(1, 20_000, 10_000_000),
})

const thirds: TokenCounter = {
  count: countThirds,
  *countSteps(text) {
    yield
    return countThirds(text)
  },
}

/** The bodies of a run, one a turn. */
function bodiesOf({ pieces, turns: taken }: Run): readonly Buffer[] {
  const script = pieces.flat()
  let messages: readonly object[] = script.slice(0, 1)
  let next = 1
  return taken.map(({ added, takenBack, isMarked, model }) => {
    messages = messages.slice(0, Math.max(1, messages.length - takenBack))
    messages = [...messages, ...script.slice(next, next + added)]
    next += added
    const last = { ...messages.at(-1), cache_control: { type: 'ephemeral' } }
    const sent = isMarked ? [...messages.slice(0, -1), last] : messages
    return Buffer.from(JSON.stringify({ model, messages: sent }))
  })
}

type Requested = { readonly run: Run; readonly turn: Turn }

/** A process with a store of its own: what it makes of requests. `goesOn`: with the latest bodies at hand. */
function processWith(goesOn: boolean, newCache: () => MadeCache) {
  const reading = {
    readFacts: createFactsReader(digest, { entriesMax: 10_000 }),
    limits: bodyLimits,
    ...(goesOn && {
      lastBodies: createLastBodies({ bytesMax: 10_000_000, bodyBytesMin: 0, idleMs: 60_000 }),
    }),
  }
  const weigh = createTokenCounting()
  const store = openMemoryStore({ bytesMax: 10_000_000, lifetimeMs: 0 })
  const records = createRecords(store, (_, work) => work())

  return async function send(bytes: Buffer, { run, turn }: Requested) {
    const { model, strict, forced } = turn
    const profile = run.profiles[turn.profile]
    const [usual = 0] = run.budgets
    const chat = await readBytes(chatCompletions, bytes, 'scope', reading)
    if (typeof chat === 'string' || profile === undefined) throw new Error('the test made a broken request')
    const place = { scope: 'scope', profile: profile.name, model }
    const remembered = await records.find(chat, place)
    const newest = remembered.compaction
    const weight = await weigh({
      chat,
      counter: thirds,
      encoding: 'thirds',
      model,
      scope: 'scope',
      addedTool: null,
    })
    const { aroundTokens, history } = weight
    const roomOf = (budgetTokens: number): Room => ({ budgetTokens, aroundTokens })
    const room = roomOf(Math.floor((run.budgets[turn.budget] ?? usual) * turn.budgetShare))
    const counted: Counted = {
      ...weight,
      room,
      anchor: null,
      conversationTokens: 0,
      compaction: newest,
      differenceTokens: 0,
    }
    const cache = newCache()
    const parts = { cache, records, keepTaken: async () => true }
    const request = { chat, profile, place, remembered, strict }
    const ahead = {
      forced,
      foldFor: async ({ compaction, previous }: Advanced) =>
        turn.isSummarised && compaction !== null
          ? summarised(history, cache, {
              profile: profile,
              compaction: previous,
              room,
              strict,
              due: compaction.reason,
            })
          : null,
    }
    const first = await nextForm(request, counted, ahead, parts)
    const smaller = turn.isRefused
      ? await tightenedForm(
          request,
          counted,
          {
            previous: first.compacted?.compaction ?? null,
            budgetTokens: Math.floor(room.budgetTokens * 0.8),
            keepRecent: profile.overflow.min_recent,
            fills: first.sentTokens % 8 === 0,
            smallest: false,
            refusedTokens: first.sentTokens,
          },
          parts,
        )
      : null
    const sent = smaller ?? first
    const compaction = sent.compacted?.compaction ?? null
    if (smaller !== null && compaction !== null) records.replace(request, compaction)
    records.see(chat, place, { ...remembered, compaction })
    return {
      told: [told(first), smaller === null ? null : told(smaller)],
      goesOn: chat.grewFrom !== null && newest !== null && compaction === newest,
      isFurther: compaction !== null && compaction.point !== newest?.point,
    }
  }
}

/** The fold of a compaction that is due, with a summary of each range that is worth one. */
function summarised(history: History, cache: MadeCache, options: AheadOptions): PreparedFold | null {
  const fold = runAtOnce(foldAhead(history, cache, options))
  if (fold === null || fold.ranges.length === 0) return null
  const { frontier, kept, systemTokensMax } = fold
  const summaries = fold.ranges.map((range) =>
    standingSummary(history, range, {
      written: `What was said from ${range.start} to ${range.end}.`,
      systemTokensMax,
      note: '',
    }),
  )
  return { frontier, kept, summaries }
}

/** All that is sent, and all that is known of it. */
const told = ({ chat, pieces, compacted, isRewritten, sentTokens, made }: Form): unknown => ({
  body: bytesOf(chat.bytes, pieces).toString('latin1'),
  compaction: compacted?.compaction ?? null,
  view: compacted?.view ?? null,
  isRewritten,
  sentTokens,
  made: made === null ? null : { compaction: made.compaction, tokensBefore: made.tokensBefore },
})

// What was found out about a compaction is carried over to the request that goes on from the same body (P5, P6).
test('a request that goes on from another sends what it would send if there had been none', async () => {
  let goingOn = 0
  let further = 0
  await fc.assert(
    fc.asyncProperty(runs, async (run) => {
      const kept = createMadeCache({ bytesMax: run.bytesMax })
      const holding = processWith(true, () => kept)
      const afresh = processWith(false, () => createMadeCache({ bytesMax: 10_000_000 }))
      for (const [index, bytes] of bodiesOf(run).entries()) {
        const turn = run.turns[index]
        if (turn === undefined) break
        const one = await holding(bytes, { run, turn })
        const other = await afresh(bytes, { run, turn })
        expect(one.told).toEqual(other.told)
        if (one.goesOn) goingOn += 1
        if (one.isFurther) further += 1
      }
    }),
    { numRuns: propertyRuns(RUNS), endOnFailure: true },
  )
  // What is never tried is not shown.
  expect(goingOn).toBeGreaterThan(propertyRuns(RUNS))
  expect(further).toBeGreaterThan(propertyRuns(RUNS))
})
