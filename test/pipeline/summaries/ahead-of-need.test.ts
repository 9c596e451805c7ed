import { describe, expect, test } from 'vitest'
import { isObject, textsOf } from '../../support/strict-upstream/wire-message.ts'
import { isBeginning } from '../../support/is-beginning.ts'
import {
  isCompacted,
  isPending,
  long,
  recapsIn,
  summariesIn,
  turnsUntil,
  turnWhere,
  type Agent,
  type Turn,
} from './growing-agent.ts'
import { summaryStand, withheld } from './summary-stand.ts'

const isReady = ({ summary }: { readonly summary: string | null }): boolean => summary === 'ready'

describe('a summary is there before it is needed', () => {
  test('no request waits for one: the upstream has answered the agent before the summary is written', async () => {
    const { give, quality } = withheld()
    await using stand = await summaryStand({ model: { quality }, profile: { summary: { at: 0.5 } } })
    const agent = stand.agent()
    const asking = await turnWhere(agent, isPending)
    // It is being written as long as the test likes, and the agent goes on.
    const meanwhile = await agent.turn()
    for (const turn of [asking, meanwhile])
      expect(turn).toMatchObject({ status: 200, action: 'relayed', summary: 'pending' })
    // It goes out beside the answer, which may be there first.
    await expect.poll(() => stand.model.calls).toMatchObject([{ status: null }])
    give()
    await stand.quiet()
    const compaction = await turnWhere(agent, isCompacted)
    expect(stand.model.calls).toMatchObject([{ status: 200 }])
    expect(summariesIn(compaction)).toEqual([
      expect.stringContaining(stand.model.calls[0]?.answer ?? 'no answer'),
    ])
    expect(compaction).toMatchObject({ summary: 'ready', attempts: 1 })
    expect(compaction.header('x-foldgate-passes')).toBe('fold')
  })

  test('it waits for its compaction; before it and between two of them views only grow at their end (P5)', async () => {
    await using stand = await summaryStand()
    const turns = await stand.agent(long).turns(18, { pause: stand.quiet })
    const first = turns.findIndex(isCompacted)
    const before = turns.slice(0, first)
    expect([...new Set(before.map(({ summary }) => summary))]).toEqual(['none', 'pending'])
    expect(new Set(before.map(({ action }) => action))).toEqual(new Set(['relayed']))
    const compactions = turns.flatMap(({ received }, index) =>
      isBeginning(turns[index - 1]?.received ?? [], received) ? [] : [index],
    )
    expect(compactions[0]).toBe(first)
    expect(compactions.length).toBeGreaterThan(2)
    // Each stands on a summary of its own.
    expect(stand.model.calls.map(({ status }) => status)).toEqual(compactions.map(() => 200))
    expect(turns.flatMap(recapsIn)).toEqual([])
  })

  test('where it does not come in time, a recap stands in its place, and what comes later is used for the next compaction', async () => {
    const { give, quality } = withheld()
    await using stand = await summaryStand({
      model: { quality: (_, index) => (index === 0 ? quality() : 'good') },
      profile: { summary: { wait_ms: 20, concurrent: 1 } },
    })
    const agent = stand.agent(long)
    const first = await turnWhere(agent, isCompacted)
    expect(first).toMatchObject({ status: 200, summary: 'recap' })
    expect(first.header('x-foldgate-summary-reason')).toBe('not-in-time')
    expect(recapsIn(first)).toHaveLength(1)
    expect(summariesIn(first)).toEqual([])
    give()
    await stand.quiet()
    const late = stand.model.calls[0]?.answer ?? 'no answer'
    const next = await turnWhere(agent, isReady, { pause: stand.quiet })
    expect(recapsIn(next)).toEqual([])
    expect(summariesIn(next)).toHaveLength(1)
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
    await turnWhere(agent, isCompacted)
    give()
    await stand.quiet()
    const late = stand.model.calls[0]?.answer ?? 'none'
    await turnWhere(agent, () => stand.model.calls.length > 2, { pause: stand.quiet })
    expect(stand.model.calls).toMatchObject([{ status: 200 }, { status: 500 }, { status: 200 }])
    expect(stand.model.calls[2]?.text).toContain(late)
  })

  test('a summary that stands stays where the next one does not come, and a recap stands for the rest', async () => {
    await using stand = await summaryStand({ model: { quality: (_, index) => (index === 0 ? 'good' : 500) } })
    const agent = stand.agent(long)
    const options = { pause: stand.quiet }
    const standing = summariesIn(await turnWhere(agent, isCompacted, options))
    expect(standing).toHaveLength(1)
    const next = await turnWhere(agent, (turn) => recapsIn(turn).length > 0, options)
    expect(summariesIn(next)).toEqual(standing)
    expect(next).toMatchObject({ status: 200, summary: 'ready' })
  })
})

