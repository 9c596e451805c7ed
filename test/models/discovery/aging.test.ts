import { describe, expect, test } from 'vitest'
import { json } from '../../support/fake-upstream.ts'
import {
  catalogue,
  DAY_MS,
  discovery,
  either,
  HOUR_MS,
  list,
  props,
  vllm,
  type Discovery,
  type Routes,
} from './window-server.ts'

/** So many hours with a request in each. */
async function live(at: Discovery, model: string, hours: number): Promise<void> {
  for (let hour = 0; hour < hours; hour += 1) {
    at.clock.nowMs += HOUR_MS + 1
    await at.ask(model)
  }
}

// A figure was kept whatever became of it. A server that once stated a loaded size of 8,192 and then, as another
// program behind the same address, a catalogue's 131,072, was one of 8,192 two days later; and so was a figure that
// an operator had taken out of the list.
describe('a figure does not outlive what it came from', () => {
  test("a catalogue's figure replaces a loaded size of the same list", async () => {
    const routes: Routes = vllm(8192, 'm')
    await using at = await discovery(routes)
    expect(await at.ask('m')).toMatchObject({ tokens: 8192, isLoaded: true })
    Object.assign(routes, catalogue(131_072))
    await live(at, 'm', 1)
    expect(await at.ask('m')).toMatchObject({ tokens: 131_072, isLoaded: false })
  })

  test('but not one of another probe, which may describe another deployment', async () => {
    const routes: Routes = { 'GET /props': props(8192), ...catalogue(131_072) }
    await using at = await discovery(routes)
    await at.ask('m')
    routes['GET /props'] = json({}, 503)
    await live(at, 'm', 2)
    expect(await at.tokens('m')).toBe(8192)
  })

  test('it ends once its own list states the model no more', async () => {
    const other = { id: 'o', context_length: 50_000 }
    const routes: Routes = list({ id: 'm', context_length: 90_000 }, other)
    await using at = await discovery(routes)
    await at.ask('m')
    Object.assign(routes, list({ id: 'm' }, other))
    await live(at, 'm', 1)
    expect(await at.ask('m')).toBeNull()
  })

  test('it ends after a day without a word of its server', async () => {
    const routes: Routes = vllm(8192, 'm')
    await using at = await discovery(routes)
    await at.ask('m')
    routes['GET /v1/models'] = json({}, 503)
    await live(at, 'm', 20)
    expect(await at.tokens('m')).toBe(8192)
    await live(at, 'm', 5)
    expect(await at.ask('m')).toBeNull()
  })

  test('one that nobody asked for in a day is not told, and the next request waits for a new one', async () => {
    await using at = await discovery(vllm(8192, 'm'))
    await at.ask('m')
    at.clock.nowMs += DAY_MS
    expect(at.shouldWait('m')).toBe(true)
    expect(at.look('m')).toBeUndefined()
    expect(await at.tokens('m')).toBe(8192)
  })
})

/** It has answered: what it is loaded with by now is asked in the background. */
async function answered(at: Discovery): Promise<void> {
  at.windows.answered(at.question('m'))
  await at.settled('m')
  expect(at.windows.lookup(at.question('m'))).toMatchObject({ tokens: 6000, isLoaded: true })
}

const status = (value: string) => ({
  data: [
    { id: 'm', status: { value } },
    { id: 'n', status: { value: 'unloaded' } },
  ],
})

