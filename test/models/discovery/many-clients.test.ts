import { describe, expect, test } from 'vitest'
import { json, silence, type Script } from '../../support/fake-upstream.ts'
import { windowServer, windowStand, type Routes, type WindowStand } from './window-server.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

const vllm = (windowTokens: number, ...ids: string[]) => ({
  data: ids.map((id) => ({ id, owned_by: 'vllm', max_model_len: windowTokens })),
})

const chat = (base: string) => ({ path: `${base}/chat/completions` })

const gemini = { models: [{ name: 'models/g', inputTokenLimit: 9000 }] }

/** Lets in who has this key. */
const guarded =
  (key: string, script: Script): Script =>
  (request, outgoing, incoming) =>
    (request.headers.authorization === `Bearer ${key}` ? script : json({ error: 'who are you?' }, 401))(
      request,
      outgoing,
      incoming,
    )

const bearer = (token: string) => ({ credential: token, rawHeaders: ['Authorization', `Bearer ${token}`] })

/** How many requests ran at once at most. */
function counting(script: Script): { readonly script: Script; readonly most: () => number } {
  let running = 0
  let most = 0
  return {
    most: () => most,
    script: (request, outgoing, incoming) => {
      running += 1
      most = Math.max(most, running)
      outgoing.on('close', () => {
        running -= 1
      })
      void script(request, outgoing, incoming)
    },
  }
}

async function settled(stand: WindowStand, model: string): Promise<void> {
  await stand.windows.settled(stand.question(model), MINUTE_MS)
}

describe('many models at once', () => {
  // Those that waited for the very first answer were not counted. 500 names that came before it were 500 runs that
  // all began together: 501 requests at once to a server that was to get 32.
  test('are asked about so many at a time, those that wait for the first answer among them', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const props = json({ default_generation_settings: { n_ctx: 8192 } })
    const { script, most } = counting(async (request, outgoing, incoming) => {
      await released
      await (request.url.startsWith('/props') ? props : json({}, 404))(request, outgoing, incoming)
    })
    await using server = await windowServer({}, script)
    await using stand = windowStand(server.url)
    for (let at = 0; at < 500; at += 1) stand.windows.lookup(stand.question(`m${at}`))
    release()
    await settled(stand, 'm0')
    await settled(stand, 'm20')
    expect(most()).toBeLessThanOrEqual(40)
    expect(server.questions.length).toBeLessThan(60)
    // The rest is asked about when it is asked for again.
    expect((await stand.ask('m499'))?.tokens).toBe(8192)
  })
})

describe('an upstream that hangs', () => {
  // The bound was one for the process, and each run kept its place until its slowest request was given up: forty
  // requests to a server that hung were enough for no other upstream to be asked for anything.
  test('holds up no other: a healthy one is asked beside it', async () => {
    await using hung = await windowServer({}, silence)
    await using well = await windowServer({ 'GET /v1/models': vllm(8192, 'm') })
    await using stand = windowStand(hung.url, { timeBoxMs: HOUR_MS, others: { well: { url: well.url } } })
    for (let at = 0; at < 100; at += 1) stand.windows.lookup(stand.question(`m${at}`))
    await expect.poll(() => hung.questions.length).toBeGreaterThan(0)
    expect((await stand.ask('m', { upstream: 'well' }))?.tokens).toBe(8192)
  })

  test('with one way in holds up no other client of it', async () => {
    await using server = await windowServer({}, (request, outgoing, incoming) => {
      const script = request.headers.authorization === 'Bearer slow' ? silence : json(gemini)
      return script(request, outgoing, incoming)
    })
    await using stand = windowStand(`${server.origin}/v1beta/openai`, { timeBoxMs: HOUR_MS })
    stand.windows.lookup(stand.question('g', bearer('slow')))
    expect((await stand.ask('g', bearer('quick')))?.tokens).toBe(9000)
  })
})

