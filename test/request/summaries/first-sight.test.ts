import { describe, expect, test } from 'vitest'
import { profileSchema } from '../../../src/profiles/schema.ts'
import { completion } from '../../support/fake-upstream.ts'
import type { Agent, Turn } from './growing-agent.ts'
import { summaryStand, type SummaryStandOptions } from './summary-stand.ts'
import { recapsIn, summariesIn, turnsUntil } from './turns-until.ts'

const noTurn: Pick<Turn, 'received'> = { received: [] }

/** An agent that has talked past Foldgate so far. */
async function agentWithHistory(agent: Agent, rounds: number): Promise<Agent> {
  await agent.turns(rounds, { headers: { 'x-foldgate-bypass': '1' } })
  return agent
}

/** A history that exceeds the window by far is bypassed without a word. */
const anything: SummaryStandOptions = { script: completion('fine') }

describe('a long conversation at first sight', () => {
  test('has a recap at once; it is summarised afterwards, and the next compaction stands on that', async () => {
    await using stand = await summaryStand({ ...anything, model: { delayMs: 20 } })
    const agent = await agentWithHistory(stand.agent({ roundTokens: 1000 }), 20)
    const first = await agent.turn()
    expect(first).toMatchObject({ status: 200, action: 'compacted', summary: 'recap' })
    expect(recapsIn(first)).toHaveLength(1)
    // A long transcript takes a while to be made.
    await expect.poll(() => stand.model.calls.length).toBeGreaterThan(0)
    await stand.quiet()
    const written = stand.model.calls.at(-1)?.answer ?? 'none'
    // Until the next compaction not a byte of the view changes.
    const again = await agent.again()
    expect(again.received).toEqual(first.received)
    const next = (await turnsUntil(agent, ({ summary }) => summary === 'ready', { pause: stand.quiet })).at(
      -1,
    )
    expect(recapsIn(next ?? noTurn)).toEqual([])
    const [standing = ''] = summariesIn(next ?? noTurn)
    const last = stand.model.calls.at(-1)
    expect(standing.includes(written) || (last?.text.includes(written) ?? false)).toBe(true)
  })

  test('is summarised in pieces within the window of the summary model, as the profile that names it says', async () => {
    await using stand = await summaryStand({ ...anything, profiles: summaryProfiles() })
    const agent = await agentWithHistory(stand.agent({ roundTokens: 400 }), 60)
    const first = await agent.turn()
    expect(first).toMatchObject({ status: 200, action: 'compacted', summary: 'recap' })
    await expect.poll(() => stand.model.calls.length).toBeGreaterThan(2)
    await stand.quiet()
    const { calls } = stand.model
    for (const { promptTokens, status } of calls) {
      expect(status).toBe(200)
      expect(promptTokens).toBeLessThanOrEqual(SMALL_WINDOW)
    }
    for (const [index, { answer }] of calls.slice(0, -1).entries())
      expect(calls[index + 1]?.text).toContain(answer)
    // Every folded round was read, and none twice.
    const read = calls.flatMap(({ text }) => roundsIn(text))
    expect(read).toEqual(Array.from({ length: read.length }, (_, index) => index + 1))
    expect(read.length).toBeGreaterThan(40)
  })

  // Where the compactions of a history fell before its end, the request waited for a summary of it all, up to
  // `summary.wait_ms`, and was sent with a recap nevertheless: only a compaction that is made now can stand on one.
  test.each([
    ['mode blocking', { summary: { mode: 'blocking' } }, {}],
    ['x-foldgate-compact: summarize', {}, { 'x-foldgate-compact': 'summarize' }],
  ])('is never waited for in vain (%s)', async (_, profile, headers) => {
    const states: (string | null)[] = []
    for (const rounds of [18, 19, 20]) {
      await using stand = await summaryStand({ ...anything, profile })
      const agent = stand.agent({ roundTokens: 1000, headers })
      // The upstream has accepted whoever it is.
      await stand.agent({ task: 'Something else.' }).turn()
      await agentWithHistory(agent, rounds)
      const first = await agent.turn()
      expect(first).toMatchObject({ status: 200, action: 'compacted' })
      const callsBefore = stand.model.calls.filter(({ endedMs }) => endedMs !== null).length
      expect(callsBefore > 0).toBe(first.summary === 'ready')
      states.push(first.summary)
    }
    expect(new Set(states)).toEqual(new Set(['ready', 'recap']))
  })

  test('and where its pieces fail in the middle, the recap stays and nothing of them stands anywhere', async () => {
    await using stand = await summaryStand({
      ...anything,
      profiles: summaryProfiles(),
      model: { quality: (_, index) => (index === 1 ? 'only-reasoning' : 'good') },
    })
    const agent = await agentWithHistory(stand.agent({ roundTokens: 400 }), 60)
    await agent.turn()
    await expect.poll(() => stand.model.calls.length).toBe(2)
    await stand.quiet()
    expect(stand.model.calls).toHaveLength(2)
    const again = await agent.again()
    expect(again).toMatchObject({ status: 200, summary: 'recap' })
    expect(again.header('x-foldgate-summary-reason')).toBe('only-reasoning')
    expect(summariesIn(again)).toEqual([])
  })
})

// --- internal ---

const SMALL_WINDOW = 6000

function roundsIn(text: string): readonly number[] {
  return [...text.matchAll(/"path":"src\/f(\d+)\.ts"/g)].map((found) => Number(found[1]))
}

/** The agent's profile, and one for the model that writes its summaries. */
function summaryProfiles() {
  const agents = profileSchema.parse({
    window: { tokens: 8000, output_reserve: 1000 },
    clear: { enabled: false },
    summary: { upstream: 'cheap', model: 'cheap-1' },
  })
  const cheap = profileSchema.parse({ models: ['cheap-*'], window: { tokens: SMALL_WINDOW } })
  return new Map([
    ['default', { ...agents, name: 'default' }],
    ['small', { ...cheap, name: 'small' }],
  ])
}