// LM Studio, and llama.cpp's router, load a model when it is first asked for. They had said before that it was not
// loaded; nothing came back to that once it was, and the first requests of each model went by a guess.
describe('a model that has answered is loaded', () => {
  let isLoaded = false
  const onlyLoaded = (loaded: object, unloaded: object) => either(() => isLoaded, loaded, unloaded)

  const loadedModel = { id: 'm', state: 'loaded', max_context_length: 131_072, loaded_context_length: 6000 }
  const unloadedModel = { id: 'm', state: 'not-loaded', max_context_length: 131_072 }
  const lmStudio: Routes = {
    'GET /api/v0/models': onlyLoaded({ data: [loadedModel] }, { data: [unloadedModel] }),
  }
  const running = onlyLoaded({ models: [{ name: 'm:latest', context_length: 6000 }] }, { models: [] })
  const ollama = (parameters: string) => ({
    'GET /api/ps': running,
    'POST /api/show': { model_info: {}, parameters },
  })

  test.each<[string, Routes, object | null]>([
    ['LM Studio', lmStudio, null],
    [
      "llama.cpp's router",
      {
        'GET /v1/models': onlyLoaded(status('loaded'), status('unloaded')),
        'GET /props': onlyLoaded(props(6000), json({}, 400)),
      },
      null,
    ],
    ['Ollama, whose default is assumed', ollama(''), { tokens: 4096, isLoaded: false }],
    ['Ollama with a setting', ollama('num_ctx 8000'), { tokens: 8000, isLoaded: false }],
  ])('and %s is asked what with', async (_, routes, before) => {
    isLoaded = false
    await using at = await discovery(routes)
    const found = await at.ask('m')
    if (before === null) expect(found).toBeNull()
    else expect(found).toMatchObject(before)
    isLoaded = true
    await answered(at)
  })

  // Nobody tried this: a request looks before it is sent, and that the model was unloaded meanwhile comes a moment after it.
  // Who goes by that look takes the answer, which has loaded it again with less, for nothing new.
  test('also where that it was unloaded was found out while it answered', async () => {
    let state: object = { ...loadedModel, loaded_context_length: 30_000 }
    await using at = await discovery({
      'GET /api/v0/models': (...given) => json({ data: [state] })(...given),
    })
    expect(await at.tokens('m')).toBe(30_000)
    state = unloadedModel
    at.clock.nowMs += 300_000
    at.look('m')
    await at.settled('m')
    state = loadedModel
    at.clock.nowMs += 3_000
    at.windows.answered(at.question('m'))
    await at.settled('m')
    expect(at.look('m')).toBe(6000)
  })

  test('nobody is asked where that was known, or nothing is to be known', async () => {
    await using at = await discovery(vllm(8192, 'm'))
    at.windows.answered(at.question('m'))
    expect(at.asked()).toEqual([])
    await at.ask('m')
    await at.ask('n')
    const asked = at.asked().length
    for (const model of ['m', 'n', 'o']) {
      at.windows.answered(at.question(model))
      await at.settled(model)
    }
    expect(at.asked().length).toBe(asked)
  })

  test('one that was unloaded since keeps its size, which is not in force', async () => {
    isLoaded = true
    await using at = await discovery(lmStudio)
    expect(await at.ask('m')).toMatchObject({ tokens: 6000, isLoaded: true })
    isLoaded = false
    await live(at, 'm', 1)
    expect(await at.ask('m')).toMatchObject({ tokens: 6000, isLoaded: false })
    isLoaded = true
    await answered(at)
  })
})

// What it was not, when it was asked first, was left alone for six hours.
test('a server that has become another kind is known for it before long; a catalogue’s loaded size is a catalogue’s', async () => {
  const catalogued = { data: [{ model_name: 'm', max_model_len: 9000 }] }
  await using listing = await discovery({ 'GET /v1/model/info': catalogued })
  expect(await listing.ask('m')).toMatchObject({ tokens: 9000, isLoaded: false })
  const routes: Routes = catalogue(8192)
  await using at = await discovery(routes)
  await at.ask('m')
  Object.assign(routes, list({ id: 'm' }), { 'GET /props': props(6000) })
  await live(at, 'm', 4)
  expect(await at.ask('m')).toMatchObject({ tokens: 6000, isLoaded: true })
})

// A model server was started anew with a larger window, and for a minute conversations went on being compacted under the
// small one. What had been seen of it, a refused connection, was no sign to anybody.
describe('a server that was gone is asked again by the first request that finds it back', () => {
  test('while it is still gone it is asked every few seconds at most, and only if there are requests', async () => {
    const routes: Routes = { 'GET /props': props(8192) }
    await using at = await discovery(routes)
    await at.ask('m')
    routes['GET /props'] = json({}, 503)
    at.windows.lost(at.question('m'))
    expect(await at.tokens('m')).toBe(8192)
    const asked = at.asked().length
    for (let time = 0; time < 5; time += 1) {
      at.windows.lost(at.question('m'))
      await at.ask('m')
    }
    expect(at.asked().length).toBe(asked)
    routes['GET /props'] = props(4096)
    at.clock.nowMs += 5_000
    expect(at.shouldWait('m')).toBe(true)
    expect(await at.tokens('m')).toBe(4096)
  })
})
