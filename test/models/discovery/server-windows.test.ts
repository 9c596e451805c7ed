import { describe, expect, test } from 'vitest'
import { questionUserAgent } from '../../../src/models/discovery/ask-json.ts'
import { json, silence } from '../../support/fake-upstream.ts'
import {
  catalogue,
  discovery,
  either,
  HOUR_MS,
  list,
  MINUTE_MS,
  props,
  vllm,
  type Discovery,
  type Routes,
} from './window-server.ts'

const lists = (at: Discovery): number => at.asked().filter((url) => url === '/v1/models').length

const loaded = (tokens: number) => ({ models: [{ name: 'm:latest', context_length: tokens }] })

const told = (tokens: number) => ({ data: [{ id: 'm', context_length: tokens }] })

describe('asking never keeps a request waiting longer than it wants to', () => {
  test.each<[string, Routes]>([
    ['a probe', vllm(9000, 'm')],
    ['the list', { 'GET /v1/models': silence, 'GET /info': { max_total_tokens: 9000 } }],
  ])('%s that hangs does not hold up a size that is loaded', async (_, routes) => {
    await using at = await discovery(routes, { otherwise: silence, timeBoxMs: HOUR_MS })
    expect(await at.tokens('m')).toBe(9000)
    expect(at.troubles).toEqual([])
  })

  test('a catalogue is used while probes that could know better still hang, and holds once they are given up', async () => {
    await using at = await discovery({ ...catalogue(50_000), 'GET /props': silence }, { timeBoxMs: 1_000 })
    await expect.poll(() => at.look('m')).toBe(50_000)
    await at.settled('m')
    expect(at.look('m')).toBe(50_000)
    expect(at.troubles).toEqual([])
  })

  test('a loaded size corrects a catalogue that answered before it', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    await using at = await discovery({
      ...catalogue(50_000),
      'GET /props': async (...given: Parameters<typeof silence>) => {
        await released
        await json(props(8192))(...given)
      },
    })
    await expect.poll(() => at.look('m')).toBe(50_000)
    release()
    await at.settled('m')
    expect(at.look('m')).toBe(8192)
  })

  test('an end of Foldgate ends its questions, and is no trouble', async () => {
    await using at = await discovery({}, { otherwise: silence, timeBoxMs: HOUR_MS })
    at.look('m')
    await expect.poll(() => at.asked().length).toBeGreaterThan(0)
    await at.windows.close()
    expect(at.troubles).toEqual([])
    const asked = at.asked().length
    expect(at.look('n')).toBeUndefined()
    await at.refresh('m')
    await at.settled('n')
    expect(at.asked().length).toBe(asked)
  })
})

// A server that took connections and answered nothing cost every request a second, not the first one: as long as
// nothing was answered, each one took itself for the first.
describe('a server that hangs costs one request its wait', () => {
  const hanging = { otherwise: silence, timeBoxMs: HOUR_MS }

  test('no second request of the model waits, nor one of another model until something was answered', async () => {
    const routes: Routes = {}
    await using at = await discovery(routes, { otherwise: silence, timeBoxMs: 50 })
    expect(at.shouldWait('m')).toBe(true)
    expect(at.look('m')).toBeUndefined()
    await at.settled('m', 1)
    expect([at.look('m'), at.shouldWait('m'), at.shouldWait('n')]).toEqual([undefined, false, false])
    // That it was given up is no answer.
    await at.settled('m')
    expect(at.shouldWait('n')).toBe(false)
    Object.assign(routes, catalogue(9000))
    for (const path of ['/props', '/api/ps', '/info']) routes[`GET ${path}`] = json({}, 404)
    // On a busy machine an answer may come too late for that wait, as no answer does.
    const isAnswered = async (): Promise<boolean> => {
      at.clock.nowMs += HOUR_MS
      await at.ask('m')
      at.clock.nowMs += 2 * HOUR_MS
      return at.shouldWait('n')
    }
    await expect.poll(isAnswered).toBe(true)
  })

  test('another upstream is still waited for, and requests that come while the first one waits wait with it', async () => {
    await using at = await discovery({}, { ...hanging, others: { well: { url: 'http://127.0.0.1:1' } } })
    at.look('m')
    expect([at.shouldWait('m'), at.shouldWait('n')]).toEqual([true, true])
    await at.settled('m', 1)
    expect(at.shouldWait('m', { upstream: 'well' })).toBe(true)
  })
})

