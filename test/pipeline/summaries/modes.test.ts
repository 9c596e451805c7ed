import { describe, expect, test } from 'vitest'
import { startFoldgate } from '../../support/foldgate.ts'
import { startSummaryModel } from '../../support/summary-model.ts'
import {
  growingAgent,
  isCompacted,
  long,
  recapsIn,
  summariesIn,
  turnsUntil,
  turnWhere,
} from './growing-agent.ts'
import { summaryStand } from './summary-stand.ts'

const wishing = (compact: string) => ({ headers: { 'x-foldgate-compact': compact } })

describe('blocking', () => {
  test('a summary is asked for when its compaction is due, which waits for it', async () => {
    await using stand = await summaryStand({
      model: { delayMs: 40 },
      profile: { summary: { mode: 'blocking' } },
    })
    const agent = stand.agent(long)
    const turns = await turnsUntil(agent, isCompacted)
    expect(new Set(turns.slice(0, -1).map(({ summary }) => summary))).toEqual(new Set(['none']))
    const due = await agent.again()
    expect(turns.at(-1)).toMatchObject({ status: 200, summary: 'ready', attempts: 1 })
    expect(summariesIn(due)).toEqual([expect.stringContaining(stand.model.calls[0]?.answer ?? 'none')])
    expect(stand.model.calls).toHaveLength(1)
    const more = await agent.turns(9)
    expect(more.flatMap(recapsIn)).toEqual([])
    const { calls } = stand.model
    expect(calls.length).toBeGreaterThan(2)
    for (const [index, { answer }] of calls.slice(0, -1).entries())
      expect(calls[index + 1]?.text).toContain(answer)
  })

  test('who has not been accepted before gets a recap at once, also with a long conversation', async () => {
    await using stand = await summaryStand({ profile: { summary: { mode: 'blocking' } } })
    const agent = stand.agent(long)
    await agent.turns(6, { headers: { 'x-foldgate-bypass': '1' } })
    expect(await agent.turn()).toMatchObject({ status: 200, action: 'compacted', summary: 'recap' })
    expect(stand.model.calls).toHaveLength(0)
  })
})

describe('x-foldgate-compact', () => {
  test.each([
    ['makes recaps', { strategy: 'truncate' }],
    ['asks ahead of need, and there was no time', {}],
  ])('summarize: a compaction waits for its summary, also where the profile %s', async (_, profile) => {
    await using stand = await summaryStand({ profile, model: { delayMs: 40 } })
    const agent = stand.agent(long)
    await agent.turns(7, wishing('off'))
    const due = await turnWhere(agent, isCompacted, wishing('summarize'))
    expect(due).toMatchObject({ status: 200, summary: 'ready' })
    expect(stand.model.calls).toHaveLength(1)
    // A summary that stands is kept by requests that do not say it again.
    expect((await agent.again()).received).toEqual(due.received)
  })

  test('truncate: recaps, whatever the profile says, and what stands already stays', async () => {
    await using stand = await summaryStand()
    const agent = stand.agent(long)
    const truncated = { ...wishing('truncate'), pause: stand.quiet }
    expect(await turnWhere(agent, isCompacted, truncated)).toMatchObject({ status: 200, summary: 'recap' })
    expect(stand.model.calls).toHaveLength(0)
    const next = await turnWhere(agent, ({ summary }) => summary === 'ready', { pause: stand.quiet })
    expect(summariesIn(next)).toHaveLength(1)
    for (const turn of await agent.turns(5, truncated)) expect(summariesIn(turn)).toEqual(summariesIn(next))
  })
})

describe('what a profile says', () => {
  test.each([
    ['strategy auto: summaries, since the profile names a summary model', { strategy: 'auto' }, 'ready'],
    ['strategy summarize: summaries', { strategy: 'summarize' }, 'ready'],
    [
      'strategy auto without a summary model: recaps, and no call that nobody asked for',
      { strategy: 'auto', summary: { upstream: null, model: null } },
      'recap',
    ],
  ])('%s', async (_, profile, summary) => {
    await using stand = await summaryStand({ profile })
    const due = await turnWhere(stand.agent(long), isCompacted, { pause: stand.quiet })
    expect(due).toMatchObject({ summary, attempts: 1 })
    expect(stand.model.calls.length > 0).toBe(summary === 'ready')
    expect(stand.foldgate.log.some((line) => line.includes('a summary'))).toBe(summary === 'ready')
    // The client’s key never reaches a summary upstream of the operator’s.
    for (const { headers, body } of stand.model.calls)
      expect(JSON.stringify([headers, body])).not.toContain('key-of-a-test')
  })

  test.each([
    ['strategy summarize without a model: that of the request', { strategy: 'summarize' }, 'test-model'],
    ['a summary model without an upstream: under that name', { summary: { model: 'small-1' } }, 'small-1'],
  ])('%s, at its own upstream, with the client’s key', async (_, said, name) => {
    await using model = await startSummaryModel()
    const profile = { window: { tokens: 8000, output_reserve: 1000 }, clear: { enabled: false }, ...said }
    const foldgate = await startFoldgate({ upstream: model.url, profile })
    const agent = growingAgent(foldgate.url, () => [], long)
    const due = await turnWhere(agent, isCompacted, { pause: model.quiet })
    await foldgate.close()
    expect(due.summary).toBe('ready')
    // The agent itself states no limit.
    const written = model.calls.filter(({ body }) => 'max_tokens' in body)
    expect(written.length).toBeGreaterThan(0)
    for (const { headers, body } of written) {
      expect(headers['authorization']).toBe('Bearer key-of-a-test')
      expect(body['model']).toBe(name)
    }
  })
})
