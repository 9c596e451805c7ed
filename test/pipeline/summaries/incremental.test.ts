import { describe, expect, test } from 'vitest'
import type { TestMessage } from '../../support/conversations.ts'
import { profilesOf } from '../../support/profiles.ts'
import { completion } from '../../support/fake-upstream.ts'
import { long, recapsIn, summariesIn, turnWhere, type Agent } from './growing-agent.ts'
import { roundsIn, summaryStand, type SummaryStand, type SummaryStandOptions } from './summary-stand.ts'

/** What has left the view for good, by the stand-in's own count of what the client sent. */
async function foldedTokens(
  stand: SummaryStand,
  messages: readonly TestMessage[],
  kept: number,
): Promise<number> {
  const expired = messages.slice(0, messages.length - kept)
  const before = stand.model.calls.length
  await fetch(`${stand.model.url}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'count', messages: expired }),
  }).catch(() => null)
  return stand.model.calls[before]?.promptTokens ?? 0
}

describe('summaries are made incrementally', () => {
  test('each call carries the summary before and only what is new; all send one and a half times what was folded at most', async () => {
    await using stand = await summaryStand()
    const agent = stand.agent(long)
    const turns = await agent.turns(16, { pause: stand.quiet })
    const { calls } = stand.model
    const asked = stand.model.promptTokens()
    expect(calls.length).toBeGreaterThan(3)
    for (const [index, { answer }] of calls.slice(0, -1).entries())
      expect(calls[index + 1]?.text).toContain(answer)
    const sent = calls.flatMap(({ text }) => roundsIn(text))
    expect(sent).toEqual(Array.from({ length: sent.length }, (_, index) => index + 1))
    const kept = (turns.at(-1)?.received.length ?? 0) - 3
    expect(asked).toBeLessThanOrEqual(1.5 * (await foldedTokens(stand, agent.messages(), kept)))
  })

  // Failed calls were charged by the usage that they stated, and errors state none: with an upstream that was down,
  // every compaction sent the whole folded history again, a conversation of 16,000 tokens had cost 140,000 after 45 requests.
  test('also where every call fails', async () => {
    await using stand = await summaryStand({ model: { quality: 500 } })
    const agent = stand.agent(long)
    const turns = await agent.turns(20, { pause: stand.quiet })
    expect(turns.map(({ status }) => status)).toEqual(turns.map(() => 200))
    const asked = stand.model.promptTokens()
    expect(stand.model.calls.length).toBeGreaterThan(1)
    const kept = (turns.at(-1)?.received.length ?? 0) - 3
    expect(asked).toBeLessThanOrEqual(1.5 * (await foldedTokens(stand, agent.messages(), kept)))
  })

  // What summaries had cost was kept under the conversation's id, which all conversations share that begin alike. Of an
  // agent that is given the same task every night only the first night's run was ever summarised.
  test('what another conversation cost that only began alike does not count', async () => {
    await using stand = await summaryStand()
    const callsOf = async (night: number): Promise<number> => {
      const before = stand.model.calls.length
      const agent = stand.agent({
        ...long,
        asSent: (messages) =>
          messages.map((message) =>
            message['role'] === 'tool'
              ? { ...message, content: `Night ${night}: ${String(message['content'])}` }
              : message,
          ),
      })
      const turns = await agent.turns(12, { pause: stand.quiet })
      expect(turns.at(-1)?.summary).toBe('ready')
      return stand.model.calls.length - before
    }
    const first = await callsOf(1)
    expect(first).toBeGreaterThan(1)
    expect(await callsOf(2)).toBe(first)
  })
})

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
    const agent = await agentWithHistory(stand.agent(long), 20)
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
    const next = await turnWhere(agent, ({ summary }) => summary === 'ready', { pause: stand.quiet })
    expect(recapsIn(next)).toEqual([])
    const [standing = ''] = summariesIn(next)
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
  test('is never waited for in vain', async () => {
    const states: (string | null)[] = []
    for (const rounds of [18, 19, 20]) {
      await using stand = await summaryStand({ ...anything, profile: { summary: { mode: 'blocking' } } })
      const agent = stand.agent(long)
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
})

const SMALL_WINDOW = 6000

/** The agent's profile, and one for the model that writes its summaries. */
function summaryProfiles() {
  return profilesOf({
    default: {
      window: { tokens: 8000, output_reserve: 1000 },
      clear: { enabled: false },
      summary: { upstream: 'cheap', model: 'cheap-1' },
    },
    small: { models: ['cheap-*'], window: { tokens: SMALL_WINDOW } },
  })
}