describe("a server's log is not filled with questions", () => {
  test('after a sweep only what had answered usefully is asked again', async () => {
    await using at = await discovery(catalogue(9000))
    await at.ask('m')
    // Ten paths; SGLang's are spared, since the list is another's, and lists of other kinds, which could say no more.
    await expect.poll(() => at.asked().length).toBe(10)
    expect(at.asked().filter((url) => url.includes('server_info'))).toEqual([])
    at.clock.nowMs += 61 * MINUTE_MS
    await at.ask('m')
    await at.ask('other')
    expect(at.asked().slice(10)).toEqual(['/v1/models'])
  })

  // It saw a dozen, all but one of them for addresses that it does not have.
  test('a server whose list says what it has loaded sees one question', async () => {
    await using at = await discovery(vllm(9000, 'm'))
    await at.ask('m')
    expect(at.asked()).toEqual(['/v1/models'])
    expect(at.server.questions[0]?.headers['user-agent']).toBe(questionUserAgent)
  })

  test('where nothing was of use the sweep is not repeated for hours', async () => {
    const routes: Routes = list({ id: 'm' })
    await using at = await discovery(routes)
    expect(await at.ask('m')).toBeNull()
    const swept = at.asked().length
    for (let hour = 0; hour < 5; hour += 1) {
      at.clock.nowMs += HOUR_MS
      expect(at.shouldWait(`m${hour}`)).toBe(false)
      await at.ask('m')
      await at.ask(`m${hour}`)
      await at.refresh('m')
    }
    expect(at.asked().length).toBe(swept)
    Object.assign(routes, vllm(9000, 'm'))
    at.clock.nowMs += 2 * HOUR_MS
    expect(await at.tokens('m')).toBe(9000)
  })

  test('a list answers for every model in it, for an hour, and of each its own', async () => {
    await using at = await discovery(
      list(...[1, 2, 3].map((number) => ({ id: `m${number}`, context_length: number * 10_000 }))),
    )
    await at.ask('m1')
    at.clock.nowMs += 59 * MINUTE_MS
    expect(at.shouldWait('m2')).toBe(false)
    expect(['m2', 'm3', 'm4'].map((model) => at.look(model))).toEqual([20_000, 30_000, undefined])
    expect(lists(at)).toBe(1)
    at.clock.nowMs += 2 * MINUTE_MS
    await at.ask('m1')
    expect(lists(at)).toBe(2)
  })

  test('a run of refusals asks once in a few seconds, and brings no catalogue again that is quite new', async () => {
    await using at = await discovery(vllm(9000, 'm'))
    await at.ask('m')
    for (let time = 0; time < 4; time += 1) await at.refresh('m')
    expect(lists(at)).toBe(2)
    // What was refused was not forgotten: the model's next request asks.
    at.clock.nowMs += 6_000
    await at.ask('m')
    expect(lists(at)).toBe(3)
    await using listing = await discovery(catalogue(9000))
    await listing.ask('m')
    for (const [minutes, count] of [
      [5, 1],
      [6, 2],
    ] as const) {
      listing.clock.nowMs += minutes * MINUTE_MS
      await listing.refresh('m')
      expect(lists(listing)).toBe(count)
    }
  })

  test('a refusal while a question runs is left to the next request', async () => {
    const routes: Routes = vllm(9000, 'm')
    await using at = await discovery(routes)
    at.look('m')
    await at.refresh('m')
    Object.assign(routes, vllm(5000, 'm'))
    expect(await at.tokens('m')).toBe(5000)
  })

  test('a name that no server would take is not asked about, and one with half a character safely', async () => {
    await using at = await discovery({ 'GET /props': props(9000) })
    expect(await at.ask('m'.repeat(1_000))).toBeNull()
    expect(at.shouldWait('m'.repeat(1_000))).toBe(false)
    expect(at.asked()).toEqual([])
    expect(await at.tokens('m\ud800')).toBe(9000)
  })
})

