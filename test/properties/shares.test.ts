import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { partsAt, pinsAt } from '../../src/compaction/plan/pins.ts'
import { type PartSizes, SHARE, sharesOf } from '../../src/compaction/shares.ts'
import { createMadeCache } from '../../src/compaction/made-cache.ts'
import type { Compaction } from '../../src/compaction/compaction.ts'
import { readableTokens, type History } from '../../src/compaction/history/history.ts'
import { countsOf } from '../../src/compaction/token-counts.ts'
import type { ViewMessage } from '../../src/compaction/view/view-message.ts'
import { conversation } from '../support/arbitrary-conversation.ts'
import { compactedUnder, PRIMING_TOKENS } from '../support/compacted.ts'
import { profileOf, historyOf, viewTexts } from '../support/subject.ts'
import { forAll } from '../support/property-runs.ts'

/** The latest user message is a part of its own only where it is not the newest message. */
const sizes: fc.Arbitrary<PartSizes> = fc
  .record({ newestRound: fc.nat(20_000), user: fc.nat(20_000), isNewest: fc.boolean(), task: fc.nat(20_000) })
  .map(({ newestRound, user, isNewest, task }) => ({
    newestRound,
    newestUser: isNewest ? user : 0,
    task,
    latestUser: isNewest ? 0 : user,
  }))

describe('the shares of a room', () => {
  test('never add up to more than there is, in the order of right', () => {
    forAll(100, fc.integer({ min: -100, max: 30_000 }), sizes, (roomTokens, parts) => {
      const shares = sharesOf(roomTokens, parts)
      const room = Math.max(0, roomTokens)
      const { sure } = shares
      const newest = sure.newestRound + sure.newestUser
      expect(newest + sure.task + sure.latestUser + shares.recapMin).toBeLessThanOrEqual(room)
      expect(newest + shares.task + shares.latestUser).toBeLessThanOrEqual(room)
      expect(shares.recapMax).toBeLessThanOrEqual(room * SHARE.recap)
      expect(sure.newestUser).toBe(Math.min(parts.newestUser, Math.floor(room * SHARE.newestUser)))
      expect(sure.task).toBe(Math.min(parts.task, Math.floor(room * SHARE.pinned)))
      expect(sure.latestUser).toBe(Math.min(parts.latestUser, Math.floor(room * SHARE.pinned)))
      if (parts.newestUser === 0)
        expect(sure.newestRound).toBe(Math.min(parts.newestRound, Math.floor(room * SHARE.newestRound)))
    })
  })

  test('leave the task whole where the newest messages, the least recap and another such round have room beside it, else its quarter', () => {
    const beside = { newestRound: 500, newestUser: 0, latestUser: 0 }
    // A third for the newest messages, an eighth for a recap, 500 for the next round: the rest of the room can be the task's.
    for (const [size, due] of [
      [2000, 2000],
      [6000, 6000],
      [6001, 3000],
      [9000, 3000],
    ] as const) {
      const { task, sure } = sharesOf(12_000, { ...beside, task: size })
      expect([size, task, sure.task]).toEqual([size, due, Math.min(size, 3000)])
    }
  })

  test('leave the latest user message whole in the same way, behind the task', () => {
    const beside = { newestRound: 500, newestUser: 0 }
    expect(sharesOf(12_000, { ...beside, task: 1000, latestUser: 5000 }).latestUser).toBe(5000)
    expect(sharesOf(12_000, { ...beside, task: 1000, latestUser: 5001 }).latestUser).toBe(3000)
    // Both cannot be whole: the task has the better right.
    expect(sharesOf(12_000, { ...beside, newestRound: 200, task: 3200, latestUser: 3200 })).toMatchObject({
      task: 3200,
      latestUser: 3000,
    })
  })
})

const profile = profileOf({
  trigger: 1,
  target: 0.7,
  keep: { recent_messages: 4 },
  recap: { max_tokens: 8192 },
})
const budget = fc.integer({ min: 1_500, max: 12_000 })

type Request = ReturnType<typeof makeRequests> extends Iterable<infer Each> ? Each : never

