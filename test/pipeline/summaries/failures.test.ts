import { describe, expect, test } from 'vitest'
import { passingTime } from '../../support/eventually.ts'
import type { SummaryQuality } from '../../support/summary-model.ts'
import {
  isCompacted,
  isPending,
  long,
  recapsIn,
  summariesIn,
  turnsUntil,
  turnWhere,
} from './growing-agent.ts'
import { summaryStand } from './summary-stand.ts'

/** Of each way to fail one; why a call failed is told of every one by the tests of what writes summaries. */
const cases: readonly (readonly [SummaryQuality, reason: string])[] = [
  ['disconnect', 'broken-off'],
  ['gibberish', 'too-long'],
  [429, 'rate-limited'],
]

describe('whatever a summary model does, the agent has a good answer', () => {
  test.each(cases)(
    '%s: a recap takes its place, and the headers and the log say why (%s)',
    async (quality, reason) => {
      await using stand = await summaryStand({ model: { quality } })
      const agent = stand.agent(long)
      const asking = await turnsUntil(agent, isPending)
      await stand.quiet()
      const calls = stand.model.calls.length
      expect(calls).toBeGreaterThan(0)

      // It is not tried again for the same frontier, however often the request comes.
      for (const turn of [await agent.again(), await agent.again()]) {
        expect(turn).toMatchObject({ status: 200, action: 'relayed', summary: 'none' })
        expect(turn.header('x-foldgate-summary-reason')).toBe(reason)
      }
      await stand.quiet()
      expect(stand.model.calls).toHaveLength(calls)

      const due = await turnWhere(agent, isCompacted)
      expect(due).toMatchObject({ status: 200, summary: 'recap', attempts: 1 })
      // The request that took the recap said nothing of why: its headers spoke of the compaction after it already.
      expect(due.header('x-foldgate-summary-reason')).toBe(reason)
      expect(recapsIn(due)).toHaveLength(1)
      expect(summariesIn(due)).toEqual([])
      expect(asking.every(({ status }) => status === 200)).toBe(true)

      const told = stand.foldgate.log.filter((line) => line.includes('a summary failed'))
      expect(told.length).toBeGreaterThan(0)
      expect(JSON.parse(told[0] ?? '{}')).toMatchObject({ level: 'warn', reason })
      for (const line of stand.foldgate.log) {
        expect(line).not.toMatch(/BLD-|src\/f\d|key-of-a-test|sk-cheap|nightly/)
      }
    },
  )

  test('while its upstream is rate-limited no further call is made, not even for the next compactions', async () => {
    const pass = passingTime()
    await using stand = await summaryStand({
      model: { quality: (_, index) => (index === 0 ? 429 : 'good'), retryAfterS: 20 },
    })
    const agent = stand.agent(long)
    const limited = await agent.turns(12, { pause: stand.quiet })
    expect(stand.model.calls).toHaveLength(1)
    // The first failed with it; the others were not even asked for.
    const reasons = limited.slice(7).map((turn) => turn.header('x-foldgate-summary-reason'))
    expect(new Set(reasons)).toEqual(new Set(['rate-limited']))
    expect(limited.every(({ status }) => status === 200)).toBe(true)
    expect(new Set(limited.slice(-4).map(({ summary }) => summary))).toEqual(new Set(['recap']))
    pass(21_000)
    await agent.turns(4, { pause: stand.quiet })
    expect(stand.model.calls.length).toBeGreaterThan(1)
    expect(summariesIn(await agent.turn())).toHaveLength(1)
  })
})
