import { describe, expect, test } from 'vitest'
import { questionUserAgent } from '../../../src/models/discovery/ask-json.ts'
import { json, silence } from '../../support/fake-upstream.ts'
import { windowServer, windowStand, type Routes } from './window-server.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

const vllm = (windowTokens: number, ...ids: string[]) => ({
  data: ids.map((id) => ({ id, owned_by: 'vllm', max_model_len: windowTokens })),
})

const catalogue = (windowTokens: number) => ({ data: [{ id: 'm', context_length: windowTokens }] })

/** Lets a question that runs in the background come to its end. */
async function untilIdle(stand: ReturnType<typeof windowStand>, model: string): Promise<void> {
  await stand.windows.settled(stand.question(model), MINUTE_MS)
}

describe('asking never keeps a request waiting longer than it wants to', () => {
  test('the first lookup knows nothing, and says that asking may help', async () => {
    await using server = await windowServer({ 'GET /v1/models': vllm(9000, 'm') })
    await using stand = windowStand(server.url)
    const question = stand.question('m')
    expect(stand.windows.shouldWait(question)).toBe(true)
    expect(stand.windows.lookup(question)).toBeNull()
    expect(stand.windows.shouldWait(question)).toBe(true)
    await untilIdle(stand, 'm')
    expect(stand.windows.shouldWait(question)).toBe(false)
    expect(stand.windows.lookup(question)).toMatchObject({ tokens: 9000, kind: 'total' })
  })

  test('a wait ends when its time is up', async () => {
    await using server = await windowServer({}, silence)
    await using stand = windowStand(server.url)
    stand.windows.lookup(stand.question('m'))
    await stand.windows.settled(stand.question('m'), 1)
    expect(stand.windows.lookup(stand.question('m'))).toBeNull()
    expect(stand.windows.shouldWait(stand.question('m'))).toBe(false)
  })

  test('where nothing runs there is nothing to wait for', async () => {
    await using server = await windowServer({})
    await using stand = windowStand(server.url)
    await stand.windows.settled(stand.question('m'), MINUTE_MS)
    expect(server.questions).toEqual([])
  })

  test('a probe that hangs does not hold up a size that is loaded', async () => {
    await using server = await windowServer({ 'GET /v1/models': vllm(9000, 'm') }, silence)
    await using stand = windowStand(server.url, { timeBoxMs: HOUR_MS })
    expect((await stand.ask('m'))?.tokens).toBe(9000)
    expect(stand.troubles).toEqual([])
  })

  test("a hanging list does not hold up a loaded size from the server's own endpoint", async () => {
    await using server = await windowServer({
      'GET /v1/models': silence,
      'GET /info': { max_total_tokens: 7000 },
    })
    await using stand = windowStand(server.url, { timeBoxMs: HOUR_MS })
    expect((await stand.ask('m'))?.tokens).toBe(7000)
  })

  test('a catalogue is used while probes that could know better still hang, and holds once they are given up', async () => {
    await using server = await windowServer({
      'GET /v1/models': { data: [{ id: 'm', context_length: 50_000 }] },
      'GET /props': silence,
    })
    await using stand = windowStand(server.url, { timeBoxMs: 200 })
    const question = stand.question('m')
    stand.windows.lookup(question)
    await expect.poll(() => stand.windows.lookup(question)?.tokens).toBe(50_000)
    await untilIdle(stand, 'm')
    expect(stand.windows.lookup(question)?.tokens).toBe(50_000)
    expect(stand.troubles).toEqual([])
  })

  test('a loaded size corrects a catalogue that answered before it', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    await using server = await windowServer({
      'GET /v1/models': { data: [{ id: 'm', context_length: 50_000 }] },
      'GET /props': async (...given: Parameters<typeof silence>) => {
        await released
        await json({ default_generation_settings: { n_ctx: 8192 } })(...given)
      },
    })
    await using stand = windowStand(server.url)
    const question = stand.question('m')
    stand.windows.lookup(question)
    await expect.poll(() => stand.windows.lookup(question)?.tokens).toBe(50_000)
    release()
    await untilIdle(stand, 'm')
    expect(stand.windows.lookup(question)?.tokens).toBe(8192)
  })

  test('an end of Foldgate ends its questions, and is no trouble', async () => {
    await using server = await windowServer({}, silence)
    await using stand = windowStand(server.url, { timeBoxMs: HOUR_MS })
    const question = stand.question('m')
    stand.windows.lookup(question)
    await expect.poll(() => server.questions.length).toBeGreaterThan(0)
    await stand.windows.close()
    expect(stand.troubles).toEqual([])
    const asked = server.questions.length
    expect(stand.windows.lookup(stand.question('n'))).toBeNull()
    stand.windows.refresh(question)
    await untilIdle(stand, 'n')
    expect(server.questions.length).toBe(asked)
  })
})

