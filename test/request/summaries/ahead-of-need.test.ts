import { describe, expect, test } from 'vitest'
import { isBeginning } from '../../support/is-beginning.ts'
import { summaryStand } from './summary-stand.ts'
import { isCompacted, isPending, recapsIn, summariesIn, turnsUntil } from './turns-until.ts'
import { withheld } from './withheld.ts'

const long = { roundTokens: 1000 }

describe('a summary is there before it is needed', () => {
  test('no request waits for one: the upstream has answered the agent before the summary is written', async () => {
    const { give, quality } = withheld()
    await using stand = await summaryStand({
      model: { quality },
      profile: { summary: { at: 0.5 } },
    })
    const agent = stand.agent()
    const asking = (await turnsUntil(agent, isPending)).at(-1)
    // It is being written as long as the test likes, and the agent goes on.
    const meanwhile = await agent.turn()
    expect(asking).toMatchObject({ status: 200, action: 'relayed', summary: 'pending' })
    expect(meanwhile).toMatchObject({ status: 200, action: 'relayed', summary: 'pending' })
    expect(stand.model.calls).toMatchObject([{ status: null }])
    give()
    await stand.quiet()
    const compaction = (await turnsUntil(agent, isCompacted)).at(-1)
    expect(stand.model.calls).toMatchObject([{ status: 200 }])
    expect(summariesIn(compaction ?? { received: [] })).toEqual([
      expect.stringContaining(stand.model.calls[0]?.answer ?? 'no answer'),
    ])
    expect(compaction).toMatchObject({ summary: 'ready', attempts: 1 })
    expect(compaction?.header('x-foldgate-passes')).toBe('fold')
  })

  test('it waits for its compaction, and until then the view simply grows', async () => {
    await using stand = await summaryStand()
    const turns = await turnsUntil(stand.agent(long), isCompacted, { pause: stand.quiet })
    const states = turns.map(({ summary }) => summary)
    expect([...new Set(states)]).toEqual(['none', 'pending', 'ready'])
    for (const [index, turn] of turns.slice(0, -1).entries()) {
      expect(turn.action).toBe('relayed')
      expect(isBeginning(turn.received, turns[index + 1]?.received ?? [])).toBe(index + 2 < turns.length)
    }
  })

  test('between two compactions views only grow at their end, whatever is being summarised (P5)', async () => {
    await using stand = await summaryStand()
    const turns = await stand.agent(long).turns(25, { pause: stand.quiet })
    let compactions = 0
    for (const [index, { received }] of turns.entries()) {
      const before = turns[index - 1]?.received ?? []
      if (!isBeginning(before, received)) compactions += 1
    }
    expect(compactions).toBe(stand.model.calls.filter(({ status }) => status === 200).length - 1)
    expect(turns.flatMap(recapsIn)).toEqual([])
    expect(compactions).toBeGreaterThan(4)
  })

  test('where a compaction is due before it is there, the request waits for it, and sends it', async () => {
    await using stand = await summaryStand({ model: { delayMs: 150 } })
    const turns = await turnsUntil(stand.agent(long), isCompacted)
    expect(stand.model.calls).toMatchObject([{ status: 200 }])
    expect(turns.at(-1)).toMatchObject({ summary: 'ready' })
    expect(turns.flatMap(recapsIn)).toEqual([])
  })

  test('where it does not come in time, a recap stands in its place, and what comes later is used for the next compaction', async () => {
    const { give, quality } = withheld()
    await using stand = await summaryStand({
      model: { quality: (_, index) => (index === 0 ? quality() : 'good') },
      profile: { summary: { wait_ms: 20, concurrent: 1 } },
    })
    const agent = stand.agent(long)
    const first = (await turnsUntil(agent, isCompacted)).at(-1)
    expect(first).toMatchObject({ status: 200, summary: 'recap' })
    expect(first?.header('x-foldgate-summary-reason')).toBe('not-in-time')
    expect(recapsIn(first ?? { received: [] })).toHaveLength(1)
    expect(summariesIn(first ?? { received: [] })).toEqual([])
    give()
    await stand.quiet()
    const late = stand.model.calls[0]?.answer ?? 'no answer'
    const next = (await turnsUntil(agent, ({ summary }) => summary === 'ready', { pause: stand.quiet })).at(
      -1,
    )
    expect(recapsIn(next ?? { received: [] })).toEqual([])
    expect(summariesIn(next ?? { received: [] })).toHaveLength(1)
    // It was not made anew: the next one continues it.
    expect(stand.model.calls[1]?.text).toContain(late)
  })

  // The failure was found first, and hid what there was: all of it was sent to the model once more.
  test('what came later is used also where the one after it failed', async () => {
    const { give, quality } = withheld()
    await using stand = await summaryStand({
      model: { quality: (_, index) => (index === 0 ? quality() : index === 1 ? 500 : 'good') },
      profile: { summary: { wait_ms: 20 } },
    })
    const agent = stand.agent(long)
    await turnsUntil(agent, isCompacted)
    give()
    await stand.quiet()
    const late = stand.model.calls[0]?.answer ?? 'none'
    await agent.turns(10, { pause: stand.quiet })
    expect(stand.model.calls.slice(0, 3)).toMatchObject([{ status: 200 }, { status: 500 }, { status: 200 }])
    expect(stand.model.calls[2]?.text).toContain(late)
  })

  test('a summary that stands stays where the next one does not come, and a recap stands for the rest', async () => {
    await using stand = await summaryStand({ model: { quality: (_, index) => (index === 0 ? 'good' : 500) } })
    const agent = stand.agent(long)
    const options = { pause: stand.quiet }
    const first = (await turnsUntil(agent, isCompacted, options)).at(-1)
    const standing = summariesIn(first ?? { received: [] })
    expect(standing).toHaveLength(1)
    const next = (await turnsUntil(agent, (turn) => recapsIn(turn).length > 0, options)).at(-1)
    expect(summariesIn(next ?? { received: [] })).toEqual(standing)
    expect(next).toMatchObject({ status: 200, summary: 'ready' })
  })
})
