import { beforeAll, describe, expect, test } from 'vitest'
import { clientOverrides } from '../../src/config/settings-schema.ts'
import { completion, fakeUpstream, type FakeUpstream } from '../support/fake-upstream.ts'
import { startFoldgate, type RunningFoldgate } from '../support/foldgate.ts'
import { chatOf, postChat } from '../support/post-chat.ts'
import { profilesOf } from '../support/profiles.ts'
import { rawExchange } from '../support/raw-client.ts'

const profiles = profilesOf({
  default: {},
  small: { models: ['small-*'], window: { tokens: 9_000 } },
  'team-a': { headers: { 'x-agent': 'a' } },
})

const settings = {
  client_keys: [
    { name: 'all', key_env: 'ALL' },
    { name: 'none', key_env: 'NONE', overrides: false },
    { name: 'labels', key_env: 'LABELS', overrides: ['conversation'] },
    { name: 'confined', key_env: 'CONFINED', profiles: ['SMALL', 'team-*'], upstreams: ['che*'] },
    { name: 'settled', key_env: 'SETTLED', upstreams: [] },
  ],
}

const env = {
  ALL: 'fg-all',
  NONE: 'fg-none',
  LABELS: 'fg-labels',
  CONFINED: 'fg-confined',
  SETTLED: 'fg-settled',
  HELD: 'sk-held',
}

let upstream: FakeUpstream
let cheap: FakeUpstream
let foldgate: RunningFoldgate

beforeAll(async () => {
  upstream = await fakeUpstream(completion('fine'))
  cheap = await fakeUpstream(completion('cheap'))
  foldgate = await startFoldgate({
    upstream: upstream.url,
    upstreams: {
      default: { url: upstream.url, api_key_env: 'HELD' },
      cheap: { url: cheap.url },
      dear: { url: upstream.url, api_key_env: 'HELD' },
    },
    settings,
    env,
    profiles,
  })
  return async () => {
    await foldgate.close()
    await upstream.close()
    await cheap.close()
  }
})

const as = (name: keyof typeof env) => ({ authorization: `Bearer ${env[name]}` })

const bodyOf = (model: string) => chatOf([{ role: 'user', content: 'hi' }], { model })

/** What became of a request: its status, the code and the parameter of an error, and how often an upstream was asked. */
async function outcome(headers: Readonly<Record<string, string>>, { model = 'm', path = '' } = {}) {
  const before = upstream.requests.length + cheap.requests.length
  const origin = foldgate.url.slice(0, -'/v1'.length)
  const reply = await postChat(`${origin}${path}/v1`, bodyOf(model), headers)
  const error: unknown = reply.status < 400 ? null : JSON.parse(reply.text)
  return { status: reply.status, error, sent: upstream.requests.length + cheap.requests.length - before }
}

const refused = (param: string | null) => ({
  status: 403,
  error: { error: expect.objectContaining({ type: 'foldgate_error', code: 'override_not_allowed', param }) },
  sent: 0,
})

const passed = { status: 200, error: null, sent: 1 }

/** A value of each override that would do something, and some that would do nothing. */
const values = {
  bypass: ['1', 'true', '0', ''],
  profile: ['small', 'nobody', ''],
  compact: ['force', 'off', 'truncate', 'summarize', 'nonsense'],
  conversation: ['label', ''],
} as const satisfies Record<(typeof clientOverrides)[number], readonly string[]>

