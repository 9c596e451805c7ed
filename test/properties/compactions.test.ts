import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compact } from '../support/compacted.ts'
import { createMadeCache } from '../../src/compaction/made-cache.ts'
import type { Room } from '../../src/tokens/budget.ts'
import type { Profile } from '../../src/profiles/schema.ts'
import type { Compaction } from '../../src/compaction/compaction.ts'
import { runAtOnce } from '../../src/json/source.ts'
import { conversation } from '../support/arbitrary-conversation.ts'
import { profileOf, historyOf, viewTexts } from '../support/subject.ts'
import { forAll } from '../support/property-runs.ts'

/** Also with a limit of length, by which compactions fall whatever the numbers are. */
const policies = fc.constantFrom(
  profileOf(),
  profileOf({ limit: { turns: 3 }, keep: { recent_messages: 3 } }),
  profileOf({ limit: { messages: 16 }, keep: { recent_messages: 3 } }),
)

type Known = { readonly newest: Compaction | null; readonly seenUntil: number | null }

const unknown: Known = { newest: null, seenUntil: null }

/** One request: the view and the compaction in this room, by what is on record. */
function send(messages: readonly object[], profile: Profile, known: Known, room: Room, differenceTokens = 0) {
  const history = historyOf(messages)
  const cache = createMadeCache({ bytesMax: 10_000_000 })
  const now = { room, differenceTokens, sharedUntil: null, strict: false, forced: false, prepared: null }
  const { compaction, view } = runAtOnce(compact(history, cache, { profile, ...known, ...now }))
  return { compaction, texts: viewTexts(history, view) }
}

const roomOf = (budgetTokens: number, aroundTokens: number): Room => ({ budgetTokens, aroundTokens })

/** Numbers of one day, and those of another: a window that was learnt, a calibration, more tools. */
const days = fc.record({
  budgetTokens: fc.integer({ min: 2_000, max: 12_000 }),
  share: fc.double({ min: 0.5, max: 1.5, noNaN: true }),
  moreTools: fc.integer({ min: 0, max: 300 }),
  /** What the provider has counted of the last prompt, beyond our count or below it. */
  differenceTokens: fc.integer({ min: -3_000, max: 3_000 }),
})

describe('compactions', () => {
  test('that were made stay, whatever today’s window, calibration and tools are', () => {
    forAll(60, conversation, policies, days, (messages, profile, day) => {
      const usual = roomOf(day.budgetTokens, 40)
      const later = roomOf(Math.floor(day.budgetTokens * day.share), 40 + day.moreTools)
      const points = historyOf(messages).structure.requestPoints
      let known = unknown
      let before: readonly string[] = []
      for (const [position, point] of points.entries()) {
        const isLater = position >= points.length / 2
        const room = isLater ? later : usual
        const prefix = messages.slice(0, point)
        const { compaction, texts } = send(prefix, profile, known, room, isLater ? day.differenceTokens : 0)
        const { newest } = known
        const isFurther = compaction !== null && compaction.point > (newest?.point ?? -1)
        if (isFurther)
          expect(compaction.fold?.frontier ?? 0).toBeGreaterThanOrEqual(newest?.fold?.frontier ?? 0)
        else {
          expect(compaction).toEqual(newest)
          expect(texts.slice(0, before.length)).toEqual(before)
        }
        known = { newest: compaction, seenUntil: point }
        before = texts
      }
    })
  })

  test('are added for the request that is made now, and for none that was seen before', () => {
    forAll(60, conversation, policies, days, (messages, profile, day) => {
      const points = historyOf(messages).structure.requestPoints
      const seenUntil = points.at(-2) ?? null
      fc.pre(seenUntil !== null)
      // It was seen before in a window that held it whole: that its past would not fit today moves nothing.
      const room = roomOf(day.budgetTokens, 40)
      const { compaction } = send(messages, profile, { newest: null, seenUntil }, room)
      expect(compaction === null || compaction.point === messages.length).toBe(true)
    })
  })

  test('are not made where the provider’s own count says that the prompt fits', () => {
    forAll(60, conversation, days, (messages, day) => {
      const history = historyOf(messages)
      const { systemCount } = history.structure
      const profile = profileOf({ trigger: 1 })
      const ownTokens = 40 + history.sizes.slice(systemCount).reduce((sum, size) => sum + size, 0)
      const seenUntil = messages.length
      const exact = roomOf(ownTokens + day.differenceTokens, 40)
      fc.pre(exact.budgetTokens > 40)
      const fitting = send(messages, profile, { newest: null, seenUntil }, exact, day.differenceTokens)
      expect(fitting.compaction).toBeNull()
    })
  })

  test('do not move with a system prompt that changes at every request', () => {
    forAll(60, conversation, policies, days, (messages, profile, { budgetTokens }) => {
      const room = roomOf(budgetTokens, 60)
      const conversing = messages.filter((message) => !('role' in message) || message.role !== 'system')
      fc.pre(conversing.length > 0)
      let known = unknown
      for (const point of historyOf(conversing).structure.requestPoints) {
        const prefix = conversing.slice(0, point)
        const clock = { role: 'system', content: `It is ${point} o'clock.` }
        const noon = { role: 'system', content: 'It is noon.' }
        const dated = send([clock, ...prefix], profile, known, room)
        const plain = send([noon, ...prefix], profile, known, room)
        expect(dated.compaction).toEqual(plain.compaction)
        expect(dated.texts.slice(1)).toEqual(plain.texts.slice(1))
        known = { newest: dated.compaction, seenUntil: point }
      }
    })
  })
})
