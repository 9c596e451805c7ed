import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { tighten, type Compacted } from '../../src/compaction/compact.ts'
import {
  compact,
  atFirstSight,
  compactedUnder,
  PRIMING_TOKENS,
  fixedTokens,
  parsed,
  sentTokens,
  shapes,
} from '../support/compacted.ts'
import { createMadeCache } from '../../src/compaction/made-cache.ts'
import type { Room } from '../../src/tokens/budget.ts'
import type { Profile } from '../../src/profiles/schema.ts'
import { readCompaction, writeCompaction, type Compaction } from '../../src/compaction/compaction.ts'
import { runAtOnce } from '../../src/json/source.ts'
import { violationsOf } from '../support/chat-completions.ts'
import { conversation } from '../support/arbitrary-conversation.ts'
import { profileOf, historyOf, viewTexts } from '../support/subject.ts'
import { forAll, weighed } from '../support/property-runs.ts'

type Sent = { readonly texts: readonly string[]; readonly compacted: Compacted; readonly around: number }

function send(
  messages: readonly object[],
  profile: Profile,
  budgetTokens: number,
  newest: Compaction | null,
  strict = false,
): Sent {
  const history = historyOf(messages)
  const compacted = compactedUnder(history, { profile, budgetTokens, newest, strict })
  return { texts: viewTexts(history, compacted.view), compacted, around: PRIMING_TOKENS }
}

const budget = fc.integer({ min: 700, max: 20_000 })

const few = fc.oneof(weighed(1, fc.constant(0)), fc.integer({ min: 1, max: 12 }))
/** Policies with and without a limit of length, which keep many or few of the newest messages. */
const limited = fc
  .record({
    limit: fc.record({ turns: few, messages: few.map((count) => count * 3) }),
    keep: fc.record({ recent_messages: fc.integer({ min: 0, max: 12 }), task: fc.boolean() }),
    recall: fc.record({ enabled: fc.boolean() }),
  })
  .map(profileOf)
const plain = fc.boolean().map((enabled) => profileOf({ recall: { enabled } }))
const policies = fc.oneof(weighed(1, plain), limited)

describe('a view', () => {
  test('fits (P7), obeys the rules (P3), keeps its leading system messages (P4), and its record survives', () => {
    forAll(
      200,
      conversation,
      budget,
      policies,
      fc.boolean(),
      fc.nat(3),
      (messages, budgetTokens, profile, strict, more) => {
        const sent = send(messages, profile, budgetTokens, null, strict)
        const { texts, compacted, around } = sent
        if (fixedTokens(messages, profile) <= budgetTokens) {
          expect(sentTokens(sent), 'within the budget').toBeLessThanOrEqual(budgetTokens)
          expect(sentTokens(sent), 'as it is said').toBeLessThanOrEqual(compacted.view.tokens + around)
        }
        const { systemCount } = historyOf(messages).structure
        if (!strict) {
          const before = violationsOf(shapes(messages)).length
          const after = violationsOf(shapes(texts.map(parsed))).length
          expect(after, 'rules that are broken').toBeLessThanOrEqual(before)
          const leading = messages.slice(0, systemCount).map((message) => JSON.stringify(message))
          expect(texts.slice(0, systemCount), 'leading system messages').toEqual(leading)
        }
        const { compaction } = compacted
        if (compaction === null) return
        const text = writeCompaction(compaction, systemCount)
        expect(readCompaction(text, systemCount), 'its record').toEqual(compaction)
        // With a system message more or less in front.
        const moved = readCompaction(text, systemCount + more)
        expect(moved?.point).toBe(compaction.point + more)
        expect(moved?.latestUser).toBe(compaction.latestUser === -1 ? -1 : compaction.latestUser + more)
      },
    )
  })

  test('grows only at its end between two compactions (P5), and is the same without the records (P6)', () => {
    forAll(80, conversation, budget, policies, (messages, budgetTokens, profile) => {
      let newest: Compaction | null = null
      let before: readonly string[] = []
      for (const point of historyOf(messages).structure.requestPoints) {
        const prefix = messages.slice(0, point)
        const warm = send(prefix, profile, budgetTokens, newest)
        const cold = send(prefix, profile, budgetTokens, null)
        expect(cold.texts).toEqual(warm.texts)
        const { compaction } = warm.compacted
        if (JSON.stringify(compaction) === JSON.stringify(newest)) {
          expect(warm.texts.slice(0, before.length)).toEqual(before)
        }
        newest = compaction
        before = warm.texts
      }
    })
  })

  test('is the conversation itself while nothing presses', () => {
    forAll(100, conversation, (messages) => {
      const { texts, compacted } = send(messages, profileOf(), 10_000_000, null)
      expect(compacted.compaction).toBeNull()
      expect(texts).toEqual(messages.map((message) => JSON.stringify(message)))
    })
  })
})

test('tightening after an overflow never makes a view larger, and its smallest form fits what it can', () => {
  forAll(100, conversation, budget, policies, fc.boolean(), (messages, budgetTokens, profile, smallest) => {
    const history = historyOf(messages)
    const system = history.sizes.slice(0, history.structure.systemCount).reduce((sum, size) => sum + size, 0)
    const room: Room = { budgetTokens, aroundTokens: system + 3 }
    const cache = createMadeCache({ bytesMax: 10_000_000 })
    const roomy = atFirstSight({ ...room, budgetTokens: 1_000_000 })
    const now = { profile, newest: null, ...roomy, strict: false, forced: false, prepared: null }
    const refused = runAtOnce(compact(history, cache, now))
    const previous = refused.compaction
    const options = { profile, previous, room, keepRecent: 4, smallest, strict: false }
    const tightened = runAtOnce(tighten(history, cache, options))
    if (tightened === null) return
    // Plans weigh recaps by their caps: where one stood before, it may have stayed below its own.
    if (refused.compaction === null) expect(tightened.view.tokens).toBeLessThanOrEqual(refused.view.tokens)
    if (fixedTokens(messages, profile) <= budgetTokens) {
      const sent = { texts: viewTexts(history, tightened.view), compacted: tightened, around: 3 }
      expect(sentTokens(sent)).toBeLessThanOrEqual(budgetTokens)
    }
  })
})
