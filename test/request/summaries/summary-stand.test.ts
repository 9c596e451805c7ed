import { describe, expect, test } from 'vitest'
import { openMemoryStore } from '../../../src/stores/memory-store.ts'
import { serve, settingsFolder } from '../../programs/program.ts'
import { completion } from '../../support/fake-upstream.ts'
import { keptOpen, summaryStand } from './summary-stand.ts'

// What the tests of summaries stand on; the promises themselves are told elsewhere.
describe('the stand for summaries', () => {
  test('an agent’s conversation grows by a round a request, until compactions hold it within the window', async () => {
    await using stand = await summaryStand()
    const turns = await stand.agent().turns(24, { pause: stand.quiet })
    expect(turns.map(({ status }) => status)).toEqual(turns.map(() => 200))
    expect(turns[0]?.received).toHaveLength(2)
    expect(turns[3]?.received).toHaveLength(2 + 3 * 2)
    expect(turns[3]).toMatchObject({ action: 'relayed', summary: 'none', attempts: 1 })
    expect(turns.at(-1)?.action).toBe('compacted')
    expect(turns.at(-1)?.received.length).toBeLessThan(2 + 23 * 2)
  })

  test('what is asked at the same time is told apart, and nobody’s requests are mixed up', async () => {
    await using stand = await summaryStand()
    const [one, other] = [
      stand.agent(),
      stand.agent({ authorization: 'Bearer other', task: 'Something else.' }),
    ]
    const [first, second] = await Promise.all([one.turns(3), other.turns(3)])
    for (const { received } of first) expect(received[1]).toContain('nightly run')
    for (const { received } of second) expect(received[1]).toContain('Something else')
    const given = one.again({ signal: AbortSignal.abort() })
    await expect(given).rejects.toThrow(/abort/)
    const both = await Promise.all([one.again(), one.again()])
    expect(both[0].received).toEqual(both[1].received)
  })

  test('a replica sees the same upstreams and, if it is told so, the same store', async () => {
    const store = keptOpen(openMemoryStore({ bytesMax: 16_000_000, lifetimeMs: 0 }))
    await using stand = await summaryStand({ store })
    const agent = stand.agent()
    const before = await agent.turns(24)
    await stand.foldgate.close()
    const { url } = await stand.replica()
    const after = await agent.again({ url })
    expect(after.received).toEqual(before.at(-1)?.received)
  })

  test('what a client writes into its messages at each request arrives', async () => {
    await using stand = await summaryStand()
    const clock = { role: 'system', content: '' }
    const agent = stand.agent({
      asSent: ([, ...rest], turn) => [{ ...clock, content: `It is ${turn} o’clock.` }, ...rest],
    })
    const turns = await agent.turns(3)
    expect(turns.map(({ received }) => received[0])).toEqual(
      [0, 1, 2].map((turn) => JSON.stringify({ ...clock, content: `It is ${turn} o’clock.` })),
    )
  })

  test('settings are those of a foldgate.yaml', async () => {
    await using stand = await summaryStand({ settings: { limits: { body_mb: 1 } } })
    const large = stand.agent({ more: { metadata: { padding: 'x'.repeat(2_000_000) } } })
    expect(await large.turn()).toMatchObject({ status: 413, attempts: 0 })
  })

  test('a script may stand in for the strict upstream', async () => {
    await using stand = await summaryStand({ script: completion('fine') })
    expect(await stand.agent().turn()).toMatchObject({ status: 200, text: expect.stringContaining('fine') })
  })

  test('Foldgates in processes of their own share settings, and reach the stand-in', async () => {
    await using stand = await summaryStand()
    const settings = { upstreams: { ...stand.upstreams, default: { url: stand.upstreamUrl } } }
    const cwd = await settingsFolder({ ...settings, store: { url: 'memory:' } }, stand.profile)
    const { url, origin } = await serve([], { cwd })
    expect(await stand.agent().turn({ url })).toMatchObject({ status: 200, attempts: 1 })
    const asked = { model: 'cheap-1', messages: [{ role: 'user', content: 'Summarise src/a.ts.' }] }
    const body = JSON.stringify(asked)
    const answer = await fetch(`${origin}/u/cheap/v1/chat/completions`, { method: 'POST', body })
    expect(answer.status).toBe(200)
    expect(stand.model.calls).toMatchObject([{ text: 'Summarise src/a.ts.', status: 200 }])
  })
})
