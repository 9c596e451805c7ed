import { describe, expect, test } from 'vitest'
import { summaryStand } from './summary-stand.ts'
import { isPending, recapsIn, summariesIn, turnsUntil } from './turns-until.ts'
import { withheld } from './withheld.ts'

const long = { roundTokens: 1000 }

describe('a client that leaves', () => {
  // Clients time out and try again: each try had started what the one before had broken off.
  test.each([
    ['background', {}],
    ['blocking', { summary: { mode: 'blocking' } }],
  ])(
    'while it waits for a summary finds it when it tries again: one call in all (%s)',
    async (mode, profile) => {
      const { give, quality } = withheld()
      await using stand = await summaryStand({ model: { quality }, profile })
      const agent = stand.agent(long)
      if (mode === 'background') await turnsUntil(agent, isPending)
      else await agent.turns(7)

      const leaving = new AbortController()
      const gone = agent.turn({ signal: leaving.signal })
      await expect.poll(() => stand.model.inFlight()).toBe(1)
      leaving.abort()
      await expect(gone).rejects.toThrow(/abort/)
      const leavingAgain = new AbortController()
      const goneAgain = agent.again({ signal: leavingAgain.signal })
      leavingAgain.abort()
      await expect(goneAgain).rejects.toThrow(/abort/)

      const retry = agent.again()
      give()
      const turn = await retry
      await stand.quiet()
      expect(turn).toMatchObject({ status: 200, action: 'compacted', summary: 'ready', attempts: 1 })
      expect(summariesIn(turn)).toHaveLength(1)
      expect(stand.model.calls).toMatchObject([{ status: 200, left: false }])
    },
  )

  test('before its answer is there leaves what was asked for ahead of need', async () => {
    const { give, quality } = withheld()
    await using stand = await summaryStand({ model: { quality } })
    const agent = stand.agent(long)
    await turnsUntil(agent, isPending)
    await expect.poll(() => stand.model.inFlight()).toBe(1)
    const leaving = new AbortController()
    const gone = agent.again({ signal: leaving.signal })
    leaving.abort()
    await expect(gone).rejects.toThrow(/abort/)
    give()
    await stand.quiet()
    expect(stand.model.calls).toMatchObject([{ status: 200, left: false }])
    expect((await agent.again()).summary).toBe('ready')
  })

  test('leaves nobody else without an answer who waits for the same summary', async () => {
    const { give, quality } = withheld()
    await using stand = await summaryStand({ model: { quality } })
    const agent = stand.agent(long)
    await turnsUntil(agent, isPending)
    const leaving = new AbortController()
    const gone = agent.turn({ signal: leaving.signal })
    const others = [agent.again(), agent.again(), agent.again()]
    await expect.poll(() => stand.model.inFlight()).toBe(1)
    leaving.abort()
    await expect(gone).rejects.toThrow(/abort/)
    give()
    const turns = await Promise.all(others)
    expect(new Set(turns.map(({ received }) => JSON.stringify(received))).size).toBe(1)
    expect(turns.map(({ summary }) => summary)).toEqual(['ready', 'ready', 'ready'])
    expect(turns.flatMap(recapsIn)).toEqual([])
    expect(stand.model.calls).toHaveLength(1)
  })
})
