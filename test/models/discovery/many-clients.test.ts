import { describe, expect, test } from 'vitest'
import { json, silence, type Script } from '../../support/fake-upstream.ts'
import {
  bearer,
  catalogue,
  discovery,
  either,
  HOUR_MS,
  list,
  MINUTE_MS,
  props,
  vllm,
  type Discovery,
} from './window-server.ts'

const chat = (base: string) => ({ path: `${base}/chat/completions` })

/** Lets in who has this key. */
const guarded = (key: string, answer: Script | object) =>
  either(
    ({ headers }) => headers.authorization === `Bearer ${key}`,
    answer,
    json({ error: 'who are you?' }, 401),
  )

/** Answers only at addresses that begin so. */
const onlyProps = (beginning: string) => either(({ url }) => url.startsWith(beginning), props(8192))

/** One request each of 20 clients whose credentials nobody gave them. */
async function askAsTwenty(at: Discovery, windowTokens?: number): Promise<void> {
  for (let client = 0; client < 20; client += 1)
    expect(await at.tokens('m', bearer(`made-up-${client}`))).toBe(windowTokens)
}

// Those that waited for the very first answer were not counted. 500 names that came before it were 500 runs that
// all began together: 501 requests at once to a server that was to get 32.
test('of many models at once so many are asked about at a time, those that wait for the first answer among them', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  let running = 0
  let most = 0
  const counting: Script = async (_request, outgoing) => {
    most = Math.max(most, (running += 1))
    outgoing.on('close', () => {
      running -= 1
    })
    await released
    return onlyProps('/props')
  }
  await using at = await discovery({}, { otherwise: counting })
  for (let model = 0; model < 500; model += 1) at.look(`m${model}`)
  release()
  await at.settled('m0')
  await at.settled('m20')
  expect(most).toBeLessThanOrEqual(40)
  expect(at.asked().length).toBeLessThan(60)
  // The rest is asked about when it is asked for again.
  expect(await at.tokens('m499')).toBe(8192)
})

describe('an upstream that hangs', () => {
  // The bound was one for the process, and each run kept its place until its slowest request was given up: forty
  // requests to a server that hung were enough for no other upstream to be asked for anything.
  test('holds up no other: a healthy one is asked beside it', async () => {
    await using well = await discovery(vllm(8192, 'm'))
    const others = { well: { url: well.server.url } }
    await using hung = await discovery({}, { otherwise: silence, timeBoxMs: HOUR_MS, others })
    for (let model = 0; model < 100; model += 1) hung.look(`m${model}`)
    await expect.poll(() => hung.asked().length).toBeGreaterThan(0)
    expect(await hung.tokens('m', { upstream: 'well' })).toBe(8192)
  })

  test('with one way in holds up no other client of it', async () => {
    const gemini = { models: [{ name: 'models/g', inputTokenLimit: 9000 }] }
    const otherwise = either(({ headers }) => headers.authorization === 'Bearer slow', silence, gemini)
    await using at = await discovery({}, { otherwise, base: '/v1beta/openai', timeBoxMs: HOUR_MS })
    at.look('g', bearer('slow'))
    expect(await at.tokens('g', bearer('quick'))).toBe(9000)
  })
})