describe('made-up credentials', () => {
  // What was known was known by credential, also of servers that never see it: 20 made-up tokens were 280 requests
  // with the key that Foldgate holds, and with its owner's quota.
  test.each([
    ['whose key Foldgate holds', { key: () => 'secret' }],
    ['whose key is among its headers', { headers: { Authorization: 'Bearer secret' } }],
  ])('at an upstream %s are one client to it', async (_what, settings) => {
    await using server = await windowServer({ 'GET /v1/models': { data: [{ id: 'm' }] } })
    await using stand = windowStand(server.url, { settings })
    for (let at = 0; at < 20; at += 1) await stand.ask('m', bearer(`made-up-${at}`))
    const urls = server.questions.map(({ url }) => url)
    expect(new Set(urls).size).toBe(urls.length)
    expect(new Set(server.questions.map(({ headers }) => headers.authorization))).toEqual(
      new Set(['Bearer secret']),
    )
  })

  test('are one client where they are keys of Foldgate, or where the upstream may not see them', async () => {
    await using server = await windowServer({ 'GET /v1/models': vllm(9000, 'm') })
    await using stand = windowStand(server.url, { others: { other: { url: server.url } } })
    for (let at = 0; at < 5; at += 1) {
      await stand.ask('m', { ...bearer(`client-${at}`), withholdCredential: true })
      await stand.ask('m', { ...bearer(`client-${at}`), upstream: 'other' })
    }
    expect(server.questions.map(({ url }) => url)).toEqual(['/v1/models', '/v1/models'])
  })

  test('at an upstream that sees them cost one request each, once its kind is known', async () => {
    await using server = await windowServer({
      'GET /v1/models': { data: [{ id: 'm', context_length: 9000 }] },
    })
    await using stand = windowStand(server.url)
    await stand.ask('m', bearer('first'))
    await expect.poll(() => server.questions.length).toBe(10)
    const swept = server.questions.length
    for (let at = 0; at < 20; at += 1) {
      expect((await stand.ask('m', bearer(`client-${at}`)))?.tokens).toBe(9000)
    }
    expect(server.questions.slice(swept).map(({ url }) => url)).toEqual(Array(20).fill('/v1/models'))
  })

  test('that a server does not know cost one request each, and the same one a request a minute at most', async () => {
    await using server = await windowServer({}, guarded('mine', json({}, 404)))
    await using stand = windowStand(server.url)
    for (let at = 0; at < 20; at += 1) await stand.ask('m', bearer(`made-up-${at}`))
    expect(server.questions.map(({ url }) => url)).toEqual(Array(20).fill('/v1/models'))
    for (let at = 0; at < 20; at += 1) await stand.ask(`m${at}`, bearer('made-up-1'))
    expect(server.questions.length).toBe(20)
  })

  // An older llama-server has a list for everybody, in which nothing is of use, and all else for who has its key.
  test('that are only let in to a list cost one request each after the first', async () => {
    await using server = await windowServer(
      { 'GET /v1/models': { data: [{ id: 'm', owned_by: 'llamacpp', meta: { n_ctx_train: 40_960 } }] } },
      guarded('mine', json({ default_generation_settings: { n_ctx: 6000 } })),
    )
    await using stand = windowStand(server.url)
    await stand.ask('m', bearer('made-up'))
    const swept = server.questions.length
    for (let at = 0; at < 20; at += 1) await stand.ask('m', bearer(`made-up-${at}`))
    expect(server.questions.length).toBe(swept + 20)
    expect((await stand.ask('m', bearer('mine')))?.tokens).toBe(6000)
  })

  test('do not keep a server from being asked with one that it knows', async () => {
    const routes: Routes = {
      'GET /props': guarded('mine', json({ default_generation_settings: { n_ctx: 6000 } })),
    }
    await using server = await windowServer(routes, guarded('mine', json({}, 404)))
    await using stand = windowStand(server.url)
    for (let at = 0; at < 5; at += 1) expect(await stand.ask('m', bearer(`made-up-${at}`))).toBeNull()
    expect((await stand.ask('m', bearer('mine')))?.tokens).toBe(6000)
  })

  test('get another chance: a key may be given its rights while it is in use', async () => {
    let isKnown = false
    const list = json(vllm(9000, 'm'))
    await using server = await windowServer({
      'GET /v1/models': (...given: Parameters<Script>) => (isKnown ? list : json({}, 403))(...given),
    })
    await using stand = windowStand(server.url)
    expect(await stand.ask('m')).toBeNull()
    isKnown = true
    expect(await stand.ask('m')).toBeNull()
    stand.clock.nowMs += 2 * MINUTE_MS
    expect((await stand.ask('m'))?.tokens).toBe(9000)
  })

  test('models that a client made up do not end what is of use to others', async () => {
    await using server = await windowServer({
      'GET /props': (request, outgoing, incoming) => {
        const isKnown = request.url.startsWith('/props?model=m&')
        const script = isKnown ? json({ default_generation_settings: { n_ctx: 6000 } }) : json({}, 404)
        return script(request, outgoing, incoming)
      },
    })
    await using stand = windowStand(server.url)
    expect((await stand.ask('m'))?.tokens).toBe(6000)
    for (let at = 0; at < 10; at += 1) await stand.ask(`made-up-${at}`)
    stand.clock.nowMs += 2 * MINUTE_MS
    expect((await stand.ask('m', bearer('other')))?.tokens).toBe(6000)
  })
})

describe('made-up paths', () => {
  // Each path before `/chat/completions` was a server of its own, to be asked everything that a server could be:
  // 200 requests under made-up paths were 2,400 to the upstream.
  test('are not asked about', async () => {
    await using server = await windowServer({})
    await using stand = windowStand(server.url)
    for (let at = 0; at < 20; at += 1) await stand.ask('m', chat(`/v1/made-up-${at}`))
    expect(server.questions).toEqual([])
    expect(stand.windows.shouldWait(stand.question('m', chat('/v1/made-up-1')))).toBe(false)
  })

  test('do not take the place of paths that servers have', async () => {
    await using server = await windowServer({ 'GET /openai/v1/models': vllm(9000, 'm') })
    await using stand = windowStand(server.origin)
    for (let at = 0; at < 50; at += 1) await stand.ask('m', chat(`/made-up-${at}`))
    expect((await stand.ask('m', chat('/openai/v1')))?.tokens).toBe(9000)
  })

  test("that name a deployment in Azure's way are the upstream's own", async () => {
    await using server = await windowServer({ 'GET /models': vllm(9000, 'm', 'n') })
    await using stand = windowStand(server.origin)
    expect((await stand.ask('m', chat('/openai/deployments/m')))?.tokens).toBe(9000)
    expect((await stand.ask('n', chat('/openai/deployments/n')))?.tokens).toBe(9000)
    expect(server.questions.map(({ url }) => url)).toEqual(['/models'])
  })
})
