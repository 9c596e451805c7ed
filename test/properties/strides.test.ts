import { noExcess, type Excess } from '../../src/pressure/calibration/expected.ts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compact } from '../../src/compaction/compact.ts'
import { createMadeCache } from '../../src/compaction/made-cache.ts'
import type { Policy, Room } from '../../src/compaction/policy.ts'
import type { Stride } from '../../src/compaction/stride.ts'
import { finish } from '../../src/conversation/source.ts'
import { conversation } from '../support/arbitrary-conversation.ts'
import { policyOf, subjectOf, viewTexts } from '../support/subject.ts'

/** Also with a limit of length, by which strides fall whatever the numbers are. */
const policies = fc.constantFrom(
  policyOf(),
  policyOf({ limit: { turns: 3 }, keep: { recent_messages: 3 } }),
  policyOf({ limit: { messages: 16 }, keep: { recent_messages: 3 } }),
)

/** One request: the view and the stride under these numbers, from the newest record or from none. */
function send(
  messages: readonly object[],
  policy: Policy,
  newest: Stride | null,
  nominal: Room,
  actual: Room,
  excess: Excess = noExcess,
) {
  const subject = subjectOf(messages)
  const cache = createMadeCache({ charsMax: 10_000_000 })
  const { stride, view } = finish(
    compact(subject, cache, {
      policy,
      newest,
      nominal,
      actual,
      strict: false,
      excess,
      forced: false,
      prepared: null,
    }),
  )
  return { stride, texts: viewTexts(subject, view) }
}

function roomOf(budgetTokens: number, aroundTokens: number): Room {
  return { budgetTokens, aroundTokens, slackTokens: 0 }
}

/** Numbers of one day, and those of another: a window that was learnt, a calibration, more tools. */
const days = fc.record({
  budgetTokens: fc.integer({ min: 2_000, max: 12_000 }),
  share: fc.double({ min: 0.5, max: 1.5, noNaN: true }),
  moreTools: fc.integer({ min: 0, max: 300 }),
  /** What the provider has counted of the last prompt, beyond our count or below it. */
  excess: fc.record({
    differenceTokens: fc.integer({ min: -3_000, max: 3_000 }),
    marginTokens: fc.integer({ min: 0, max: 500 }),
  }),
})

describe('strides', () => {
  test('that were made stay, whatever today’s window, calibration and tools are', () => {
    fc.assert(
      fc.property(
        conversation,
        policies,
        days,
        (messages, policy, { budgetTokens, share, moreTools, excess }) => {
          const nominal = roomOf(budgetTokens, 40)
          const later = roomOf(Math.floor(budgetTokens * share), 40 + moreTools)
          const points = subjectOf(messages).structure.requestPoints
          let newest: Stride | null = null
          let before: readonly string[] = []
          for (const [position, point] of points.entries()) {
            const isLater = position >= points.length / 2
            const { stride, texts } = send(
              messages.slice(0, point),
              policy,
              newest,
              nominal,
              isLater ? later : nominal,
              isLater ? excess : noExcess,
            )
            const isFurther = stride !== null && stride.point > (newest?.point ?? -1)
            if (isFurther)
              expect(stride.fold?.frontier ?? 0).toBeGreaterThanOrEqual(newest?.fold?.frontier ?? 0)
            else {
              expect(stride).toEqual(newest)
              expect(texts.slice(0, before.length)).toEqual(before)
            }
            newest = stride
            before = texts
          }
        },
      ),
      { numRuns: 150 },
    )
  })

  test('that are derived without records do not depend on today’s numbers: they only add one at the end', () => {
    fc.assert(
      fc.property(
        conversation,
        policies,
        days,
        (messages, policy, { budgetTokens, share, moreTools, excess }) => {
          const nominal = roomOf(budgetTokens, 40)
          const usual = send(messages, policy, null, nominal, nominal).stride
          const today = send(
            messages,
            policy,
            null,
            nominal,
            roomOf(Math.floor(budgetTokens * share), 40 + moreTools),
            excess,
          ).stride
          const isFurther = today !== null && today.point === messages.length
          expect(isFurther ? usual : today).toEqual(usual)
        },
      ),
      { numRuns: 300 },
    )
  })

  test('do not move with a system prompt that changes at every request', () => {
    fc.assert(
      fc.property(conversation, policies, days, (messages, policy, { budgetTokens }) => {
        const room = roomOf(budgetTokens, 60)
        const conversing = messages.filter((message) => !('role' in message) || message.role !== 'system')
        fc.pre(conversing.length > 0)
        let newest: Stride | null = null
        const points = subjectOf(conversing).structure.requestPoints
        for (const point of points) {
          const prefix = conversing.slice(0, point)
          const clock = { role: 'system', content: `It is ${point} o'clock.` }
          const dated = send([clock, ...prefix], policy, newest, room, room)
          const plain = send(
            [{ role: 'system', content: 'It is noon.' }, ...prefix],
            policy,
            newest,
            room,
            room,
          )
          expect(dated.stride).toEqual(plain.stride)
          expect(dated.texts.slice(1)).toEqual(plain.texts.slice(1))
          newest = dated.stride
        }
      }),
      { numRuns: 100 },
    )
  })
})
