import { describe, expect, test } from 'vitest'
import type { TestMessage } from '../../support/conversations.ts'
import type { SummaryQuality } from '../../support/summary-model.ts'
import { summaryStand, type SummaryStand } from './summary-stand.ts'

const long = { roundTokens: 1000 }

/** The rounds whose messages stand in a call, by their number: a summary never quotes what a tool was called with. */
function roundsIn(text: string): readonly number[] {
  return [...text.matchAll(/"path":"src\/f(\d+)\.ts"/g)].map((found) => Number(found[1]))
}

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
    const turns = await agent.turns(22, { pause: stand.quiet })
    const { calls } = stand.model
    const asked = stand.model.promptTokens()
    expect(calls.length).toBeGreaterThan(5)
    for (const [index, { answer }] of calls.slice(0, -1).entries())
      expect(calls[index + 1]?.text).toContain(answer)
    const sent = calls.flatMap(({ text }) => roundsIn(text))
    expect(sent).toEqual(Array.from({ length: sent.length }, (_, index) => index + 1))
    const kept = (turns.at(-1)?.received.length ?? 0) - 3
    expect(asked).toBeLessThanOrEqual(1.5 * (await foldedTokens(stand, agent.messages(), kept)))
  })

  // Failed calls were charged by the usage that they stated, and errors state none: with an upstream that was down,
  // every compaction sent the whole folded history again, a conversation of 16,000 tokens had cost 140,000 after 45 requests.
  test.each<SummaryQuality>([500, 'disconnect', 'gibberish'])(
    'also where every call fails (%s)',
    async (quality) => {
      await using stand = await summaryStand({ model: { quality } })
      const agent = stand.agent(long)
      const turns = await agent.turns(20, { pause: stand.quiet })
      expect(turns.map(({ status }) => status)).toEqual(turns.map(() => 200))
      const asked = stand.model.promptTokens()
      expect(stand.model.calls.length).toBeGreaterThan(1)
      const kept = (turns.at(-1)?.received.length ?? 0) - 3
      expect(asked).toBeLessThanOrEqual(1.5 * (await foldedTokens(stand, agent.messages(), kept)))
    },
  )

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
      const turns = await agent.turns(14, { pause: stand.quiet })
      expect(turns.at(-1)?.summary).toBe('ready')
      return stand.model.calls.length - before
    }
    const first = await callsOf(1)
    expect(first).toBeGreaterThan(1)
    expect(await callsOf(2)).toBe(first)
  })
})
