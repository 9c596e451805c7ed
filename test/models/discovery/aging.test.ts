import { describe, expect, test } from 'vitest'
import { json, type Script } from '../../support/fake-upstream.ts'
import { windowServer, windowStand, type Routes, type WindowStand } from './window-server.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

const list = (...rows: object[]) => ({ data: rows })
const props = (tokens: number) => ({ default_generation_settings: { n_ctx: tokens } })

/** So many hours with a request in each. */
async function live(stand: WindowStand, model: string, hours: number): Promise<void> {
  for (let hour = 0; hour < hours; hour += 1) {
    stand.clock.nowMs += HOUR_MS + 1
    await stand.ask(model)
  }
}

// A figure was kept whatever became of it. A server that once stated a loaded size of 8,192 and then, as another
// program behind the same address, a catalogue's 131,072, was one of 8,192 two days later; and so was a figure that
// an operator had taken out of the list.
describe('a figure does not outlive what it came from', () => {
  test("a catalogue's figure replaces a loaded size of the same list", async () => {
    const routes: Routes = { 'GET /v1/models': list({ id: 'm', max_model_len: 8192 }) }
    await using server = await windowServer(routes)
    await using stand = windowStand(server.url)
    expect(await stand.ask('m')).toMatchObject({ tokens: 8192, isLoaded: true })
    routes['GET /v1/models'] = list({ id: 'm', context_length: 131_072 })
    await live(stand, 'm', 1)
    expect(await stand.ask('m')).toMatchObject({ tokens: 131_072, isLoaded: false })
  })

  test('but not one of another probe, which may describe another deployment', async () => {
    const routes: Routes = {
      'GET /props': { default_generation_settings: { n_ctx: 8192 } },
      'GET /v1/models': list({ id: 'm', context_length: 131_072 }),
    }
    await using server = await windowServer(routes)
    await using stand = windowStand(server.url)
    await stand.ask('m')
    routes['GET /props'] = json({}, 503)
    await live(stand, 'm', 2)
    expect((await stand.ask('m'))?.tokens).toBe(8192)
  })

  test('it ends once its own list states the model no more', async () => {
    const other = { id: 'o', context_length: 50_000 }
    const routes: Routes = { 'GET /v1/models': list({ id: 'm', context_length: 90_000 }, other) }
    await using server = await windowServer(routes)
    await using stand = windowStand(server.url)
    await stand.ask('m')
    routes['GET /v1/models'] = list({ id: 'm' }, other)
    await live(stand, 'm', 1)
    expect(await stand.ask('m')).toBeNull()
  })

  test('it ends after a day without a word of its server', async () => {
    const routes: Routes = { 'GET /v1/models': list({ id: 'm', max_model_len: 8192 }) }
    await using server = await windowServer(routes)
    await using stand = windowStand(server.url)
    await stand.ask('m')
    routes['GET /v1/models'] = json({}, 503)
    await live(stand, 'm', 20)
    expect((await stand.ask('m'))?.tokens).toBe(8192)
    await live(stand, 'm', 5)
    expect(await stand.ask('m')).toBeNull()
  })

  test('one that nobody asked for in a day is not told, and the next request waits for a new one', async () => {
    await using server = await windowServer({ 'GET /v1/models': list({ id: 'm', max_model_len: 8192 }) })
    await using stand = windowStand(server.url)
    await stand.ask('m')
    stand.clock.nowMs += DAY_MS
    expect(stand.windows.shouldWait(stand.question('m'))).toBe(true)
    expect(stand.windows.lookup(stand.question('m'))).toBeNull()
    expect((await stand.ask('m'))?.tokens).toBe(8192)
  })
})

