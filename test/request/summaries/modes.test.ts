import { describe, expect, test } from 'vitest'
import { completion, fakeUpstream } from '../../support/fake-upstream.ts'
import { startFoldgate } from '../../support/foldgate.ts'
import { startSummaryModel } from '../../support/summary-model.ts'
import { growingAgent, type Turn } from './growing-agent.ts'
import { summaryStand } from './summary-stand.ts'
import { isCompacted, recapsIn, summariesIn, turnsUntil } from './turns-until.ts'

const long = { roundTokens: 1000 }
const TURNS = 12
const noTurn: Pick<Turn, 'received'> = { received: [] }

describe('blocking', () => {
  test('a summary is asked for when its compaction is due, which waits for it', async () => {
    await using stand = await summaryStand({
      model: { delayMs: 40 },
      profile: { summary: { mode: 'blocking' } },
    })
    const agent = stand.agent(long)
    const turns = await turnsUntil(agent, isCompacted)
    expect(turns.slice(0, -1).map(({ summary }) => summary)).toEqual(turns.slice(0, -1).map(() => 'none'))
    expect(stand.model.calls).toHaveLength(1)
    expect(turns.at(-1)).toMatchObject({ status: 200, summary: 'ready', attempts: 1 })
    expect(summariesIn(turns.at(-1) ?? noTurn)).toEqual([
      expect.stringContaining(stand.model.calls[0]?.answer ?? 'none'),
    ])
    const more = await agent.turns(10)
    expect(more.flatMap(recapsIn)).toEqual([])
    const { calls } = stand.model
    expect(calls.length).toBeGreaterThan(2)
    for (const [index, { answer }] of calls.slice(0, -1).entries())
      expect(calls[index + 1]?.text).toContain(answer)
  })

  test('longer than wait_ms it does not wait: a recap stands there', async () => {
    await using stand = await summaryStand({
      model: { quality: 'hang' },
      profile: { summary: { mode: 'blocking', wait_ms: 20 } },
    })
    const due = (await turnsUntil(stand.agent(long), isCompacted)).at(-1)
    expect(due).toMatchObject({ status: 200, summary: 'recap', attempts: 1 })
    expect(stand.model.calls).toHaveLength(1)
  })

  test('who has not been accepted before gets a recap at once, also with a long conversation', async () => {
    await using stand = await summaryStand({ profile: { summary: { mode: 'blocking' } } })
    const agent = stand.agent(long)
    const off = { headers: { 'x-foldgate-bypass': '1' } }
    await agent.turns(6, off)
    const first = await agent.turn()
    expect(first).toMatchObject({ status: 200, action: 'compacted', summary: 'recap' })
    expect(stand.model.calls).toHaveLength(0)
  })
})

describe('x-foldgate-compact', () => {
  test('summarize: a compaction waits for its summary, also where the profile makes recaps', async () => {
    await using stand = await summaryStand({ profile: { strategy: 'truncate' } })
    const agent = stand.agent(long)
    const turns = await turnsUntil(agent, isCompacted, { headers: { 'x-foldgate-compact': 'summarize' } })
    expect(turns.at(-1)).toMatchObject({ status: 200, summary: 'ready' })
    expect(stand.model.calls).toHaveLength(1)
    // A summary that stands is kept by requests that do not say it again.
    const next = await agent.again()
    expect(next.received).toEqual(turns.at(-1)?.received)
  })

  test('summarize: waits also where the profile asks ahead of need, and there was no time', async () => {
    await using stand = await summaryStand({ model: { delayMs: 40 } })
    const agent = stand.agent(long)
    const wish = { headers: { 'x-foldgate-compact': 'summarize' } }
    await agent.turns(6, { headers: { 'x-foldgate-compact': 'off' } })
    const due = (await turnsUntil(agent, isCompacted, wish)).at(-1)
    expect(due).toMatchObject({ status: 200, summary: 'ready' })
    expect(stand.model.calls).toHaveLength(1)
  })

  test('truncate: recaps, whatever the profile says, and what stands already stays', async () => {
    await using stand = await summaryStand()
    const agent = stand.agent(long)
    const truncated = { headers: { 'x-foldgate-compact': 'truncate' } }
    const due = (await turnsUntil(agent, isCompacted, { ...truncated, pause: stand.quiet })).at(-1)
    expect(due).toMatchObject({ status: 200, summary: 'recap' })
    expect(stand.model.calls).toHaveLength(0)
    const next = (await turnsUntil(agent, ({ summary }) => summary === 'ready', { pause: stand.quiet })).at(
      -1,
    )
    expect(summariesIn(next ?? noTurn)).toHaveLength(1)
    const later = await agent.turns(5, { ...truncated, pause: stand.quiet })
    for (const turn of later) expect(summariesIn(turn)).toEqual(summariesIn(next ?? noTurn))
  })
})

