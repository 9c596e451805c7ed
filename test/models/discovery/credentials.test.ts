import { describe, expect, test } from 'vitest'
import { parseTarget } from '../../../src/upstream/target.ts'
import { json } from '../../support/fake-upstream.ts'
import { windowServer, windowStand } from './window-server.ts'

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

describe("a question carries the client's credential and nothing else of its request", () => {
  test('to the default upstream', async () => {
    await using server = await windowServer({})
    await using stand = windowStand(server.url)
    await stand.ask('m', { rawHeaders })
    expect(server.questions.length).toBeGreaterThan(0)
    for (const { headers, body, method } of server.questions) {
      expect(method).toBe('GET')
      expect(body.length).toBe(0)
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

  test.each(['api-key', 'x-api-key', 'x-goog-api-key'])('where the client put it: %s', async (name) => {
    await using server = await windowServer({})
    await using stand = windowStand(server.url)
    await stand.ask('m', { rawHeaders: [name, 'client'] })
    expect(new Set(server.questions.map(({ headers }) => headers[name]))).toEqual(new Set(['client']))
  })

  test('in the query, of which only the key goes along', async () => {
    await using server = await windowServer({})
    await using stand = windowStand(server.url)
    const target = parseTarget('/v1/chat/completions?api-version=1&key=client&alt=sse')
    await stand.ask('m', { rawHeaders: [], target })
    expect(server.questions.map(({ url }) => url)).toContain('/v1/models?key=client')
    expect(server.questions.map(({ url }) => url)).toContain('/props?model=m&autoload=false&key=client')
  })

  test('not what the client said belongs to its connection', async () => {
    await using server = await windowServer({})
    await using stand = windowStand(server.url)
    await stand.ask('m', { rawHeaders: ['Connection', 'x-api-key', 'X-Api-Key', 'client'] })
    expect(server.questions.some(({ headers }) => 'x-api-key' in headers)).toBe(false)
  })
})

// A key that is meant for one provider and asked about a window at another is a key given away.
describe('a credential goes only where requests may take it', () => {
  const target = parseTarget('/v1/chat/completions?key=client')

  test('not to another upstream, unless it is marked for it', async () => {
    await using server = await windowServer({})
    await using other = await windowServer({})
    await using marked = await windowServer({})
    await using stand = windowStand(server.url, {
      others: { other: { url: other.url }, marked: { url: marked.url, forward_client_key: true } },
    })
    await stand.ask('m', { upstream: 'other', rawHeaders, target })
    await stand.ask('m', { upstream: 'marked', rawHeaders, target })
    expect(other.questions.length).toBeGreaterThan(0)
    expect(JSON.stringify(other.questions.map(({ url, headers }) => [url, headers]))).not.toContain('client')
    expect(new Set(marked.questions.map(({ headers }) => headers.authorization))).toEqual(
      new Set(['Bearer client']),
    )
    expect(server.questions).toEqual([])
  })

  test("a held key replaces the client's, and a key of Foldgate's own is withheld", async () => {
    await using server = await windowServer({})
    await using held = await windowServer({})
    await using stand = windowStand(server.url, {
      others: { held: { url: held.url, key: () => 'secret', headers: { 'x-team': 'a' } } },
    })
    await stand.ask('m', { upstream: 'held', rawHeaders, target })
    await stand.ask('m', { rawHeaders, target, withholdCredential: true })
    expect(new Set(held.questions.map(({ headers }) => headers.authorization))).toEqual(
      new Set(['Bearer secret']),
    )
    expect(new Set(held.questions.map(({ headers }) => headers['x-team']))).toEqual(new Set(['a']))
    const seen = [...held.questions, ...server.questions].map(({ url, headers }) => [url, headers])
    expect(JSON.stringify(seen)).not.toContain('client')
  })

  // Google's own header was used wherever a path looked like Gemini's, so that gateways got no authorization.
  test("a gateway in front of Gemini gets the key where the client put it, or where Foldgate's own goes", async () => {
    const gemini = { models: [{ name: 'models/m', inputTokenLimit: 9000 }] }
    await using server = await windowServer({}, json(gemini))
    await using stand = windowStand(`${server.origin}/v1beta/openai`, {
      others: { held: { url: `${server.origin}/g/v1beta/openai`, key: () => 'secret' } },
    })
    await stand.ask('m')
    await stand.ask('m', { upstream: 'held' })
    await stand.ask('m', { upstream: 'held', rawHeaders: ['x-goog-api-key', 'client'] })
    expect(
      server.questions.map(({ url, headers }) => [url, headers['x-goog-api-key'], headers.authorization]),
    ).toEqual([
      ['/v1beta/models?pageSize=1000', undefined, 'Bearer client'],
      ['/g/v1beta/models?pageSize=1000', undefined, 'Bearer secret'],
      ['/g/v1beta/models?pageSize=1000', 'secret', undefined],
    ])
  })

  // A list that the old key had been denied was not asked for with the new one for up to an hour.
  test('a held key that changes is asked with as if none had been denied, and has the figures of before', async () => {
    let key = 'revoked'
    const models = { data: [{ id: 'm', max_model_len: 9000 }] }
    await using server = await windowServer({
      'GET /v1/models': (request, outgoing, incoming) =>
        (request.headers.authorization === 'Bearer revoked' ? json({}, 401) : json(models))(
          request,
          outgoing,
          incoming,
        ),
    })
    await using stand = windowStand(server.url, { settings: { key: () => key }, heldKeyMark: () => key })
    const asked = () => server.questions.filter(({ url }) => url === '/v1/models').length
    expect(await stand.ask('m')).toBeNull()
    stand.clock.nowMs += 61_000
    await stand.ask('m')
    // Paused by now.
    expect(asked()).toBe(1)
    key = 'new'
    stand.clock.nowMs += 61_000
    expect((await stand.ask('m'))?.tokens).toBe(9000)
    key = 'newer'
    expect(stand.windows.lookup(stand.question('m'))?.tokens).toBe(9000)
  })

  test('a redirect is not followed', async () => {
    await using elsewhere = await windowServer({})
    await using server = await windowServer({}, (_request, outgoing) => {
      outgoing.writeHead(307, { location: `${elsewhere.origin}/v1/models` }).end()
    })
    await using stand = windowStand(server.url)
    expect(await stand.ask('m')).toBeNull()
    expect(elsewhere.questions).toEqual([])
  })

  test("questions do not wait in the upstream's queue", async () => {
    await using server = await windowServer({
      'GET /v1/models': { data: [{ id: 'm', max_model_len: 9000 }] },
    })
    await using stand = windowStand(server.url, { settings: { concurrency: 0 } })
    expect((await stand.ask('m'))?.tokens).toBe(9000)
  })
})