describe("a server's log is not filled with questions", () => {
  test('after a sweep only what had answered usefully is asked again', async () => {
    await using server = await windowServer({ 'GET /v1/models': catalogue(9000) })
    await using stand = windowStand(server.url)
    await stand.ask('m')
    // Ten paths; SGLang's are spared, since the list is another's, and lists of other kinds, which could say no more.
    await expect.poll(() => server.questions.length).toBe(10)
    const swept = server.questions.length
    stand.clock.nowMs += 61 * MINUTE_MS
    await stand.ask('m')
    await stand.ask('other')
    expect(server.questions.slice(swept).map(({ url }) => url)).toEqual(['/v1/models'])
  })

  test('a server whose list says what it has loaded sees one question', async () => {
    // It saw a dozen, all but one of them for addresses that it does not have.
    await using server = await windowServer({ 'GET /v1/models': vllm(9000, 'm') })
    await using stand = windowStand(server.url)
    await stand.ask('m')
    expect(server.questions.map(({ url }) => url)).toEqual(['/v1/models'])
  })

  test('where nothing was of use the sweep is not repeated for hours', async () => {
    const routes: Routes = { 'GET /v1/models': { data: [{ id: 'm' }] } }
    await using server = await windowServer(routes)
    await using stand = windowStand(server.url)
    expect(await stand.ask('m')).toBeNull()
    const swept = server.questions.length
    for (let hour = 0; hour < 5; hour += 1) {
      stand.clock.nowMs += HOUR_MS
      expect(stand.windows.shouldWait(stand.question(`m${hour}`))).toBe(false)
      await stand.ask('m')
      await stand.ask(`m${hour}`)
      await stand.refresh('m')
    }
    expect(server.questions.length).toBe(swept)
    routes['GET /v1/models'] = vllm(9000, 'm')
    stand.clock.nowMs += 2 * HOUR_MS
    expect((await stand.ask('m'))?.tokens).toBe(9000)
  })

  test('questions about several models at once sweep once', async () => {
    await using server = await windowServer({ 'GET /v1/models': vllm(9000, 'a', 'b', 'c') })
    await using stand = windowStand(server.url)
    const found = await Promise.all(['a', 'b', 'c', 'a'].map(async (model) => stand.ask(model)))
    expect(found.map((window) => window?.tokens)).toEqual([9000, 9000, 9000, 9000])
    const asked = server.questions.map(({ url }) => url)
    expect(new Set(asked).size).toBe(asked.length)
  })

  test('a list answers for every model in it, for an hour', async () => {
    await using server = await windowServer({
      'GET /v1/models': { data: [1, 2, 3].map((at) => ({ id: `m${at}`, context_length: at * 10_000 })) },
    })
    await using stand = windowStand(server.url)
    await stand.ask('m1')
    const lists = () => server.questions.filter(({ url }) => url === '/v1/models').length
    stand.clock.nowMs += 59 * MINUTE_MS
    expect(stand.windows.shouldWait(stand.question('m2'))).toBe(false)
    expect(stand.windows.lookup(stand.question('m2'))?.tokens).toBe(20_000)
    expect(stand.windows.lookup(stand.question('m3'))?.tokens).toBe(30_000)
    expect(stand.windows.lookup(stand.question('m4'))).toBeNull()
    expect(lists()).toBe(1)
    stand.clock.nowMs += 2 * MINUTE_MS
    await stand.ask('m1')
    expect(lists()).toBe(2)
  })

  test('a run of refusals asks once in a few seconds', async () => {
    await using server = await windowServer({ 'GET /v1/models': vllm(9000, 'm') })
    await using stand = windowStand(server.url)
    await stand.ask('m')
    const lists = () => server.questions.filter(({ url }) => url === '/v1/models').length
    for (let at = 0; at < 4; at += 1) await stand.refresh('m')
    expect(lists()).toBe(2)
    // What was refused was not forgotten: the model's next request asks.
    stand.clock.nowMs += 6_000
    await stand.ask('m')
    expect(lists()).toBe(3)
  })

  test('a refusal does not bring a catalogue again that is quite new', async () => {
    await using server = await windowServer({
      'GET /v1/models': { data: [{ id: 'm', context_length: 9000 }] },
    })
    await using stand = windowStand(server.url)
    await stand.ask('m')
    const lists = () => server.questions.filter(({ url }) => url === '/v1/models').length
    stand.clock.nowMs += 5 * MINUTE_MS
    await stand.refresh('m')
    expect(lists()).toBe(1)
    stand.clock.nowMs += 6 * MINUTE_MS
    await stand.refresh('m')
    expect(lists()).toBe(2)
  })

  test('a refusal while a question runs is left to the next request', async () => {
    const routes: Routes = { 'GET /v1/models': vllm(9000, 'm') }
    await using server = await windowServer(routes)
    await using stand = windowStand(server.url)
    stand.windows.lookup(stand.question('m'))
    stand.windows.refresh(stand.question('m'))
    await untilIdle(stand, 'm')
    routes['GET /v1/models'] = vllm(5000, 'm')
    expect((await stand.ask('m'))?.tokens).toBe(5000)
  })

  test('only so many questions run at once', async () => {
    await using server = await windowServer({}, silence)
    await using stand = windowStand(`${server.origin}/v1beta/openai`)
    for (let at = 0; at < 40; at += 1) {
      stand.windows.lookup(stand.question('m', { credential: String(at) }))
    }
    await expect.poll(() => server.questions.length).toBe(32)
    const late = stand.question('m', { credential: '39' })
    await stand.windows.settled(late, MINUTE_MS)
    expect(stand.windows.lookup(late)).toBeNull()
    expect(server.questions.length).toBe(32)
  })

  test('questions are told from requests by their name', async () => {
    await using server = await windowServer({})
    await using stand = windowStand(server.url)
    await stand.ask('m')
    expect(new Set(server.questions.map(({ headers }) => headers['user-agent']))).toEqual(
      new Set([questionUserAgent]),
    )
  })

  test('SGLang is not asked for its memory where the list is not its own', async () => {
    await using server = await windowServer({ 'GET /v1/models': { data: [{ id: 'm', owned_by: 'me' }] } })
    await using stand = windowStand(server.url)
    await stand.ask('m')
    expect(server.questions.filter(({ url }) => url.includes('server_info'))).toEqual([])
  })

  test('a router is asked for this model and told not to load it', async () => {
    await using server = await windowServer({
      'GET /props': { default_generation_settings: { n_ctx: 9000 } },
    })
    await using stand = windowStand(server.url)
    await stand.ask('a b/c')
    expect(server.questions.map(({ url }) => url)).toContain('/props?model=a%20b%2Fc&autoload=false')
  })
})