/** Sends a request, and gives up on it once this is done. */
async function leave(send: Agent['turn'], until: () => Promise<unknown> = async () => {}): Promise<void> {
  const leaving = new AbortController()
  const gone = send({ signal: leaving.signal }).then(
    () => 'answered',
    (error: unknown) => String(error),
  )
  await until()
  leaving.abort()
  expect(await gone).toMatch(/abort/i)
}

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
      await leave(agent.turn, async () => {
        await expect.poll(() => stand.model.inFlight()).toBe(1)
      })
      await leave(agent.again)

      const retry = agent.again()
      give()
      const turn = await retry
      await stand.quiet()
      expect(turn).toMatchObject({ status: 200, action: 'compacted', summary: 'ready', attempts: 1 })
      expect(summariesIn(turn)).toHaveLength(1)
      expect(stand.model.calls).toMatchObject([{ status: 200, left: false }])
    },
  )

  test('leaves what was asked for ahead of need, and nobody else without an answer who waits for the same', async () => {
    const { give, quality } = withheld()
    await using stand = await summaryStand({ model: { quality } })
    const agent = stand.agent(long)
    await turnsUntil(agent, isPending)
    await expect.poll(() => stand.model.inFlight()).toBe(1)
    await leave(agent.again)
    let others: Promise<readonly Turn[]> = Promise.resolve([])
    await leave(agent.turn, async () => {
      others = Promise.all([agent.again(), agent.again(), agent.again()])
    })
    give()
    const turns = await others
    expect(new Set(turns.map(({ received }) => JSON.stringify(received))).size).toBe(1)
    expect(turns.map(({ summary }) => summary)).toEqual(['ready', 'ready', 'ready'])
    expect(turns.flatMap(recapsIn)).toEqual([])
    expect(stand.model.calls).toMatchObject([{ status: 200, left: false }])
  })
})

const SUMMARY = `## Goal and constraints
- Repair what the nightly run breaks.
## Files and artifacts
- src/f1.ts, src/f2.ts and src/f3.ts were read.
## Open items and next steps
- Go on with the next file.`

/** An upstream that takes one request at a time, and writes the summaries too. */
async function localServer() {
  const order: string[] = []
  let held = Promise.withResolvers<void>()
  held.resolve()
  const stand = await summaryStand({
    upstream: { concurrency: 1 },
    profile: { summary: { upstream: null, model: null, reasoning_tokens: 0, max_tokens: 800 } },
    reply: async ({ messages }) => {
      const last = messages.at(-1)
      const isSummary = isObject(last) && /summar/i.test(textsOf(last.content).join(' '))
      order.push(isSummary ? 'summary' : 'agent')
      if (isSummary) await held.promise
      return { content: isSummary ? SUMMARY : 'Understood.' }
    },
  })
  return {
    order,
    summaries: () => order.filter((kind) => kind === 'summary').length,
    hold: () => {
      held = Promise.withResolvers<void>()
    },
    release: () => held.resolve(),
    agent: () => stand.agent(long),
    quiet: stand.quiet,
    [Symbol.asyncDispose]: async () => {
      held.resolve()
      await stand[Symbol.asyncDispose]()
    },
  }
}

describe('an upstream that takes one request at a time and writes the summaries too', () => {
  test('a request that comes while one is written is not kept waiting behind it: the summary gives way, and is asked for again', async () => {
    await using server = await localServer()
    const agent = server.agent()
    server.hold()
    await turnsUntil(agent, isPending)
    await expect.poll(() => server.order.at(-1)).toBe('summary')
    // The summary is not given before the agent has its answer: if it waited, it would wait for ever.
    const meanwhile = await agent.again()
    expect(meanwhile).toMatchObject({ status: 200, action: 'relayed', summary: 'pending' })
    expect(server.order.slice(-2)).toEqual(['summary', 'agent'])
    server.release()
    // Each further request would have it give way once more.
    await server.quiet()
    expect((await agent.again()).summary).toBe('ready')
    expect(server.summaries()).toBeGreaterThan(1)
  })

  // A call that gave way was made again as often as a request came, three minutes long: each time the provider had read
  // its prompt, and nobody counted what that cost.
  test('a summary that always has to give way is given up, and not asked for again and again', async () => {
    await using server = await localServer()
    const agent = server.agent()
    server.hold()
    await turnsUntil(agent, isPending)
    await expect.poll(server.summaries).toBe(1)
    const reason = async () => (await agent.again()).header('x-foldgate-summary-reason')
    await expect.poll(reason).toBe('too-dear')
    expect(server.summaries()).toBeLessThanOrEqual(3)
    server.release()
  })
})