/** Every promise is held against the same conversations: their requests are made once. */
const known = new Map<string, readonly Request[]>()

function requestsOf(messages: readonly object[], budgetTokens: number): readonly Request[] {
  const key = JSON.stringify([messages, budgetTokens])
  const requests = known.get(key) ?? [...makeRequests(messages, budgetTokens)]
  known.set(key, requests)
  return requests
}

/** Every request of a conversation as it grows, with the records of those before. */
function* makeRequests(messages: readonly object[], budgetTokens: number) {
  let newest: Compaction | null = null
  let seenUntil: number | null = null
  const cache = createMadeCache({ bytesMax: 10_000_000 })
  for (const point of historyOf(messages).structure.requestPoints) {
    const history = historyOf(messages.slice(0, point))
    const compacted = compactedUnder(history, { profile, budgetTokens, newest, seenUntil, cache })
    yield { point, history, ...compacted, texts: viewTexts(history, compacted.view), before: newest }
    newest = compacted.compaction
    seenUntil = point
  }
}

describe('in a view', () => {
  test('the newest message stands whole, or is cut by no more than its share says', () => {
    forAll(100, conversation, budget, (messages, budgetTokens) => {
      for (const { history, view, point } of requestsOf(messages, budgetTokens)) {
        const { systemCount } = history.structure
        const role = history.messages[point - 1]?.facts.role
        if (point <= systemCount || role === 'system' || role === 'developer') continue
        const systemTokens = history.sizes.slice(0, systemCount).reduce((sum, size) => sum + size, 0)
        const roomTokens = budgetTokens - systemTokens - PRIMING_TOKENS
        const pins = pinsAt(history, profile, point)
        const counts = countsOf(history, profile, createMadeCache({ bytesMax: 1_000_000 }))
        const parts = partsAt(counts, pins, point, roomTokens)
        const last = view.messages.findLast(({ index }) => index === point - 1)
        // Frames, names and thoughts that cannot be cut may leave no room for a round of many calls.
        const isText = isTextFrom(history, parts.newestFrom, point)
        const isCuttable = isText && point - parts.newestFrom <= 3
        const isWithinShare =
          parts.sizes.newestRound + parts.sizes.newestUser <= roomTokens * SHARE.newestRound
        const isThere =
          last !== undefined || !isCuttable || roomTokens <= 1000 || isOnlyThoughts(history, point - 1)
        // Media go before words are cut.
        const hasMedia = (history.messages[point - 1]?.facts.media.length ?? 0) > 0
        // Of a round that is cut each part keeps an equal share, or all of it where it needs less.
        const shareTokens = (roomTokens * SHARE.newestRound) / Math.max(1, point - parts.newestFrom)
        const dueTokens = Math.min(history.sizes[point - 1] ?? 0, shareTokens) * 0.8 - 64
        expect({
          isThere,
          isWhole: last === undefined || !isWithinShare || toldHow(last.how) === 'kept',
          hasItsShare: last === undefined || !isCuttable || hasMedia || last.tokens >= dueTokens,
        }).toEqual({ isThere: true, isWhole: true, hasItsShare: true })
      }
    })
  })

  test('of two requests whose newest messages differ the prompts do, too', () => {
    forAll(100, conversation, budget, (messages, budgetTokens) => {
      let before: readonly string[] = []
      for (const { texts, history } of requestsOf(messages, budgetTokens)) {
        const room = budgetTokens - PRIMING_TOKENS - systemTokensOf(history)
        const previous = before
        before = texts
        if (room <= 500) continue
        expect(texts).not.toEqual(previous)
      }
    })
  })

  test('the newest messages stand as they were for a third of the room when a compaction ends, as far as whole rounds allow', () => {
    forAll(100, conversation, budget, (messages, budgetTokens) => {
      for (const { history, view, point, compaction, before } of requestsOf(messages, budgetTokens)) {
        if (compaction === null || compaction === before || compaction.point !== point) continue
        const room = budgetTokens - PRIMING_TOKENS - systemTokensOf(history)
        const kept = new Map(view.messages.map(({ index, how }) => [index, toldHow(how)]))
        const pins = new Set([compaction.task, compaction.latestUser])
        let tokens = 0
        let start = point
        // A pinned message among them may be cut down to its own share.
        while (
          start > history.structure.systemCount &&
          (kept.get(start - 1) === 'kept' || pins.has(start - 1) || isOnlyThoughts(history, start - 1))
        ) {
          start -= 1
          if (kept.get(start) === 'kept') tokens += readableTokens(history, start)
        }
        if (start === history.structure.systemCount) continue
        // A round that takes more than its share is cut itself, and no room is left before it.
        const newestFrom = history.messages.slice(0, point).findLastIndex(isAssistant)
        const isRoundCut = start > newestFrom && kept.get(start - 1) === 'clipped'
        if (isRoundCut || !isTextFrom(history, newestFrom, point)) continue
        // What was left out next would have taken more than half of the room, or a part above it has its own share.
        const unit = history.structure.unitStart(start - 1)
        let next = 0
        for (let index = unit; index < start; index += 1) next += readableTokens(history, index)
        const pinned = [...pins].reduce(
          (sum, index) =>
            sum + (index >= start && kept.get(index) === 'kept' ? 0 : (history.sizes[index] ?? 0)),
          0,
        )
        const wanted = Math.min(room * SHARE.recent, room - pinned - room * SHARE.leastRecap)
        expect(tokens + next + 64).toBeGreaterThanOrEqual(Math.floor(Math.min(wanted, room * SHARE.recent)))
      }
    })
  })

  test('nothing is compacted that would have fitted (P1), and what is sent fits (P7)', () => {
    forAll(100, conversation, budget, (messages, budgetTokens) => {
      let sentTokens = 0
      let sentUntil = 0
      for (const { history, view, compaction, before, point } of requestsOf(messages, budgetTokens)) {
        const added = history.sizes.slice(sentUntil).reduce((sum, size) => sum + size, 0)
        if (compaction !== before) expect(sentTokens + added + PRIMING_TOKENS).toBeGreaterThan(budgetTokens)
        sentTokens = view.tokens
        sentUntil = point
        const newestUser = history.sizes[newestSpoken(history)] ?? 0
        const fixed = systemTokensOf(history, true)
        if (fixed + newestUser + PRIMING_TOKENS + 200 > budgetTokens) continue
        expect(view.tokens + PRIMING_TOKENS).toBeLessThanOrEqual(budgetTokens)
      }
    })
  })
})