describe('names that no server would take', () => {
  test('are not asked about where they are too long', async () => {
    await using server = await windowServer({})
    await using stand = windowStand(server.url)
    expect(await stand.ask('m'.repeat(1_000))).toBeNull()
    expect(stand.windows.shouldWait(stand.question('m'.repeat(1_000)))).toBe(false)
    expect(server.questions).toEqual([])
  })

  test('are asked about safely where they hold half a character', async () => {
    await using server = await windowServer({
      'GET /props': { default_generation_settings: { n_ctx: 9000 } },
    })
    await using stand = windowStand(server.url)
    expect((await stand.ask('m\ud800'))?.tokens).toBe(9000)
  })
})

describe('what is known follows the server', () => {
  test('what Ollama is assumed to take gives way to what it took', async () => {
    const routes: Routes = {
      'GET /api/ps': { models: [] },
      'POST /api/show': { model_info: {}, parameters: '' },
    }
    await using server = await windowServer(routes)
    await using stand = windowStand(server.url)
    expect(await stand.ask('m')).toMatchObject({ tokens: 4096, kind: 'total' })
    routes['GET /api/ps'] = { models: [{ name: 'm:latest', context_length: 32_768 }] }
    expect(await stand.refresh('m')).toMatchObject({ tokens: 32_768, kind: 'total' })
  })

  // Ollama unloads a model after five idle minutes. Were it then taken to be one of 4,096 tokens, the next
  // request would be cut down to that for nothing.
  test('a model that is unloaded keeps the window it had', async () => {
    const routes: Routes = {
      'GET /api/ps': { models: [{ name: 'm:latest', context_length: 32_768 }] },
      'POST /api/show': { model_info: {}, parameters: '' },
    }
    await using server = await windowServer(routes)
    await using stand = windowStand(server.url)
    await stand.ask('m')
    routes['GET /api/ps'] = { models: [] }
    stand.clock.nowMs += HOUR_MS
    expect((await stand.ask('m'))?.tokens).toBe(32_768)
    routes['GET /api/ps'] = { models: [{ name: 'm:latest', context_length: 16_384 }] }
    stand.clock.nowMs += 2 * MINUTE_MS
    expect((await stand.ask('m'))?.tokens).toBe(16_384)
  })

  test('a server started anew with another window is believed after a refusal', async () => {
    const routes: Routes = { 'GET /v1/models': vllm(9000, 'm') }
    await using server = await windowServer(routes)
    await using stand = windowStand(server.url)
    await stand.ask('m')
    routes['GET /v1/models'] = vllm(5000, 'm')
    expect((await stand.ask('m'))?.tokens).toBe(9000)
    expect((await stand.refresh('m'))?.tokens).toBe(5000)
  })

  test('an old figure is used while it is asked for again, and when that fails', async () => {
    const routes: Routes = { 'GET /v1/models': vllm(9000, 'm') }
    await using server = await windowServer(routes)
    await using stand = windowStand(server.url)
    await stand.ask('m')
    routes['GET /v1/models'] = json({}, 503)
    stand.clock.nowMs += HOUR_MS
    expect(stand.windows.lookup(stand.question('m'))?.tokens).toBe(9000)
    await untilIdle(stand, 'm')
    expect(stand.windows.lookup(stand.question('m'))?.tokens).toBe(9000)
  })

  test('a server that was replaced by one of another kind is found out', async () => {
    const routes: Routes = { 'GET /v1/models': vllm(9000, 'm') }
    await using server = await windowServer(routes)
    await using stand = windowStand(server.url)
    await stand.ask('m')
    delete routes['GET /v1/models']
    routes['GET /props'] = { default_generation_settings: { n_ctx: 6000 } }
    for (let at = 0; at < 6; at += 1) {
      stand.clock.nowMs += 11 * MINUTE_MS
      await stand.ask('m')
    }
    expect((await stand.ask('m'))?.tokens).toBe(6000)
  })

  test('a server that is still starting is asked again after a minute', async () => {
    const routes: Routes = { 'GET /props': json({ error: 'loading' }, 503), 'GET /v1/models': json({}, 503) }
    await using server = await windowServer(routes)
    await using stand = windowStand(server.url)
    expect(await stand.ask('m')).toBeNull()
    routes['GET /props'] = { default_generation_settings: { n_ctx: 6000 } }
    expect(await stand.ask('m')).toBeNull()
    stand.clock.nowMs += MINUTE_MS
    expect((await stand.ask('m'))?.tokens).toBe(6000)
  })
})

