import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bytes, json, silence, type Script } from '../../support/fake-upstream.ts'
import { discovery, HOUR_MS, isScript, list, props, type Routes } from './window-server.ts'
import { forAllAsync } from '../../support/property-runs.ts'

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
const stated = (value: unknown) => list({ id: 'm', owned_by: 'vllm', max_model_len: value })
const nested = bytes('['.repeat(500_000) + ']'.repeat(500_000))

const fieldNames =
  'data models result id name meta n_ctx max_model_len context_length limits capabilities providers aliases loade' +
  'd_instances config state properties parent model_info general.architecture parameters default_generation_settings params value'

describe('a server that is broken, slow or lying costs nothing but a warning', () => {
  test.each<[string, Routes | Script, string?]>([
    ['refuses everything', json({}, 401)],
    ['fails everywhere', json({}, 500)],
    ['sends everyone elsewhere', bytes('', { location: '/v1/models' }, 302)],
    ['answers every path with its page', html, 'html'],
    ['answers with text', bytes('ok'), 'no-json'],
    ['answers with nothing', bytes(''), 'no-json'],
    ['answers with JSON of no use', json({ error: 'Unexpected endpoint' })],
    ['breaks off its answers', cut, 'cut-off'],
    ['never answers', silence, 'no-answer'],
    ['has a page at paths it does not know', { ...list(), 'GET /props': html, 'GET /info': html }],
    ['breaks off its list only', { 'GET /v1/models': cut }, 'cut-off'],
    ['never ends its list', { 'GET /v1/models': endless }, 'too-large'],
    ['nests deep', { 'GET /v1/models': nested }],
    ['states zero', stated(0)],
    ['states nothing', stated(null)],
    ['states an object', stated({ tokens: 9000 })],
    ['states a negative number', stated(-1), 'implausible'],
    ['states a fraction', stated(4096.5), 'implausible'],
    ['states far too much', stated(1e15), 'implausible'],
    ['states far too little', stated(100), 'implausible'],
    ['states words', stated('unlimited'), 'implausible'],
  ])('one that %s', async (_, answers, trouble) => {
    const { routes, ...given } = isScript(answers) ? { routes: {}, otherwise: answers } : { routes: answers }
    await using at = await discovery(routes, { ...given, timeBoxMs: answers === silence ? 100 : 30_000 })
    const troubles = trouble === undefined ? [] : [`default: ${trouble}`]
    expect(await at.ask('m')).toBeNull()
    expect(at.troubles).toEqual(troubles)
    // Told once, however often it is asked and by whatever model.
    at.clock.nowMs += HOUR_MS
    expect(await at.ask('m')).toBeNull()
    expect(await at.ask('n')).toBeNull()
    expect(at.troubles).toEqual(troubles)
  })

  // It shows itself in requests.
  test('one that cannot be reached is no trouble', async () => {
    await using at = await discovery({})
    await at.server.close()
    expect([await at.ask('m'), at.troubles]).toEqual([null, []])
  })

  test('a figure that cannot be is passed over for one that can', async () => {
    await using at = await discovery({ ...stated(-1), 'GET /props': props(8192) })
    expect(await at.tokens('m')).toBe(8192)
    expect(at.troubles).toEqual([])
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
    await forAllAsync(40, tree, async (answer) => {
      await using at = await discovery({}, { otherwise: json(answer) })
      const tokens = (await at.tokens('m')) ?? 512
      expect(tokens >= 512 && tokens <= 20_000_000).toBe(true)
      expect(at.troubles.filter((trouble) => trouble !== 'default: implausible')).toEqual([])
      expect(at.shouldWait('m')).toBe(false)
    })
  })
})