// LM Studio, and llama.cpp's router, load a model when it is first asked for. They had said before that it was not
// loaded; nothing came back to that once it was, and the first requests of each model went by a guess.
describe('a model that has answered is loaded', () => {
  let isLoaded = false
  const onlyLoaded =
    (loaded: object, unloaded: object | Script): Script =>
    (...given) => {
      const answer = isLoaded ? loaded : unloaded
      return (typeof answer === 'function' ? answer : json(answer))(...given)
    }

  test.each<{ server: string; routes: Routes; before: object | null }>([
    {
      server: 'LM Studio',
      routes: {
        'GET /api/v0/models': onlyLoaded(
          list({ id: 'm', state: 'loaded', max_context_length: 131_072, loaded_context_length: 6000 }),
          list({ id: 'm', state: 'not-loaded', max_context_length: 131_072 }),
        ),
      },
      before: null,
    },
    {
      server: "llama.cpp's router",
      routes: {
        'GET /v1/models': onlyLoaded(
          list({ id: 'm', status: { value: 'loaded' } }, { id: 'n', status: { value: 'unloaded' } }),
          list({ id: 'm', status: { value: 'unloaded' } }, { id: 'n', status: { value: 'unloaded' } }),
        ),
        'GET /props': onlyLoaded({ default_generation_settings: { n_ctx: 6000 } }, json({}, 400)),
      },
      before: null,
    },
    {
      server: 'Ollama, whose default is assumed',
      routes: {
        'GET /api/ps': onlyLoaded({ models: [{ name: 'm:latest', context_length: 6000 }] }, { models: [] }),
        'POST /api/show': { model_info: {}, parameters: '' },
      },
      before: { tokens: 4096, isLoaded: false },
    },
    {
      server: 'Ollama with a setting',
      routes: {
        'GET /api/ps': onlyLoaded({ models: [{ name: 'm:latest', context_length: 6000 }] }, { models: [] }),
        'POST /api/show': { model_info: {}, parameters: 'num_ctx 8000' },
      },
      before: { tokens: 8000, isLoaded: false },
    },
  ])('and $server is asked what with', async ({ routes, before }) => {
    isLoaded = false
    await using server = await windowServer(routes)
    await using stand = windowStand(server.url)
    const found = await stand.ask('m')
    if (before === null) expect(found).toBeNull()
    else expect(found).toMatchObject(before)
    isLoaded = true
    stand.windows.answered(stand.question('m'))
    await stand.windows.settled(stand.question('m'), HOUR_MS)
    expect(stand.windows.lookup(stand.question('m'))).toMatchObject({ tokens: 6000, isLoaded: true })
  })

  test('nobody is asked where that was known, or nothing is to be known', async () => {
    await using server = await windowServer({ 'GET /v1/models': list({ id: 'm', max_model_len: 8192 }) })
    await using stand = windowStand(server.url)
    stand.windows.answered(stand.question('m'))
    expect(server.questions).toEqual([])
    await stand.ask('m')
    await stand.ask('n')
    const asked = server.questions.length
    for (const model of ['m', 'n', 'o']) {
      stand.windows.answered(stand.question(model))
      await stand.windows.settled(stand.question(model), HOUR_MS)
    }
    expect(server.questions.length).toBe(asked)
  })

  test('one that was unloaded since keeps its size, which is not in force', async () => {
    isLoaded = true
    const loaded = { id: 'm', state: 'loaded', max_context_length: 131_072, loaded_context_length: 6000 }
    const unloaded = { id: 'm', state: 'not-loaded', max_context_length: 131_072 }
    await using server = await windowServer({
      'GET /api/v0/models': onlyLoaded(list(loaded), list(unloaded)),
    })
    await using stand = windowStand(server.url)
    expect(await stand.ask('m')).toMatchObject({ tokens: 6000, isLoaded: true })
    isLoaded = false
    await live(stand, 'm', 1)
    expect(await stand.ask('m')).toMatchObject({ tokens: 6000, isLoaded: false })
    isLoaded = true
    stand.windows.answered(stand.question('m'))
    await stand.windows.settled(stand.question('m'), HOUR_MS)
    expect(stand.windows.lookup(stand.question('m'))).toMatchObject({ tokens: 6000, isLoaded: true })
  })
})

// What it was not, when it was asked first, was left alone for six hours.
test('a server that has become another kind is known for it before long', async () => {
  const routes: Routes = { 'GET /v1/models': list({ id: 'm', context_length: 8192 }) }
  await using server = await windowServer(routes)
  await using stand = windowStand(server.url)
  await stand.ask('m')
  routes['GET /v1/models'] = list({ id: 'm' })
  routes['GET /props'] = { default_generation_settings: { n_ctx: 6000 } }
  await live(stand, 'm', 4)
  expect(await stand.ask('m')).toMatchObject({ tokens: 6000, isLoaded: true })
})

test("a catalogue's loaded size is a catalogue's", async () => {
  await using server = await windowServer({
    'GET /v1/model/info': list({ model_name: 'm', max_model_len: 9000 }),
  })
  await using stand = windowStand(server.url)
  expect(await stand.ask('m')).toMatchObject({ tokens: 9000, isLoaded: false })
})

// A model server was started anew with a larger window, and for a minute conversations went on being compacted under the
// small one. What had been seen of it, a refused connection, was no sign to anybody.
describe('a server that was gone is asked again by the first request that finds it back', () => {
  test('llama.cpp with another -c, within the minute for which its word is fresh', async () => {
    const routes: Routes = { 'GET /props': props(8192) }
    await using server = await windowServer(routes)
    await using stand = windowStand(server.url)
    expect((await stand.ask('m'))?.tokens).toBe(8192)
    routes['GET /props'] = props(32_768)
    stand.clock.nowMs += 10_000
    const asked = server.questions.length
    // Without a sign nobody asks.
    expect([(await stand.ask('m'))?.tokens, server.questions.length]).toEqual([8192, asked])
    expect(stand.windows.shouldWait(stand.question('m'))).toBe(false)
    stand.windows.lost(stand.question('m'))
    // Nor does the sign: the next request does.
    expect(server.questions.length).toBe(asked)
    expect(stand.windows.shouldWait(stand.question('m'))).toBe(true)
    expect((await stand.ask('m'))?.tokens).toBe(32_768)
    expect(stand.windows.shouldWait(stand.question('m'))).toBe(false)
  })

  test('while it is still gone it is asked every few seconds at most, and only if there are requests', async () => {
    const routes: Routes = { 'GET /props': props(8192) }
    await using server = await windowServer(routes)
    await using stand = windowStand(server.url)
    await stand.ask('m')
    routes['GET /props'] = json({}, 503)
    stand.windows.lost(stand.question('m'))
    expect((await stand.ask('m'))?.tokens).toBe(8192)
    const asked = server.questions.length
    for (let time = 0; time < 5; time += 1) {
      stand.windows.lost(stand.question('m'))
      await stand.ask('m')
    }
    expect(server.questions.length).toBe(asked)
    routes['GET /props'] = props(4096)
    stand.clock.nowMs += 5_000
    expect(stand.windows.shouldWait(stand.question('m'))).toBe(true)
    expect((await stand.ask('m'))?.tokens).toBe(4096)
  })
})
