import { describe, expect, test } from 'vitest'
import type { StrictUpstreamOptions } from '../../support/strict-upstream/strict-upstream.ts'
import { isObject, textsOf } from '../../support/strict-upstream/wire-message.ts'
import { loadCounter } from '../../../src/tokens/encodings.ts'
import { startStrictUpstream } from '../../support/strict-upstream/strict-upstream.ts'
import { startFoldgate } from '../../support/foldgate.ts'
import { growingAgent } from './growing-agent.ts'
import { isPending, summariesIn, turnsUntil } from './turns-until.ts'

const SUMMARY = `## Goal and constraints
- Repair what the nightly run breaks.
## Files and artifacts
- src/f1.ts, src/f2.ts and src/f3.ts were read.
## Open items and next steps
- Go on with the next file.`

/** An upstream that takes one request at a time, and writes the summaries too. */
async function localServer() {
  const { count } = await loadCounter('o200k_base')
  const order: string[] = []
  let inside = 0
  let insideMost = 0
  let held = Promise.withResolvers<void>()
  held.resolve()
  const reply: StrictUpstreamOptions['reply'] = async ({ messages }) => {
    inside += 1
    insideMost = Math.max(insideMost, inside)
    const last = messages.at(-1)
    const isSummary = isObject(last) && /summar/i.test(textsOf(last.content).join(' '))
    order.push(isSummary ? 'summary' : 'agent')
    if (isSummary) await held.promise
    inside -= 1
    return { content: isSummary ? SUMMARY : 'Understood.' }
  }
  const upstream = await startStrictUpstream({
    windowTokens: 8000,
    template: 'lenient',
    outputReserveChecked: true,
    count,
    reply,
  })
  const foldgate = await startFoldgate({
    upstream: upstream.url,
    upstreams: { default: { url: upstream.url, concurrency: 1 } },
    profile: {
      window: { tokens: 8000, output_reserve: 1000 },
      clear: { enabled: false },
      strategy: 'summarize',
      summary: { reasoning_tokens: 0, max_tokens: 800 },
    },
  })
  return {
    order,
    insideMost: () => insideMost,
    hold: () => {
      held = Promise.withResolvers<void>()
    },
    release: () => held.resolve(),
    agent: () => growingAgent(foldgate.url, () => upstream.requests, { roundTokens: 1000 }),
    [Symbol.asyncDispose]: async () => {
      held.resolve()
      await foldgate.close()
      await upstream.close()
    },
  }
}

/** As long as it may take until it is looked again whether the upstream has a place. */
const aMoment = () =>
  new Promise((resolve) => {
    setTimeout(resolve, 150)
  })

describe('an upstream that takes one request at a time and writes the summaries too', () => {
  test('never has two at a time, and the agent’s compactions stand on summaries', async () => {
    await using server = await localServer()
    const agent = server.agent()
    const turns = await agent.turns(10, { pause: aMoment })
    expect(turns.every(({ status }) => status === 200)).toBe(true)
    expect(server.insideMost()).toBe(1)
    expect(server.order.filter((kind) => kind === 'summary').length).toBeGreaterThan(0)
    expect(turns.flatMap(summariesIn).some((text) => text.includes('Go on with the next file'))).toBe(true)
  })

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
    await expect
      .poll(async () => (await agent.again()).summary, { interval: 250, timeout: 60_000 })
      .toBe('ready')
    expect(server.order.filter((kind) => kind === 'summary').length).toBeGreaterThan(1)
  })

  // A call that gave way was made again as often as a request came, three minutes long: each time the provider had read
  // its prompt, and nobody counted what that cost.
  test('a summary that always has to give way is given up, and not asked for again and again', async () => {
    await using server = await localServer()
    const agent = server.agent()
    server.hold()
    await turnsUntil(agent, isPending)
    const summaries = () => server.order.filter((kind) => kind === 'summary').length
    await expect.poll(summaries).toBe(1)
    for (let request = 0; request < 8; request += 1) {
      await agent.again()
      await aMoment()
    }
    expect(summaries()).toBeLessThanOrEqual(3)
    expect((await agent.again()).header('x-foldgate-summary-reason')).toBe('too-dear')
    server.release()
  })
})