describe('made-up credentials', () => {
  // What was known was known by credential, also of servers that never see it: 20 made-up tokens were 280 requests
  // with the key that Foldgate holds, and with its owner's quota.
  test.each([
    ['whose key Foldgate holds', { key: () => 'secret' }],
    ['whose key is among its headers', { headers: { Authorization: 'Bearer secret' } }],
  ])('at an upstream %s are one client to it', async (_what, settings) => {
    await using at = await discovery(list({ id: 'm' }), { settings })
    await askAsTwenty(at)
    expect(new Set(at.asked()).size).toBe(at.asked().length)
    const seen = new Set(at.server.questions.map(({ headers }) => headers.authorization))
    expect([...seen]).toEqual(['Bearer secret'])
  })

  test('are one client where they are keys of Foldgate, or where the upstream may not see them', async () => {
    await using other = await discovery(vllm(9000, 'm'))
    await using at = await discovery(vllm(9000, 'm'), { others: { other: { url: other.server.url } } })
    for (let client = 0; client < 5; client += 1) {
      await at.ask('m', { ...bearer(`client-${client}`), withholdCredential: true })
      await at.ask('m', { ...bearer(`client-${client}`), upstream: 'other' })
    }
    expect([at.asked(), other.asked()]).toEqual([['/v1/models'], ['/v1/models']])
  })

  test('at an upstream that sees them cost one request each, once its kind is known', async () => {
    await using at = await discovery(catalogue(9000))
    await at.ask('m', bearer('first'))
    await expect.poll(() => at.asked().length).toBe(10)
    await askAsTwenty(at, 9000)
    expect(at.asked().slice(10)).toEqual(Array(20).fill('/v1/models'))
  })

  test('that a server does not know cost one request each, and the same one a request a minute at most', async () => {
    const routes = { 'GET /props': guarded('mine', props(6000)) }
    await using at = await discovery(routes, { otherwise: guarded('mine', json({}, 404)) })
    await askAsTwenty(at)
    expect(at.asked()).toEqual(Array(20).fill('/v1/models'))
    for (let model = 0; model < 20; model += 1) await at.ask(`m${model}`, bearer('made-up-1'))
    expect(at.asked().length).toBe(20)
    // Nor do they keep it from being asked with one that it knows.
    expect(await at.tokens('m', bearer('mine'))).toBe(6000)
  })

  // An older llama-server has a list for everybody, in which nothing is of use, and all else for who has its key.
  test('that are only let in to a list cost one request each after the first', async () => {
    await using at = await discovery(list({ id: 'm', owned_by: 'llamacpp', meta: { n_ctx_train: 40_960 } }), {
      otherwise: guarded('mine', props(6000)),
    })
    await at.ask('m', bearer('made-up'))
    const swept = at.asked().length
    await askAsTwenty(at)
    expect(at.asked().length).toBe(swept + 20)
    expect(await at.tokens('m', bearer('mine'))).toBe(6000)
  })

  test('get another chance: a key may be given its rights while it is in use', async () => {
    let isKnown = false
    await using at = await discovery({
      'GET /v1/models': either(() => isKnown, { data: [{ id: 'm', max_model_len: 9000 }] }, json({}, 403)),
    })
    expect(await at.ask('m')).toBeNull()
    isKnown = true
    expect(await at.ask('m')).toBeNull()
    at.clock.nowMs += 2 * MINUTE_MS
    expect(await at.tokens('m')).toBe(9000)
  })

  test('models that a client made up do not end what is of use to others', async () => {
    await using at = await discovery({ 'GET /props': onlyProps('/props?model=m&') })
    expect(await at.tokens('m')).toBe(8192)
    for (let model = 0; model < 10; model += 1) await at.ask(`made-up-${model}`)
    at.clock.nowMs += 2 * MINUTE_MS
    expect(await at.tokens('m', bearer('other'))).toBe(8192)
  })
})

describe('made-up paths', () => {
  // Each path before `/chat/completions` was a server of its own, to be asked everything that a server could be:
  // 200 requests under made-up paths were 2,400 to the upstream.
  test('are not asked about', async () => {
    await using at = await discovery({})
    for (let path = 0; path < 20; path += 1) await at.ask('m', chat(`/v1/made-up-${path}`))
    expect(at.asked()).toEqual([])
    expect(at.shouldWait('m', chat('/v1/made-up-1'))).toBe(false)
  })

  test("that name a deployment in Azure's way are the upstream's own", async () => {
    const models = { data: ['m', 'n'].map((id) => ({ id, max_model_len: 9000 })) }
    await using at = await discovery({ 'GET /models': models, 'GET /openai/v1/models': models }, { base: '' })
    // Made-up ones do not take their place, nor that of paths which servers have.
    for (let path = 0; path < 50; path += 1) await at.ask('m', chat(`/made-up-${path}`))
    expect(await at.tokens('m', chat('/openai/deployments/m'))).toBe(9000)
    expect(await at.tokens('n', chat('/openai/deployments/n'))).toBe(9000)
    expect(await at.tokens('m', chat('/openai/v1'))).toBe(9000)
    expect(at.asked()).toEqual(['/models', '/openai/v1/models'])
  })
})
