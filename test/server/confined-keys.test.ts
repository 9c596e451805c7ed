import { brotliCompressSync, gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { completion, fakeUpstream, type FakeUpstream } from '../support/fake-upstream.ts'
import { startFoldgate, type RunningFoldgate } from '../support/foldgate.ts'
import { profilesOf } from '../support/profiles.ts'
import { rawExchange } from '../support/raw-client.ts'

// An operator gives a team a key of Foldgate's that is confined to the profile of a small model, and holds the
// provider's key. One who has the team's key wants the large model on the operator's money: whatever Foldgate does not
// read, it relays with the held key. A key twice in the body, a byte order mark, a coding that is none, a legacy path, the
// same path in capitals, PUT: each reached the large model. And `overrides: false`, which is to keep a conversation from
// going past Foldgate, was worth as little.

const profiles = profilesOf({
  default: {},
  small: { models: ['small-*'] },
  agents: { headers: { 'x-agent': 'a' } },
})

const keys = { TEAM: 'fg-team', READ: 'fg-read', ANY: 'fg-any', HELD: 'sk-held' }

let upstream: FakeUpstream
let foldgate: RunningFoldgate

beforeAll(async () => {
  upstream = await fakeUpstream(completion('fine'))
  foldgate = await startFoldgate({
    upstream: upstream.url,
    upstreams: { default: { url: upstream.url, api_key_env: 'HELD' } },
    settings: {
      client_keys: [
        { name: 'team', key_env: 'TEAM', profiles: ['small'] },
        { name: 'read', key_env: 'READ', overrides: false },
        { name: 'any', key_env: 'ANY' },
      ],
    },
    env: keys,
    profiles,
  })
  return async () => {
    await foldgate.close()
    await upstream.close()
  }
})

type Attack = {
  readonly method?: string
  readonly path?: string
  readonly headers?: readonly string[]
  readonly body?: string | Buffer
}

type Named = readonly [name: string, attack: Attack]

const messages = '[{"role":"user","content":"hi"}]'
const small = `{"model":"small-1","messages":${messages}}`
const large = `{"model":"large","messages":${messages}}`
const response = '{"model":"small-1","input":"hi"}'
const json = 'Content-Type: application/json'

/** The small model's chat with further members. */
const withMembers = (members: string): Attack => ({ body: small.replace('{', `{${members},`) })
const withLine = (line: string): Attack => ({ headers: [json, line] })
const atPaths = (...paths: readonly string[]): readonly Named[] => paths.map((path) => [path, { path }])

/** Sends a request as it is; its status, its code, and what reached the upstream. */
async function attack(
  key: 'TEAM' | 'READ' | 'ANY',
  { method = 'POST', path, headers, body = small }: Attack,
) {
  const before = upstream.requests.length
  const head = [
    `${method} ${path ?? '/v1/chat/completions'} HTTP/1.1`,
    'Host: localhost',
    'Connection: close',
    `Authorization: Bearer ${keys[key]}`,
    ...(headers ?? [json]),
    `Content-Length: ${Buffer.byteLength(body)}`,
  ].join('\r\n')
  const bytes = Buffer.concat([Buffer.from(`${head}\r\n\r\n`), Buffer.from(body)])
  const answer = await rawExchange(foldgate.listening.port, bytes)
  const status = Number(answer.statusLine.split(' ')[1])
  const { error, code = error?.code ?? null } = status < 400 ? {} : JSON.parse(answer.body.toString())
  return { status, code, sent: upstream.requests.length - before }
}

const passed = { status: 200, code: null, sent: 1 }

/** What came of attacks by their names, and what has to: refused with this code, or let through. */
async function fates(key: 'TEAM' | 'READ' | 'ANY', attacks: readonly Named[], code: string | null) {
  const expected = code === null ? passed : { status: 403, code, sent: 0 }
  const found: unknown[] = []
  for (const [name, each] of attacks) found.push([name, await attack(key, each)])
  return { found, expected: attacks.map(([name]) => [name, expected]) }
}

/** Bodies of which Foldgate and a server may read different things. */
const unreadable: readonly Named[] = [
  ['a key twice', { body: `{"model":"small-1","messages":${messages},"model":"large"}` }],
  ['a key twice, once escaped', { body: `{"model":"small-1","messages":${messages},"mod\\u0065l":"large"}` }],
  ['a byte order mark', { body: `\uFEFF${large}` }],
  ['a coding that is none', { headers: [json, 'Content-Encoding: gzip'], body: large }],
  ['a coding nobody knows here', { headers: [json, 'Content-Encoding: zstd'], body: large }],
  ['text that is not UTF-8', { body: Buffer.concat([Buffer.from(large), Buffer.from([0xff])]) }],
  ['a message that is no object', { body: '{"model":"large","messages":[1]}' }],
  ['a message with a key twice', { body: '{"model":"large","messages":[{"role":"user","role":"user"}]}' }],
  ['more levels than are read', withMembers(`"x":${'['.repeat(600)}${']'.repeat(600)}`)],
  ['no messages', { body: '{"model":"large","prompt":"hi"}' }],
  ['no input', { path: '/v1/responses', body: large }],
  ['a history at the server', { path: '/v1/responses', body: '{"input":"hi","previous_response_id":"r"}' }],
  ['no JSON', { body: 'model=large' }],
  ['nothing', { body: '' }],
]

/** Requests by which a server may run a model, or find a conversation, unread. */
const otherWays: readonly Named[] = [
  ...atPaths('/v1/completions', '/v1/messages/batches', '/api/generate', '/v1/batches'),
  ...atPaths('/CHAT/Completions', '/v1/chat/COMPLETIONS', '/v1/chat/completion%73', '/v1/chat%2fcompletions'),
  ...atPaths('/v1/chat/completion%2573', '/v1/chat/completions;a=b', '/v1/models/large:generateContent'),
  ...atPaths('/v1/chat/completions/batch', '/api/v1/chat', '/model/large/converse', '/', '/v1/complete'),
  ...atPaths('/v1/conversations', '/v1/models/large:batchGenerateContent', '/v2/models/large/infer'),
  ...atPaths('/v1/predictions', '/ml/v1/text/chat_stream', '/ml/v1/text/generation'),
  ['PUT', { method: 'PUT' }],
  ['PATCH', { method: 'PATCH' }],
  [
    'a method in a header',
    { method: 'GET', path: '/v1/completions', headers: ['X-HTTP-Method-Override: POST'] },
  ],
]

/** Whatever may name another model unseen. */
const unknownPlaces: readonly Named[] = [
  ...atPaths('/v1/embeddings', '/v1/images/generations', '/v1/audio/speech', '/v1/files', '/v1/threads/runs'),
  ...atPaths('/v1/moderations', '/anything', '/models/large/v1/chat/completions', '/v1//chat/completions'),
  ...atPaths('/v1/engines/large/chat/completions', '/v1/chat/completions/', '/v1/responses//'),
  ...atPaths('/v1/engines/large/responses', '/v1/responses?model=large', '/v1/messages?model=large'),
  ...atPaths('/v1/engines/large/messages', '/v1/RESPONSES', '/v1/responses/resp_1/cancel'),
  ...atPaths('/openai/deployments/smal%6c-1/chat/completions', '/v1/chat/completions?model=large'),
  ...atPaths(
    '/v1/chat/completions?api-version=1&model=large',
    '/v1/chat/completions?api-version=1?model=large',
  ),
  ['a list of models that is posted', { path: '/v1/models' }],
  ["what else is Ollama's own", { path: '/api/show' }],
  ['a model that is deleted', { method: 'DELETE', path: '/v1/models/small-1' }],
  ['what is below a list of models', { method: 'GET', path: '/v1/models/a/b/c' }],
  ['a form', { headers: ['Content-Type: application/x-www-form-urlencoded'] }],
  ['a form in parts', { headers: ['Content-Type: multipart/form-data; boundary=a'] }],
  ['another charset', { headers: ['Content-Type: application/json; charset=shift_jis'] }],
  ['two content types', withLine('Content-Type: application/x-www-form-urlencoded')],
  ['a method in a header', { method: 'GET', path: '/v1/models', headers: ['X-HTTP-Method-Override: POST'] }],
  ['a path in a header', withLine('X-Original-URL: /v1/completions')],
  ...[
    ['azureml-model-deployment', 'mm-model-id', 'mm-vmodel-id', 'X-Gateway-Model-Name', 'x-model'],
    ['x_model', 'x-selected-model', 'x-original-uri', 'x-forwarded-uri', 'x-portkey-config'],
  ]
    .flat()
    .map((name): Named => [`the header ${name}`, withLine(`${name}: large`)]),
  // Its bytes may be JSON, too.
  ['brotli', { headers: [json, 'Content-Encoding: br'], body: brotliCompressSync(large) }],
]

const otherModels: readonly Named[] = [
  ['a model in other letters', withMembers('"MODEL":"large"')],
  ['a model that is a list', { body: `{"model":["large"],"messages":${messages}}` }],
  ['two models in one', { body: `{"model":"small-1,large","messages":${messages}}` }],
  ['models to fall back on', withMembers('"models":["large"]')],
  ['fallbacks', withMembers('"fallbacks":["large"]')],
  ['fallbacks in other letters', withMembers('"Fallback\u017f":["large"]')],
  ['a stored prompt', { path: '/v1/responses', body: response.replace('{', '{"prompt":{"id":"p"},') }],
  ['models to fall back to', { path: '/v1/messages', ...withMembers('"fallbacks":["large"]') }],
  // A model that advises another one is a tool of Anthropic's API: it was run whatever the key may use.
  [
    'a tool that is a model',
    {
      path: '/v1/messages',
      ...withMembers('"tools":[{"type":"advisor_20260301","name":"advisor","model":"large"}]'),
    },
  ],
  ['another address', withMembers('"api_base":"http://127.0.0.1"')],
  ...[
    ['lora_path', 'lora', 'draft_model', 'model_name', 'model_id', 'deployment_name', 'azure_deployment'],
    ['engine_id', 'backend', 'adapter_id', 'litellm_metadata', 'extra_body', 'provideroptions', ' model'],
    ['model\\u0000', 'Temperature'],
  ]
    .flat()
    .map((field): Named => [`the field "${field}"`, withMembers(`"${field}":"large"`)]),
  ['its own profile with another model', { headers: [json, 'x-foldgate-profile: small'], body: large }],
]

const otherProfiles: readonly Named[] = [
  ['the model itself', { body: large }],
  ['the model itself, by a response', { path: '/v1/responses', body: '{"model":"large","input":"hi"}' }],
  ['a response of no model', { path: '/v1/responses/compact', body: '{"input":"hi"}' }],
  ['no model', { body: `{"messages":${messages}}` }],
  // A deployment was looked for in the whole target: a query that named one was a model of the key's own.
  [
    'no model, and a deployment in the query',
    { path: '/v1/chat/completions?key=/openai/deployments/small-1/', body: `{"messages":${messages}}` },
  ],
  ['a deployment in the path', { path: '/openai/deployments/large/chat/completions' }],
  ['a model beside a deployment', { path: '/openai/deployments/small-1/chat/completions', body: large }],
  ['another profile', withLine('x-foldgate-profile: default')],
  ['a header that finds another profile', withLine('x-agent: a')],
]

const ownWays: readonly Named[] = [
  ['what is its own', {}],
  ['in other letters', { body: small.replace('small', 'SMALL') }],
  ...atPaths('/openai/v1/chat/completions', '/chat/completions', '/anthropic/v1/messages'),
  ...atPaths('/v1/messages?beta=true', '/openai/deployments/small-1/chat/completions?api-version=2024-10-21'),
  ['a response', { path: '/v1/responses', body: response }],
  ['a response of Azure', { path: '/openai/v1/responses?api-version=preview', body: response }],
  ['a compaction', { path: '/v1/responses/compact', body: response }],
  [
    'a deployment that the body does not repeat',
    { path: '/openai/deployments/small-1/chat/completions', body: `{"messages":${messages}}` },
  ],
  ['encoded', { headers: [json, 'Content-Encoding: gzip'], body: gzipSync(small) }],
  ['with a charset', { headers: ['Content-Type: application/json; charset=UTF-8'] }],
  ['by asking for its profile', withLine('x-foldgate-profile: small')],
  ['with what servers take beside it', withMembers('"top_k":4')],
  ['with metadata', withMembers('"metadata":{"a":"b"}')],
  ['a list of models', { method: 'GET', path: '/v1/models', headers: [], body: '' }],
  ['a model', { method: 'GET', path: '/v1/models/org/small-1', headers: [], body: '' }],
  // Home Assistant and Open WebUI cannot be set up without it.
  ["Ollama's list of models", { method: 'GET', path: '/api/tags', headers: [], body: '' }],
]

const bypass = 'x-foldgate-bypass: 1'

describe('a key that is confined to profiles', () => {
  test.each([
    ['what cannot be read', unreadable, 'unread_not_allowed'],
    ['what goes past Foldgate', [['large', { headers: [json, bypass], body: large }]], 'unread_not_allowed'],
    ['what is its own, past Foldgate', [['small', withLine(bypass)]], 'unread_not_allowed'],
    ['other ways to a model', otherWays, 'endpoint_not_allowed'],
    ['places that are not known', unknownPlaces, 'endpoint_not_allowed'],
    ['other models', otherModels, 'model_not_allowed'],
    ['other profiles', otherProfiles, 'override_not_allowed'],
  ] as const)('reaches nothing by %s', async (_, attacks, code) => {
    const { found, expected } = await fates('TEAM', attacks, code)
    expect(found).toEqual(expected)
  })

  test('reaches what is its own', async () => {
    const { found, expected } = await fates('TEAM', ownWays, null)
    expect(found).toEqual(expected)
  })
})

describe('a key that may not bypass Foldgate', () => {
  test.each([
    ['what cannot be read', unreadable, 'unread_not_allowed'],
    ['other ways to a model', otherWays, 'endpoint_not_allowed'],
  ] as const)('does not by %s', async (_, attacks, code) => {
    const { found, expected } = await fates('READ', attacks, code)
    expect(found).toEqual(expected)
  })

  test('has every model, and what carries no conversation', async () => {
    const { found, expected } = await fates(
      'READ',
      [
        ['a model', { body: large }],
        ['a path with two slashes', { path: '/v1//chat/completions', body: large }],
        ['a response', { path: '/v1/responses', body: '{"model":"large","input":"hi"}' }],
        ['embeddings', { path: '/v1/embeddings', body: '{"input":"a"}' }],
        ['messages of a thread', { path: '/v1/threads/t/messages', body: '{}' }],
      ],
      null,
    )
    expect(found).toEqual(expected)
  })
})

test('a key that nothing confines goes on as before', async () => {
  const { found, expected } = await fates('ANY', [...unreadable, ...otherWays], null)
  expect(found).toEqual(expected)
})
