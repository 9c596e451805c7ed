import { describe, expect, test } from 'vitest'
import type { TestMessage } from '../../support/conversations.ts'
import { completion, json } from '../../support/fake-upstream.ts'
import { chatOf, postChat } from '../../support/post-chat.ts'
import { isPending, long, recapsIn, summariesIn, turnsUntil } from './growing-agent.ts'
import { summaryStand } from './summary-stand.ts'

/** Enough for a compaction, and to ask for its summary. */
const TURNS = 9

const refused = json({ error: { message: 'Incorrect API key provided.', code: 'invalid_api_key' } }, 401)

// Whoever reaches Foldgate could have had the operator pay for summaries of whatever they sent.
test.each(['background', 'blocking'])(
  'a stranger spends nobody’s money with a key that the upstream refuses none is asked for, not even where one is wished for and others are accepted (%s)',
  async (mode) => {
    await using stand = await summaryStand({
      script: (request) => (request.headers.authorization === 'Bearer bad' ? refused : completion('fine')),
      profile: { summary: { mode } },
    })
    const [good, bad] = ['good', 'bad'].map((key) => stand.agent({ ...long, authorization: `Bearer ${key}` }))
    await good?.turns(TURNS, { pause: stand.quiet })
    const calls = stand.model.calls.length
    expect(calls).toBeGreaterThan(0)
    const turns = (await bad?.turns(TURNS)) ?? []
    await bad?.again({ headers: { 'x-foldgate-compact': 'summarize' } })
    await stand.quiet()
    expect(new Set(turns.map(({ status }) => status))).toEqual(new Set([401]))
    expect(stand.model.calls).toHaveLength(calls)
    expect(turns.flatMap(summariesIn)).toEqual([])
  },
)

describe('who wants none gets none', () => {
  test.each([
    ['bypassed', { 'x-foldgate-bypass': '1' }, {}],
    ['told to leave it', { 'x-foldgate-compact': 'off' }, {}],
    ['told to truncate', { 'x-foldgate-compact': 'truncate' }, {}],
    ['only observed', {}, { observe: true }],
    ['under a profile without summaries', {}, { summary: { mode: 'off' } }],
    ['under a profile that truncates', {}, { strategy: 'truncate' }],
    // Four were asked for until the second overflow, and recovery used none.
    ['under a profile that waits for an overflow', {}, { trigger: 'off' }],
  ] as const)('requests that are %s ask for no summary', async (_, headers, profile) => {
    await using stand = await summaryStand({ profile, script: completion('fine') })
    const turns = await stand.agent({ ...long, headers }).turns(TURNS)
    await stand.quiet()
    expect(stand.model.calls).toHaveLength(0)
    expect(turns.every(({ status }) => status === 200)).toBe(true)
    expect(turns.flatMap(summariesIn)).toEqual([])
    expect(turns.at(-1)?.summary ?? 'none').toBe(
      turns.some((turn) => recapsIn(turn).length > 0) ? 'recap' : 'none',
    )
  })

  test('a request that was recovered asks for none: what the upstream took is not what was planned from', async () => {
    await using stand = await summaryStand({
      profile: { window: { tokens: 16_000, output_reserve: 1000 }, summary: { at: 0.4 } },
    })
    const agent = stand.agent(long)
    await agent.turns(9, { headers: { 'x-foldgate-bypass': '1' } })
    expect(await agent.turn()).toMatchObject({ status: 200, action: 'recovered' })
    await stand.quiet()
    expect(stand.model.calls).toHaveLength(0)
  })

  test('a client’s own request for a summary of what stands above asks for none, and uses what is there', async () => {
    await using stand = await summaryStand({ script: completion('fine') })
    const agent = stand.agent(long)
    await turnsUntil(agent, isPending, { pause: stand.quiet })
    expect(stand.model.calls).toHaveLength(1)
    const asked: readonly TestMessage[] = [
      ...agent.messages(),
      { role: 'assistant', content: 'Done.' },
      { role: 'user', content: 'Summarise the above.' },
    ]
    const again = await postChat(stand.url, chatOf(asked))
    await stand.quiet()
    expect(again).toMatchObject({ status: 200, action: 'relayed' })
    // A conversation that nothing is known of, far too long, with such a request at its end.
    const unknown = stand.agent({ ...long, task: 'Something else.' })
    for (let round = 0; round < 3; round += 1) await unknown.turn()
    const many = Array.from({ length: 4 }, () => unknown.messages().slice(2)).flat()
    const fitted = await postChat(
      stand.url,
      chatOf([
        ...unknown.messages(),
        ...many,
        { role: 'user', content: 'Summarize the conversation above.' },
      ]),
    )
    await stand.quiet()
    expect(fitted).toMatchObject({ status: 200, action: 'compacted' })
    expect(fitted.header('x-foldgate-summary')).toBe('recap')
    expect(stand.model.calls).toHaveLength(1)
  })

  // Anybody with a client key could wish for summaries that the operator, who pays for them, had not turned on.
  test('whoever has a client key gets summaries where the operator has them, and no others by a wish', async () => {
    const own = { settings: { client_keys: [{ name: 'ada', key_env: 'ADA' }] }, env: { ADA: 'ada' } }
    const wish = { headers: { 'x-foldgate-compact': 'summarize' } }
    for (const [strategy, isMade] of [
      ['truncate', false],
      ['summarize', true],
    ] as const) {
      await using stand = await summaryStand({ ...own, profile: { strategy } })
      await stand.agent({ ...long, authorization: 'Bearer ada' }).turns(TURNS, wish)
      await stand.quiet()
      expect(stand.model.calls.length > 0).toBe(isMade)
    }
  })
})