describe('what is known follows the server', () => {
  // Ollama unloads a model after five idle minutes. Were it then taken to be one of 4,096 tokens, the next
  // request would be cut down to that for nothing.
  test('a model that is unloaded keeps the window it had', async () => {
    const routes: Routes = {
      'GET /api/ps': loaded(32_768),
      'POST /api/show': { model_info: {}, parameters: '' },
    }
    await using at = await discovery(routes)
    await at.ask('m')
    routes['GET /api/ps'] = { models: [] }
    at.clock.nowMs += HOUR_MS
    expect(await at.tokens('m')).toBe(32_768)
    routes['GET /api/ps'] = loaded(16_384)
    at.clock.nowMs += 2 * MINUTE_MS
    expect(await at.tokens('m')).toBe(16_384)
  })

  test('an old figure is used while it is asked for again, and when that fails; after a refusal a new one', async () => {
    const routes: Routes = vllm(9000, 'm')
    await using at = await discovery(routes)
    await at.ask('m')
    routes['GET /v1/models'] = json({}, 503)
    at.clock.nowMs += HOUR_MS
    expect(at.look('m')).toBe(9000)
    await at.settled('m')
    expect(at.look('m')).toBe(9000)
    Object.assign(routes, vllm(5000, 'm'))
    expect(at.look('m')).toBe(9000)
    expect((await at.refresh('m'))?.tokens).toBe(5000)
  })

  test('a server that is still starting is asked again after a minute', async () => {
    const routes: Routes = { 'GET /props': json({ error: 'loading' }, 503), 'GET /v1/models': json({}, 503) }
    await using at = await discovery(routes)
    expect(await at.ask('m')).toBeNull()
    routes['GET /props'] = props(6000)
    expect(await at.ask('m')).toBeNull()
    at.clock.nowMs += MINUTE_MS
    expect(await at.tokens('m')).toBe(6000)
  })
})

test('what is told of one credential, upstream or path is never told of another', async () => {
  await using other = await discovery({
    'GET /other/models': { data: [{ id: 'm', context_length: 40_000 }] },
  })
  await using at = await discovery(
    {
      'GET /v1/models': either(
        ({ headers }) => headers.authorization === 'Bearer rich',
        told(90_000),
        told(8192),
      ),
      'GET /v1/inference/models': told(30_000),
    },
    { others: { other: { url: `${other.server.origin}/other` } } },
  )
  const rich = { credential: 'rich', rawHeaders: ['authorization', 'Bearer rich'] }
  expect(await at.tokens('m')).toBe(8192)
  expect(await at.tokens('m', rich)).toBe(90_000)
  expect(await at.tokens('m', { path: '/v1/inference/chat/completions' })).toBe(30_000)
  expect(await at.tokens('m', { upstream: 'other' })).toBe(40_000)
  expect(at.look('m')).toBe(8192)
})

test('nothing is asked for a request that is no chat completion, or of an upstream that does not exist', async () => {
  await using at = await discovery(vllm(9000, 'm'), { base: '' })
  expect(await at.ask('m', { path: '/v1/embeddings' })).toBeNull()
  expect(await at.ask('m', { path: '/v1//evil/chat/completions' })).toBeNull()
  expect(await at.ask('m', { upstream: 'nobody' })).toBeNull()
  expect(at.shouldWait('m', { upstream: 'nobody' })).toBe(false)
  expect(at.asked()).toEqual([])
})
