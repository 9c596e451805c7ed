import { setTimeout } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { Store } from '../../../src/storage/store.ts'
import { isPending, long, recapsIn, turnsUntil, type Agent } from './growing-agent.ts'
import { countedAlike, openStore, summaryStand } from './summary-stand.ts'

/** Up to the second compaction. */
const TURNS = 11

/** What an agent's upstream receives where nothing is ever restarted. */
async function undisturbed() {
  await using stand = await summaryStand()
  const turns = await stand.agent(long).turns(TURNS, { pause: stand.quiet })
  return { views: turns.map(({ received }) => received), calls: stand.model.calls.map(({ text }) => text) }
}

describe('restarts', async () => {
  const usual = await undisturbed()

  test('after each request change no byte and cause no call', async () => {
    await using stand = await summaryStand({ store: openStore() })
    const agent = stand.agent(long)
    let foldgate = stand.foldgate
    const views: (readonly string[])[] = []
    for (let turn = 0; turn < TURNS; turn += 1) {
      const { received } = await agent.turn({ url: foldgate.url })
      views.push(received)
      await stand.quiet()
      await foldgate.close()
      foldgate = await stand.replica()
    }
    expect(views).toEqual(usual.views)
    expect(stand.model.calls.map(({ text }) => text)).toEqual(usual.calls)
  })

  test('between asking and the compaction: a summary that was broken off is asked for again, and its compaction stands on it', async () => {
    await using stand = await summaryStand({
      store: openStore(),
      model: { quality: (_, index) => (index === 0 ? 'hang' : 'good') },
    })
    const agent = stand.agent(long)
    const before = await turnsUntil(agent, isPending)
    await expect.poll(() => stand.model.inFlight()).toBe(1)
    await stand.foldgate.close()
    await stand.quiet()
    expect(stand.model.calls).toMatchObject([{ left: true }])
    const { url, log } = await stand.replica()
    const after = await agent.turns(TURNS - before.length, { url, pause: stand.quiet })
    expect([...before, ...after].map(({ received }) => received)).toEqual(usual.views)
    expect(stand.model.calls.slice(1).map(({ text }) => text)).toEqual(usual.calls)
    // A call that was broken off has not failed.
    for (const line of [...stand.foldgate.log, ...log]) expect(line).not.toContain('a summary failed')
  })
})

// Where one request had begun the summary between another's two questions to the store, the other was told of none.
test('replicas on one store many at once ask for one ahead of need', async () => {
  await using stand = await summaryStand({
    store: unevenStore(),
    model: { delayMs: 40 },
    profile: { window: countedAlike },
  })
  const other = await stand.replica()
  const agent = stand.agent(long)
  await agent.turns(6)
  await agent.turn({ headers: { 'x-foldgate-compact': 'truncate' } })
  const asking = await manyTimes(agent, [stand.url, other.url])
  for (const { summary } of asking) expect(['pending', 'ready']).toContain(summary)
  await stand.quiet()
  expect(stand.model.calls).toHaveLength(1)
  // And when the compaction is due, all of them stand on it.
  await agent.turn({ headers: { 'x-foldgate-compact': 'off' } })
  const due = await manyTimes(agent, [stand.url, other.url])
  expect(new Set(due.map(({ received }) => JSON.stringify(received))).size).toBe(1)
  expect(due.map(({ summary }) => summary)).toEqual(due.map(() => 'ready'))
  expect(due.flatMap(recapsIn)).toEqual([])
})

/** A store of which some answers take longer than others, so that requests of one time overtake one another. */
function unevenStore(): Store {
  const store = openStore()
  let asked = 0
  const getFirst: Store['getFirst'] = async (keys) => {
    const found = store.getFirst(keys)
    await setTimeout((asked++ % 7) * 3)
    return found
  }
  return { ...store, getFirst }
}

const MANY = 30

const manyTimes = (agent: Agent, urls: readonly string[]) =>
  Promise.all(
    Array.from({ length: MANY }, (_, index) => agent.again({ url: urls[index % urls.length] ?? '' })),
  )