describe('what a profile says', () => {
  test.each([
    ['summary.mode off: recaps', { summary: { mode: 'off' } }, 'recap'],
    ['strategy truncate: recaps', { strategy: 'truncate' }, 'recap'],
    ['strategy auto: summaries, since the profile names a summary model', { strategy: 'auto' }, 'ready'],
    ['strategy summarize: summaries', { strategy: 'summarize' }, 'ready'],
  ])('%s', async (_, profile, summary) => {
    await using stand = await summaryStand({ profile })
    const turns = await stand.agent(long).turns(TURNS, { pause: stand.quiet })
    expect(turns.at(-1)?.summary).toBe(summary)
    expect(stand.model.calls.length > 0).toBe(summary === 'ready')
  })

  test('strategy auto without a summary model: recaps, and no call that nobody asked for', async () => {
    await using upstream = await fakeUpstream(completion('fine'))
    const profile = { window: { tokens: 8000, output_reserve: 1000 }, clear: { enabled: false } }
    const foldgate = await startFoldgate({ upstream: upstream.url, profile })
    const agent = growingAgent(foldgate.url, () => upstream.requests, long)
    const turns = await agent.turns(TURNS)
    await foldgate.close()
    expect(turns.at(-1)).toMatchObject({ action: 'compacted', summary: 'recap' })
    expect(upstream.requests).toHaveLength(TURNS)
  })

  test('strategy summarize without one: the request’s own upstream writes them, with the client’s key and model', async () => {
    await using model = await startSummaryModel()
    const profile = {
      window: { tokens: 8000, output_reserve: 1000 },
      clear: { enabled: false },
      strategy: 'summarize',
    }
    const foldgate = await startFoldgate({ upstream: model.url, profile })
    const agent = growingAgent(foldgate.url, () => [], long)
    const turns = await agent.turns(TURNS, { pause: model.quiet })
    await foldgate.close()
    expect(turns.at(-1)?.summary).toBe('ready')
    // The agent itself states no limit.
    const written = model.calls.filter(({ body }) => 'max_tokens' in body)
    expect(written.length).toBeGreaterThan(0)
    for (const { headers, body } of written) {
      expect(headers['authorization']).toBe('Bearer key-of-a-test')
      expect(body['model']).toBe('test-model')
    }
  })

  test('a summary model without an upstream: the request’s own upstream with the client’s key, under that name', async () => {
    await using model = await startSummaryModel()
    const profile = {
      window: { tokens: 8000, output_reserve: 1000 },
      clear: { enabled: false },
      summary: { model: 'small-1' },
    }
    const foldgate = await startFoldgate({ upstream: model.url, profile })
    const agent = growingAgent(foldgate.url, () => [], long)
    const turns = await agent.turns(TURNS, { pause: model.quiet })
    await foldgate.close()
    expect(turns.at(-1)?.summary).toBe('ready')
    const written = model.calls.filter(({ body }) => body['model'] === 'small-1')
    expect(written.length).toBeGreaterThan(0)
    expect(written.every(({ headers }) => headers['authorization'] === 'Bearer key-of-a-test')).toBe(true)
  })

  test('the client’s key never reaches a summary upstream of the operator’s', async () => {
    await using stand = await summaryStand()
    await stand.agent(long).turns(TURNS, { pause: stand.quiet })
    expect(stand.model.calls.length).toBeGreaterThan(0)
    for (const { headers, body } of stand.model.calls) {
      expect(JSON.stringify([headers, body])).not.toContain('key-of-a-test')
    }
  })
})