/** A message that lost its bound thoughts, and nothing else, says all that it said. */
const toldHow = (how: ViewMessage['how']): ViewMessage['how'] => (how === 'unbound' ? 'kept' : how)

/** Whether a message holds nothing but thoughts that a compaction may take out. */
const isOnlyThoughts = ({ messages }: History, index: number): boolean =>
  messages[index]?.facts.bound === 'whole'

const isAssistant = ({ facts }: History['messages'][number]): boolean => facts.role === 'assistant'

/** Whether no content from one message to another is of a kind that no API takes, and that cannot be cut. */
const isTextFrom = ({ messages, source }: History, from: number, to: number): boolean =>
  messages.slice(Math.max(0, from), to).every(({ start, end }) => {
    const { content = null }: { content?: unknown } = JSON.parse(source.text(start, end))
    return content === null || typeof content === 'string' || Array.isArray(content)
  })

/** The newest message that is no system message; -1 where there is none. */
const newestSpoken = ({ messages }: History): number =>
  messages.findLastIndex(({ facts: { role } }) => role !== 'system' && role !== 'developer')

/** Of the leading system messages, or of all of them. */
const systemTokensOf = (history: History, areAll = false): number =>
  history.messages.reduce((sum, { facts }, index) => {
    const isSystem = facts.role === 'system' || facts.role === 'developer'
    return isSystem && (areAll || index < history.structure.systemCount)
      ? sum + (history.sizes[index] ?? 0)
      : sum
  }, 0)
