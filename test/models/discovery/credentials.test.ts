import { describe, expect, test } from 'vitest'
import { parseTarget } from '../../../src/upstream/target.ts'
import { json, type ReceivedRequest, type Script } from '../../support/fake-upstream.ts'
import { discovery, either, vllm, type Discovery } from './window-server.ts'

const rawHeaders = Object.entries({
  Authorization: 'Bearer client',
  Cookie: 'session=1',
  'X-Stainless-Lang': 'js',
  'User-Agent': 'sdk/1',
  'Content-Type': 'text/plain',
  'Content-Length': '99',
  'X-Foldgate-Profile': 'p',
  'OpenAI-Organization': 'o',
}).flat()

const isRevoked = ({ headers }: ReceivedRequest): boolean => headers.authorization === 'Bearer revoked'

/** What its questions said in this header, each value once. */
const seen = ({ server }: Discovery, name: string): readonly unknown[] => [
  ...new Set(server.questions.map(({ headers }) => headers[name])),
]

describe("a question carries the client's credential and nothing else of its request", () => {
  test('to the default upstream', async () => {
    await using at = await discovery({})
    await at.ask('m', { rawHeaders })
    expect(at.server.questions.length).toBeGreaterThan(0)
    for (const { headers, body, method } of at.server.questions) {
      expect([method, body.length]).toEqual(['GET', 0])
      expect(headers).toEqual({
        host: expect.any(String),
        connection: 'keep-alive',
        'user-agent': 'foldgate',
        accept: 'application/json',
        'accept-encoding': 'identity',
        authorization: 'Bearer client',
      })
    }
  })

  test('where the client put it, of a query only the key, and nothing that belongs to its connection', async () => {
    for (const name of ['api-key', 'x-api-key', 'x-goog-api-key']) {
      await using at = await discovery({})
      await at.ask('m', { rawHeaders: [name, 'client'] })
      expect([name, seen(at, name)]).toEqual([name, ['client']])
    }
    await using queried = await discovery({})
    const target = parseTarget('/v1/chat/completions?api-version=1&key=client&alt=sse')
    await queried.ask('m', { rawHeaders: [], target })
    expect(queried.asked()).toContain('/v1/models?key=client')
    expect(queried.asked()).toContain('/props?model=m&autoload=false&key=client')
    await using hopping = await discovery({})
    await hopping.ask('m', { rawHeaders: ['Connection', 'x-api-key', 'X-Api-Key', 'client'] })
    expect(seen(hopping, 'x-api-key')).toEqual([undefined])
  })
})

// A key that is meant for one provider and asked about a window at another is a key given away.
describe('a credential goes only where requests may take it', () => {
  const target = parseTarget('/v1/chat/completions?key=client')

  test('not to another upstream, unless it is marked for it', async () => {
    await using other = await discovery({})
    await using marked = await discovery({})
    await using at = await discovery(
      {},
      {
        others: {
          other: { url: other.server.url },
          marked: { url: marked.server.url, forward_client_key: true },
        },
      },
    )
    await at.ask('m', { upstream: 'other', rawHeaders, target })
    await at.ask('m', { upstream: 'marked', rawHeaders, target })
    const told = other.server.questions.map(({ url, headers }) => [url, headers])
    expect(told.length).toBeGreaterThan(0)
    expect(JSON.stringify(told)).not.toContain('client')
    expect(seen(marked, 'authorization')).toEqual(['Bearer client'])
    expect(at.asked()).toEqual([])
  })

  test("a held key replaces the client's, and a key of Foldgate's own is withheld", async () => {
    await using held = await discovery({})
    const settings = { url: held.server.url, key: () => 'secret', headers: { 'x-team': 'a' } }
    await using at = await discovery({}, { others: { held: settings } })
    await at.ask('m', { upstream: 'held', rawHeaders, target })
    await at.ask('m', { rawHeaders, target, withholdCredential: true })
    expect(seen(held, 'authorization')).toEqual(['Bearer secret'])
    expect(seen(held, 'x-team')).toEqual(['a'])
    const all = [...held.server.questions, ...at.server.questions].map(({ url, headers }) => [url, headers])
    expect(JSON.stringify(all)).not.toContain('client')
  })

  // Google's own header was used wherever a path looked like Gemini's, so that gateways got no authorization.
  test("a gateway in front of Gemini gets the key where the client put it, or where Foldgate's own goes", async () => {
    const otherwise = json({ models: [{ name: 'models/m', inputTokenLimit: 9000 }] })
    await using held = await discovery({}, { otherwise })
    await using at = await discovery(
      {},
      {
        otherwise,
        base: '/v1beta/openai',
        others: { held: { url: `${held.server.origin}/g/v1beta/openai`, key: () => 'secret' } },
      },
    )
    await at.ask('m')
    await at.ask('m', { upstream: 'held' })
    await at.ask('m', { upstream: 'held', rawHeaders: ['x-goog-api-key', 'client'] })
    expect(
      [...at.server.questions, ...held.server.questions].map(({ url, headers }) => [
        url,
        headers['x-goog-api-key'],
        headers.authorization,
      ]),
    ).toEqual([
      ['/v1beta/models?pageSize=1000', undefined, 'Bearer client'],
      ['/g/v1beta/models?pageSize=1000', undefined, 'Bearer secret'],
      ['/g/v1beta/models?pageSize=1000', 'secret', undefined],
    ])
  })

  // A list that the old key had been denied was not asked for with the new one for up to an hour.
  test('a held key that changes is asked with as if none had been denied, and has the figures of before', async () => {
    let key = 'revoked'
    const models = either(isRevoked, json({}, 401), { data: [{ id: 'm', max_model_len: 9000 }] })
    await using at = await discovery(
      { 'GET /v1/models': models },
      { settings: { key: () => key }, heldKeyMark: () => key },
    )
    expect(await at.ask('m')).toBeNull()
    at.clock.nowMs += 61_000
    await at.ask('m')
    // Paused by now.
    expect(at.asked().filter((url) => url === '/v1/models')).toHaveLength(1)
    key = 'new'
    at.clock.nowMs += 61_000
    expect(await at.tokens('m')).toBe(9000)
    key = 'newer'
    expect(at.look('m')).toBe(9000)
  })

  test('a redirect is not followed', async () => {
    await using elsewhere = await discovery({})
    const otherwise: Script = (_request, outgoing) => {
      outgoing.writeHead(307, { location: `${elsewhere.server.origin}/v1/models` }).end()
    }
    await using at = await discovery({}, { otherwise })
    expect(await at.ask('m')).toBeNull()
    expect(elsewhere.asked()).toEqual([])
  })

  test("questions do not wait in the upstream's queue", async () => {
    await using at = await discovery(vllm(9000, 'm'), { settings: { concurrency: 0 } })
    expect(await at.tokens('m')).toBe(9000)
  })
})