describe('an override that a key may not send is a 403, whatever it says', () => {
  test.each(clientOverrides)('x-foldgate-%s', async (name) => {
    const header = `x-foldgate-${name}`
    for (const value of values[name]) {
      expect(await outcome({ ...as('NONE'), [header]: value })).toEqual(refused(header))
      const labelled = await outcome({ ...as('LABELS'), [header]: value })
      expect(labelled).toEqual(name === 'conversation' ? passed : refused(header))
    }
    const [value] = values[name]
    expect(await outcome({ ...as('ALL'), [header]: value })).toEqual(passed)
  })

  test.each(clientOverrides)('x-foldgate-%s in another spelling, twice, or as a list', async (name) => {
    const port = Number(new URL(foldgate.url).port)
    const [value] = values[name]
    const before = upstream.requests.length
    for (const lines of [
      [`X-FOLDGATE-${name.toUpperCase()}: ${value}`],
      [`X-Foldgate-${name}:\t ${value} \t`],
      [`x-foldgate-${name}: ${value}`, `X-Foldgate-${name}: ${value}`],
      [`x-foldgate-${name}:`, `x-foldgate-${name}: ${value}`],
      [`x-foldgate-${name}: , ${value},`],
    ]) {
      const body = JSON.stringify(bodyOf('m'))
      const answer = await rawExchange(
        port,
        [
          'POST /v1/chat/completions HTTP/1.1',
          'Host: localhost',
          'Connection: close',
          `Authorization: Bearer ${env.NONE}`,
          ...lines,
          `Content-Length: ${body.length}`,
          '',
          body,
        ].join('\r\n'),
      )
      expect([lines, answer.statusLine]).toEqual([lines, expect.stringContaining(' 403 ')])
    }
    expect(upstream.requests).toHaveLength(before)
  })

  test('twice the same is no way around what a key may send, nor a way to mean two things', async () => {
    const port = Number(new URL(foldgate.url).port)
    const body = JSON.stringify(bodyOf('m'))
    const answer = await rawExchange(
      port,
      `POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer ${env.ALL}\r\nx-foldgate-bypass: 0\r\nx-foldgate-bypass: 1\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    expect(answer.statusLine).toContain(' 400 ')
    expect(answer.body.toString()).toContain('invalid_header')
  })

  // Where nothing is rewritten there is nothing to override, and SDKs send their headers with every call.
  test('other paths go on, without it', async () => {
    const reply = await fetch(`${foldgate.url}/models`, {
      headers: { ...as('NONE'), 'x-foldgate-profile': 'small', 'x-foldgate-bypass': '1' },
    })
    expect(reply.status).toBe(200)
    const { headers } = upstream.requests.at(-1) ?? { headers: {} }
    expect(Object.keys(headers).filter((name) => name.startsWith('x-foldgate'))).toEqual([])
  })
})

describe('a profile that a key may not use is a 403', () => {
  test.each<[string, string, Record<string, string>, number]>([
    ['the one of the model', 'small-1', {}, 200],
    ['the one of the model, which is another', 'large', {}, 403],
    ['one that is asked for', 'small-1', { 'x-foldgate-profile': 'small' }, 200],
    ['another that is asked for', 'small-1', { 'x-foldgate-profile': 'default' }, 403],
    ['one that a header chooses', 'large', { 'x-agent': 'a' }, 200],
    ['one that a header does not choose', 'large', { 'x-agent': 'b' }, 403],
    ['one that is asked for in other capitals', 'small-1', { 'x-foldgate-profile': 'DEFAULT' }, 400],
  ])('%s: %s %o', async (_, model, headers, status) => {
    const found = await outcome({ ...as('CONFINED'), ...headers }, { model })
    if (status === 400) expect(found).toMatchObject({ status, sent: 0 })
    else expect(found).toEqual(status === 200 ? passed : refused(null))
  })
})

// A key confined to a profile, and with it to a cheap upstream, could choose any other by its path.
describe('an upstream that a key may not choose is a 403', () => {
  test.each<[keyof typeof env, string, number]>([
    ['ALL', '/u/cheap', 200],
    ['ALL', '/u/dear', 200],
    ['ALL', '/u/nobody', 404],
    ['CONFINED', '/u/cheap', 200],
    ['CONFINED', '/u/dear', 403],
    ['CONFINED', '/u/default', 403],
    // Who may not choose learns no names either.
    ['CONFINED', '/u/nobody', 403],
    ['CONFINED', '/u/che%61p/..%2f', 400],
    ['CONFINED', '/u/d%65ar', 403],
    ['CONFINED', '', 200],
    ['SETTLED', '/u/default', 403],
    ['SETTLED', '/u/cheap', 403],
    ['SETTLED', '', 200],
  ])('%s at %s is %i', async (key, path, status) => {
    const found = await outcome(as(key), { model: 'small-1', path })
    expect([found.status, found.sent]).toEqual([status, status === 200 ? 1 : 0])
    if (status === 403) expect(found).toEqual(refused(null))
  })

  test('on every path and with every method', async () => {
    const origin = foldgate.url.slice(0, -'/v1'.length)
    const before = upstream.requests.length
    for (const [method, path] of [
      ['GET', '/v1/models'],
      ['POST', '/v1/responses'],
      ['DELETE', '/v1/files/a'],
      ['POST', '/openai/deployments/small-1/chat/completions'],
    ] as const) {
      const answer = await fetch(`${origin}/u/dear${path}`, { method, headers: as('CONFINED') })
      expect([method, path, answer.status]).toEqual([method, path, 403])
    }
    expect(upstream.requests).toHaveLength(before)
  })
})
