import { describe, expect, test } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { answerOf, apis, ask, isPassed, plainStand, warmUp } from './plain-stand.ts'

const ways = apis.flatMap((api) =>
  [false, true].map((stream) => [api.name, stream ? 'streamed' : 'plain', api, { stream }] as const),
)

/** What metrics tell of so many requests. */
const counts = (requests: number) => ({
  requests,
  received: requests * 31,
  sent: requests * 31,
  cached: requests * 7,
  pressures: requests,
  firstBytes: requests,
  added: requests,
})

describe('a small request of a kind that was looked into', () => {
  test.each(ways)('%s, %s: goes on as it came, and is counted', async (name, _, api, more) => {
    await using at = await plainStand(answerOf(api))
    const lookedInto = await warmUp((turn) => ask(at, api.path, api.body(`Ask ${turn}.`, more)))
    const told = async () => {
      const { sum } = await at.metrics()
      return {
        requests: sum('foldgate_requests_total', { action: 'relayed', endpoint: name, profile: 'default' }),
        received: sum('foldgate_prompt_tokens_total', { stage: 'received' }),
        sent: sum('foldgate_prompt_tokens_total', { stage: 'sent' }),
        cached: sum('foldgate_prompt_tokens_total', { stage: 'cached' }),
        pressures: sum('foldgate_pressure_count'),
        firstBytes: sum('foldgate_upstream_first_byte_seconds_count'),
        added: sum('foldgate_added_seconds_count'),
      }
    }
    const passed = lookedInto + 1
    await eventually(async () => expect(await told()).toEqual(counts(passed)))

    const body = api.body('Ä\u0000 "quoted" 😀\n', { ...more, unknown_field: [1, null] })
    const answer = await ask(at, api.path, body)
    expect(at.upstream.requests).toHaveLength(passed + 1)
    expect(at.upstream.requests.at(-1)?.body.toString()).toBe(body)
    expect(answer.status).toBe(200)
    const direct = await ask({ url: at.upstream.url }, api.path, body)
    expect(answer.body.toString()).toBe(direct.body.toString())
    expect(answer.body.length).toBeGreaterThan(50)
    const bytes = Buffer.byteLength(body)
    expect(answer.headers).toMatchObject({
      'x-foldgate-action': 'relayed',
      'x-foldgate-profile': 'default',
      'x-foldgate-attempts': '1',
      'x-foldgate-tokens': `<${bytes};sent=<${bytes}`,
      'x-foldgate-window': '100000;source=config',
      'x-foldgate-pressure': '<0.01',
    })
    await eventually(async () => expect(await told()).toEqual(counts(passed + 1)))

    // The journal has a row of each that was looked into, and of no other.
    const other = await ask(at, api.path, api.body('Ask.', more).replace('test-model', 'another-model'))
    expect(isPassed(other)).toBe(false)
    const rows = await at.rows(lookedInto + 1)
    expect(rows.map(({ model }) => model)).toEqual([
      ...Array.from({ length: lookedInto }, () => 'test-model'),
      'another-model',
    ])
    await at.foldgate.close()
    const totals = await at.store.readRows('totals', { from: 'oldest', beyond: null, limit: 10 })
    const requests = totals.map(({ text }) => Number(JSON.parse(text).requests))
    expect(requests.reduce((sum, each) => sum + each, 0)).toBe(passed + 2)
  })

  // Each told the id of the one that had been looked into: by it a client found, or deleted, somebody else's conversation.
  test('tells nothing of the one that was looked into: no id, no cache, no count', async () => {
    const [{ path, body, plain }] = apis
    await using at = await plainStand(plain, { profile: {} })
    const asking = (text: string) => ask(at, path, body(text).replace('test-model', 'gpt-4o'))
    const first = await asking('A question. '.repeat(100))
    expect(first.headers).toHaveProperty('x-foldgate-conversation')
    expect(first.headers['x-foldgate-cache']).toBe('read=7')
    await warmUp(() => asking('A question. '.repeat(100)))
    const { headers } = await asking('Ask.')
    const bytes = body('Ask.').length - 'test-model'.length + 'gpt-4o'.length
    expect(headers['x-foldgate-tokens']).toBe(`<${bytes};sent=<${bytes}`)
    expect(headers).not.toHaveProperty('x-foldgate-conversation')
    expect(headers).not.toHaveProperty('x-foldgate-cache')
  })

  test('is looked into each time if the settings say so', async () => {
    const [api] = apis
    await using at = await plainStand(answerOf(api), { detailed: null })
    const bodies = Array.from({ length: 5 }, (_each, turn) => api.body(`Ask ${turn}.`))
    const ids = new Set<unknown>()
    for (const body of bodies) ids.add((await ask(at, api.path, body)).headers['x-foldgate-conversation'])
    expect(ids.size).toBe(5)
    expect((await at.rows(5)).map(({ conversation }) => conversation)).toEqual([...ids])
    expect(at.upstream.requests.map((each) => each.body.toString())).toEqual(bodies)
  })

  test('is looked into so often a second, and then counted', async () => {
    const [api] = apis
    await using at = await plainStand(answerOf(api), { detailed: 3 })
    let passed = 0
    for (let turn = 0; turn < 12; turn += 1)
      if (isPassed(await ask(at, api.path, api.body(`Ask ${turn}.`)))) passed += 1
    expect(passed).toBeGreaterThan(2)
    expect(passed).toBeLessThan(9)
    expect(at.upstream.requests).toHaveLength(12)
    expect((await at.rows(12 - passed)).length).toBe(12 - passed)
  })
})
