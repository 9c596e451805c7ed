import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bytes, json, silence, type Script } from '../../support/fake-upstream.ts'
import { windowServer, windowStand, type Routes } from './window-server.ts'
import { propertyRuns } from '../../support/property-runs.ts'

const html = bytes('<!doctype html><title>Welcome</title>', { 'content-type': 'text/html' })
const cut: Script = (_request, outgoing) => {
  outgoing.writeHead(200, { 'content-type': 'application/json', 'content-length': '5000' })
  outgoing.write('{"data":[{"id":"m","max_model_len":90', () => outgoing.socket?.destroy())
}
const endless: Script = (_request, outgoing) => {
  const piece = Buffer.alloc(1024 * 1024, '[')
  outgoing.writeHead(200)
  const more = (): void => {
    if (!outgoing.destroyed) outgoing.write(piece, () => setImmediate(more))
  }
  more()
}
const stated = (value: unknown) => ({
  'GET /v1/models': { data: [{ id: 'm', owned_by: 'vllm', max_model_len: value }] },
})

const fieldNames =
  'data models result id name meta n_ctx max_model_len context_length limits capabilities providers aliases loade' +
  'd_instances config state properties parent model_info general.architecture parameters default_generation_settings params value'

describe('a server that is broken, slow or lying costs nothing but a warning', () => {
  test.each<{ what: string; routes: Routes; otherwise?: Script; troubles: string[] }>([
    { what: 'refuses everything', routes: {}, otherwise: json({}, 401), troubles: [] },
    { what: 'fails everywhere', routes: {}, otherwise: json({}, 500), troubles: [] },
    {
      what: 'sends everyone elsewhere',
      routes: {},
      otherwise: bytes('', { location: '/v1/models' }, 302),
      troubles: [],
    },
    { what: 'answers every path with its page', routes: {}, otherwise: html, troubles: ['default: html'] },
    {
      what: 'has a page at paths it does not know',
      routes: { 'GET /v1/models': { data: [] } },
      otherwise: html,
      troubles: [],
    },
    { what: 'answers with text', routes: {}, otherwise: bytes('ok'), troubles: ['default: no-json'] },
    { what: 'answers with nothing', routes: {}, otherwise: bytes(''), troubles: ['default: no-json'] },
    {
      what: 'answers with JSON of no use',
      routes: {},
      otherwise: json({ error: 'Unexpected endpoint' }),
      troubles: [],
    },
    { what: 'breaks off its answers', routes: {}, otherwise: cut, troubles: ['default: cut-off'] },
    { what: 'breaks off its list only', routes: { 'GET /v1/models': cut }, troubles: ['default: cut-off'] },
    { what: 'never ends its list', routes: { 'GET /v1/models': endless }, troubles: ['default: too-large'] },
    { what: 'never answers', routes: {}, otherwise: silence, troubles: ['default: no-answer'] },
    { what: 'states zero', routes: stated(0), troubles: [] },
    { what: 'states nothing', routes: stated(null), troubles: [] },
    { what: 'states an object', routes: stated({ tokens: 9000 }), troubles: [] },
    { what: 'states a negative number', routes: stated(-1), troubles: ['default: implausible'] },
    { what: 'states a fraction', routes: stated(4096.5), troubles: ['default: implausible'] },
    { what: 'states far too much', routes: stated(1e15), troubles: ['default: implausible'] },
    { what: 'states far too little', routes: stated(100), troubles: ['default: implausible'] },
    { what: 'states words', routes: stated('unlimited'), troubles: ['default: implausible'] },
    {
      what: 'nests deep',
      routes: { 'GET /v1/models': bytes('['.repeat(500_000) + ']'.repeat(500_000)) },
      troubles: [],
    },
  ])('one that $what', async ({ routes, otherwise, troubles }) => {
    await using server = await windowServer(routes, otherwise)
    await using stand = windowStand(server.url, { timeBoxMs: otherwise === silence ? 100 : 30_000 })
    expect(await stand.ask('m')).toBeNull()
    expect(stand.troubles).toEqual(troubles)
    // Told once, however often it is asked and by whatever model.
    stand.clock.nowMs += 3_600_000
    expect(await stand.ask('m')).toBeNull()
    expect(await stand.ask('n')).toBeNull()
    expect(stand.troubles).toEqual(troubles)
  })

  test('one that cannot be reached', async () => {
    const server = await windowServer({})
    await server.close()
    await using stand = windowStand(server.url)
    expect(await stand.ask('m')).toBeNull()
    expect(stand.troubles).toEqual([])
  })

  test('a figure that cannot be is passed over for one that can', async () => {
    await using server = await windowServer({
      ...stated(-1),
      'GET /props': { default_generation_settings: { n_ctx: 8192 } },
    })
    await using stand = windowStand(server.url)
    expect((await stand.ask('m'))?.tokens).toBe(8192)
    expect(stand.troubles).toEqual([])
  })

  test('whatever JSON all its endpoints answer with', async () => {
    const figure = fc.oneof(fc.integer(), fc.double(), fc.string(), fc.constant(null), fc.constant(-1))
    const keys = fc.constantFrom(...fieldNames.split(' '))
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        figure,
        fc.constant('m'),
        fc.array(tie('tree'), { maxLength: 4 }),
        fc.dictionary(keys, tie('tree'), { maxKeys: 6 }),
      ),
    }))
    await fc.assert(
      fc.asyncProperty(tree, async (answer) => {
        await using server = await windowServer({}, json(answer))
        await using stand = windowStand(server.url)
        const window = await stand.ask('m')
        expect(window === null || (window.tokens >= 512 && window.tokens <= 20_000_000)).toBe(true)
        expect(stand.troubles.filter((trouble) => trouble !== 'default: implausible')).toEqual([])
        expect(stand.windows.shouldWait(stand.question('m'))).toBe(false)
      }),
      { numRuns: propertyRuns(40) },
    )
  })
})