describe('what is told of one is never told of another', () => {
  test('two models on one base URL', async () => {
    await using server = await windowServer({
      'GET /v1/models': {
        data: [
          { id: 'small', max_model_len: 8192 },
          { id: 'large', max_model_len: 1_000_000 },
        ],
      },
    })
    await using stand = windowStand(server.url)
    expect((await stand.ask('small'))?.tokens).toBe(8192)
    expect((await stand.ask('large'))?.tokens).toBe(1_000_000)
    expect((await stand.refresh('small'))?.tokens).toBe(8192)
    expect(stand.windows.lookup(stand.question('large'))?.tokens).toBe(1_000_000)
  })

  test('two credentials, two upstreams, two paths', async () => {
    await using server = await windowServer({
      'GET /v1/models': (...given: Parameters<typeof silence>) =>
        json(catalogue(given[0].headers.authorization === 'Bearer rich' ? 90_000 : 8192))(...given),
      'GET /v1/inference/models': catalogue(30_000),
      'GET /other/models': catalogue(40_000),
    })
    await using stand = windowStand(server.url, { others: { other: { url: `${server.origin}/other` } } })
    const rich = { credential: 'rich', rawHeaders: ['authorization', 'Bearer rich'] }
    expect((await stand.ask('m'))?.tokens).toBe(8192)
    expect((await stand.ask('m', rich))?.tokens).toBe(90_000)
    expect((await stand.ask('m', { path: '/v1/inference/chat/completions' }))?.tokens).toBe(30_000)
    expect((await stand.ask('m', { upstream: 'other' }))?.tokens).toBe(40_000)
    expect(stand.windows.lookup(stand.question('m'))?.tokens).toBe(8192)
  })

  test('nothing is asked for a request that is no chat completion, or of an upstream that does not exist', async () => {
    await using server = await windowServer({ 'GET /v1/models': vllm(9000, 'm') })
    await using stand = windowStand(server.origin)
    expect(await stand.ask('m', { path: '/v1/embeddings' })).toBeNull()
    expect(await stand.ask('m', { path: '/v1//evil/chat/completions' })).toBeNull()
    expect(await stand.ask('m', { upstream: 'nobody' })).toBeNull()
    expect(stand.windows.shouldWait(stand.question('m', { upstream: 'nobody' }))).toBe(false)
    expect(server.questions).toEqual([])
  })
})
