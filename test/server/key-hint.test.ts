import { expect, test } from 'vitest'
import { fakeUpstream, json } from '../support/fake-upstream.ts'
import { startFoldgate, type FoldgateOptions } from '../support/foldgate.ts'

const clientKey = 'sk-client-0123456789'
const ownKey = 'sk-own-0123456789'
const refusal = { error: { message: 'No API key provided.', type: 'invalid_request_error', code: null } }
const refused = JSON.stringify(refusal)

const user = { role: 'user', content: 'Hi' }

/** A request in each dialect, and one that is relayed unread. */
const requests = [
  ['chat/completions', { model: 'm', messages: [user] }],
  ['responses', { model: 'm', input: [user] }],
  ['messages', { model: 'm', max_tokens: 9, messages: [user] }],
  ['embeddings', { model: 'm', input: 'Hi' }],
] as const

/** What a client with this key gets where the upstream refuses, in each dialect; and the log. */
async function ask(
  given: Omit<FoldgateOptions, 'upstream'>,
  { via = '', key = clientKey, status = 401 }: { via?: string; key?: string; status?: number } = {},
) {
  await using upstream = await fakeUpstream(json(refusal, status))
  const upstreams = Object.entries(given.upstreams ?? {}).map(
    ([name, more]) => [name, { ...more, ...(name !== 'default' && { url: upstream.url }) }] as const,
  )
  const own = { upstream: upstream.url, upstreams: Object.fromEntries(upstreams) }
  const foldgate = await startFoldgate({ ...given, ...own })
  try {
    const hints = new Set<string | null>()
    for (const [path, body] of requests) {
      const answer = await fetch(`${new URL(foldgate.url).origin}${via}/v1/${path}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(key !== '' && { authorization: `Bearer ${key}` }),
        },
        body: JSON.stringify(body),
      })
      expect(answer.status).toBe(status)
      // The body stays the upstream's own.
      expect(await answer.text()).toBe(refused)
      hints.add(answer.headers.get('x-foldgate-hint'))
    }
    const log = foldgate.log.filter((line) => line.includes('the key that it got'))
    expect(foldgate.log.join('')).not.toMatch(/sk-(?:client|own)/)
    return { hints: [...hints], log: log.map((line) => JSON.parse(line)) }
  } finally {
    await foldgate.close()
  }
}

const url = ''

// A named upstream answered "no API key provided" to clients that had sent one: nothing said that Foldgate had taken it out.
test('a named upstream that got no key says so in the header of its refusal, in every dialect, and once in the log', async () => {
  const hint =
    'the upstream "cheap" got no key: the client\'s goes to the default upstream only; give it one by api_key_env or api_key_file in foldgate.yaml, or let it have the client\'s by forward_client_key: true'
  const { hints, log } = await ask({ upstreams: { cheap: { url } } }, { via: '/u/cheap' })
  expect(hints).toEqual([hint])
  const message = 'an upstream refused the key that it got, or that it got none'
  expect(log).toMatchObject([{ level: 'warn', message, upstream: 'cheap', status: 401, hint }])
})

test.each([
  [
    "Foldgate's own key",
    { upstreams: { default: { url, api_key_env: 'KEY' } }, env: { KEY: ownKey } },
    {},
    'the upstream "default" got Foldgate\'s own key (its api_key_env or api_key_file in foldgate.yaml), not the client\'s',
  ],
  [
    "a header of the settings'",
    { upstreams: { cheap: { url, headers: { authorization: `Bearer ${ownKey}` } } } },
    { via: '/u/cheap', status: 403 },
    'the upstream "cheap" got the credential in its headers in foldgate.yaml, not the client\'s key',
  ],
  [
    'no key, of a client that sent none',
    {},
    { key: '' },
    'the upstream "default" got no key: the client sent none, and Foldgate has none for it',
  ],
  [
    'no key, of a client that sent none to a named upstream',
    { upstreams: { cheap: { url } } },
    { via: '/u/cheap', key: '' },
    'the upstream "cheap" got no key: the client sent none; give it one by api_key_env or api_key_file in foldgate.yaml, or let it have the client\'s by forward_client_key: true',
  ],
  [
    "no key, of a client with a key of Foldgate's",
    { settings: { client_keys: [{ name: 'a', key_env: 'KEY' }] }, env: { KEY: clientKey } },
    {},
    'the upstream "default" got no key: the client\'s is one of client_keys, which opens Foldgate alone; give it one by api_key_env or api_key_file in foldgate.yaml',
  ],
  ["the client's own", {}, {}, null],
  [
    'one of a client, at another refusal',
    { upstreams: { cheap: { url } } },
    { via: '/u/cheap', status: 404 },
    null,
  ],
])('an upstream that got %s', async (_what, given, request, hint) => {
  const { hints, log } = await ask(given, request)
  expect(hints).toEqual([hint])
  expect(log.map((line) => line.hint)).toEqual(hint === null ? [] : [hint])
})
