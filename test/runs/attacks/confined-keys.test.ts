import { gzipSync } from 'node:zlib'
import { brotliCompressSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { profileSchema, type Profile } from '../../../src/profiles/schema.ts'
import { completion, fakeUpstream, type FakeUpstream } from '../../support/fake-upstream.ts'
import { startFoldgate, type RunningFoldgate } from '../../support/foldgate.ts'
import { rawExchange } from '../../support/raw-client.ts'

// An operator gives a team a key of Foldgate's that is confined to the profile of a small model, and holds the
// provider's key. One who has the team's key wants the large model on the operator's money: whatever Foldgate does not
// read, it relays with the held key. A key twice in the body, a byte order mark, a coding that is none, a legacy path, the
// same path in capitals, PUT: each reached the large model. And `overrides: false`, which is to keep a conversation from
// going past Foldgate, was worth as little.

const profileOf = (name: string, file: object): [string, Profile] => [
  name,
  { ...profileSchema.parse(file), name },
]

const profiles = new Map([
  profileOf('default', {}),
  profileOf('small', { models: ['small-*'] }),
  profileOf('agents', { headers: { 'x-agent': 'a' } }),
])

const keys = { TEAM: 'fg-team', READ: 'fg-read', ANY: 'fg-any', HELD: 'sk-held' }

let upstream: FakeUpstream
let foldgate: RunningFoldgate
let port: number

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
  port = Number(new URL(foldgate.url).port)
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

const messages = '[{"role":"user","content":"hi"}]'
const small = `{"model":"small-1","messages":${messages}}`
const large = `{"model":"large","messages":${messages}}`
const response = '{"model":"small-1","input":"hi"}'
const json = 'Content-Type: application/json'

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
  const answer = await rawExchange(port, Buffer.concat([Buffer.from(`${head}\r\n\r\n`), Buffer.from(body)]))
  const status = Number(answer.statusLine.split(' ')[1])
  const code: unknown = status < 400 ? null : JSON.parse(answer.body.toString()).error.code
  return { status, code, sent: upstream.requests.length - before }
}

const refused = (code: string) => ({ status: 403, code, sent: 0 })

const passed = { status: 200, code: null, sent: 1 }

/** Bodies of which Foldgate and a server may read different things. */
const unreadable: readonly (readonly [string, Attack])[] = [
  ['a key twice', { body: `{"model":"small-1","messages":${messages},"model":"large"}` }],
  [
    'a key twice, once with an escape',
    { body: `{"model":"small-1","messages":${messages},"mod\\u0065l":"large"}` },
  ],
  ['a byte order mark', { body: `\uFEFF${large}` }],
  ['a coding that is none', { headers: [json, 'Content-Encoding: gzip'], body: large }],
  ['a coding nobody knows here', { headers: [json, 'Content-Encoding: zstd'], body: large }],
  ['text that is not UTF-8', { body: Buffer.concat([Buffer.from(large), Buffer.from([0xff])]) }],
  ['a message that is no object', { body: `{"model":"large","messages":[1]}` }],
  ['a message with a key twice', { body: `{"model":"large","messages":[{"role":"user","role":"user"}]}` }],
  [
    'more levels than are read',
    { body: `{"model":"large","x":${'['.repeat(600)}${']'.repeat(600)},"messages":${messages}}` },
  ],
  ['no messages', { body: '{"model":"large","prompt":"hi"}' }],
  ['no input', { path: '/v1/responses', body: large }],
  [
    'a history at the server',
    { path: '/v1/responses', body: '{"model":"large","input":"hi","previous_response_id":"resp_1"}' },
  ],
  ['no JSON', { body: 'model=large' }],
  ['nothing', { body: '' }],
]

/** Requests by which a server may run a model, or find a conversation, unread. */
const otherWays: readonly (readonly [string, Attack])[] = [
  ...[
    '/v1/completions',
    '/v1/messages/batches',
    '/api/chat',
    '/api/generate',
    '/v1/batches',
    '/CHAT/Completions',
    '/v1/chat/COMPLETIONS',
    '/v1/chat/completion%73',
    '/v1/chat/completion%2573',
    '/v1/chat%2fcompletions',
    '/v1/chat/completions;a=b',
    '/v1/models/large:generateContent',
    '/v1/chat/completions/batch',
    '/api/v1/chat',
    '/model/large/converse',
    '/',
    '/v1/complete',
    '/v1/conversations',
    '/v1/models/large:batchGenerateContent',
    '/v2/models/large/infer',
    '/v1/predictions',
    '/ml/v1/text/chat_stream',
    '/ml/v1/text/generation',
  ].map((path): readonly [string, Attack] => [path, { path }]),
  ['PUT', { method: 'PUT' }],
  ['PATCH', { method: 'PATCH' }],
  [
    'a method that a header names',
    { method: 'GET', path: '/v1/completions', headers: ['X-HTTP-Method-Override: POST'] },
  ],
]

describe('a key that is confined to profiles reaches nothing', () => {
  test.each(unreadable)('by %s', async (_, sent) => {
    expect(await attack('TEAM', sent)).toEqual(refused('unread_not_allowed'))
  })

  test.each<readonly [string, Attack]>([
    ...otherWays,
    ...[
      '/v1/embeddings',
      '/v1/images/generations',
      '/v1/audio/speech',
      '/v1/files',
      '/v1/threads/runs',
      '/v1/moderations',
      '/anything',
      '/models/large/v1/chat/completions',
      '/v1/engines/large/chat/completions',
      '/v1//chat/completions',
      '/v1/chat/completions/',
      '/v1/responses//',
      '/v1/engines/large/responses',
      '/v1/responses?model=large',
      '/v1/messages?model=large',
      '/v1/engines/large/messages',
      '/v1/RESPONSES',
      '/v1/responses/resp_1/cancel',
      '/openai/deployments/smal%6c-1/chat/completions',
      '/v1/chat/completions?model=large',
      '/v1/chat/completions?api-version=1&model=large',
      '/v1/chat/completions?api-version=1?model=large',
    ].map((path): readonly [string, Attack] => [path, { path }]),
    ['a list of models that is posted', { path: '/v1/models' }],
    ['a model that is deleted', { method: 'DELETE', path: '/v1/models/small-1' }],
    ['what is below a list of models', { method: 'GET', path: '/v1/models/a/b/c' }],
    ['a form', { headers: ['Content-Type: application/x-www-form-urlencoded'] }],
    ['a form in parts', { headers: ['Content-Type: multipart/form-data; boundary=a'] }],
    ['another charset', { headers: ['Content-Type: application/json; charset=shift_jis'] }],
    ['two content types', { headers: [json, 'Content-Type: application/x-www-form-urlencoded'] }],
    [
      'a method in a header',
      { method: 'GET', path: '/v1/models', headers: ['X-HTTP-Method-Override: POST'] },
    ],
    ['a path in a header', { headers: [json, 'X-Original-URL: /v1/completions'] }],
    ['a deployment in a header', { headers: [json, 'azureml-model-deployment: large'] }],
    ...[
      'mm-model-id',
      'mm-vmodel-id',
      'X-Gateway-Model-Name',
      'x-model',
      'x_model',
      'x-selected-model',
      'x-original-uri',
      'x-forwarded-uri',
    ].map((name): readonly [string, Attack] => [`the header ${name}`, { headers: [json, `${name}: large`] }]),
    ['a gateway that is told in a header', { headers: [json, 'x-portkey-config: {}'] }],
    [
      'a coding whose bytes may be JSON, too',
      { headers: [json, 'Content-Encoding: br'], body: brotliCompressSync(large) },
    ],
  ])('by %s', async (_, sent) => {
    expect(await attack('TEAM', sent)).toEqual(refused('endpoint_not_allowed'))
  })

  test.each<readonly [string, Attack]>([
    ['a model in other letters', { body: `{"model":"small-1","MODEL":"large","messages":${messages}}` }],
    ['a model that is a list', { body: `{"model":["large"],"messages":${messages}}` }],
    ['two models in one', { body: `{"model":"small-1,large","messages":${messages}}` }],
    ['models to fall back on', { body: `{"model":"small-1","models":["large"],"messages":${messages}}` }],
    ['fallbacks', { body: `{"model":"small-1","fallbacks":["large"],"messages":${messages}}` }],
    [
      'fallbacks in other letters',
      { body: `{"model":"small-1","Fallback\u017f":["large"],"messages":${messages}}` },
    ],
    [
      'a stored prompt',
      { path: '/v1/responses', body: '{"model":"small-1","input":"hi","prompt":{"id":"p"}}' },
    ],
    ['models to fall back to', { path: '/v1/messages', body: small.replace('{', '{"fallbacks":["large"],') }],
    // A model that advises another one is a tool of Anthropic's API: it was run whatever the key may use.
    [
      'a tool that is a model',
      {
        path: '/v1/messages',
        body: small.replace('{', '{"tools":[{"type":"advisor_20260301","name":"advisor","model":"large"}],'),
      },
    ],
    ['another address', { body: `{"model":"small-1","api_base":"http://127.0.0.1","messages":${messages}}` }],
    ...[
      'lora_path',
      'lora',
      'draft_model',
      'model_name',
      'model_id',
      'deployment_name',
      'azure_deployment',
      'engine_id',
      'backend',
      'adapter_id',
      'litellm_metadata',
      'extra_body',
      'provideroptions',
      ' model',
      'model\\u0000',
      'Temperature',
    ].map((field): readonly [string, Attack] => [
      `the field "${field}"`,
      { body: `{"model":"small-1","${field}":"large","messages":${messages}}` },
    ]),
    [
      'a profile of its own, asked for with another model',
      { headers: [json, 'x-foldgate-profile: small'], body: large },
    ],
  ])('by %s', async (_, sent) => {
    expect(await attack('TEAM', sent)).toEqual(refused('model_not_allowed'))
  })

  test.each<readonly [string, Attack]>([
    ['the model itself', { body: large }],
    ['the model itself, by a response', { path: '/v1/responses', body: '{"model":"large","input":"hi"}' }],
    ['a response of no model', { path: '/v1/responses/compact', body: '{"input":"hi"}' }],
    ['no model', { body: `{"messages":${messages}}` }],
    // A deployment was looked for in the whole target: a query that named one was a model of the key's own.
    [
      'no model, and a deployment in the query',
      {
        path: '/v1/chat/completions?key=/openai/deployments/small-1/',
        body: `{"messages":${messages}}`,
      },
    ],
    ['a deployment in the path', { path: '/openai/deployments/large/chat/completions' }],
    ['a model beside a deployment', { path: '/openai/deployments/small-1/chat/completions', body: large }],
    ['another profile', { headers: [json, 'x-foldgate-profile: default'] }],
    ['a header that finds another profile', { headers: [json, 'x-agent: a'] }],
  ])('by %s', async (_, sent) => {
    expect(await attack('TEAM', sent)).toEqual(refused('override_not_allowed'))
  })

  test('by going past Foldgate', async () => {
    const headers = [json, 'x-foldgate-bypass: 1']
    expect(await attack('TEAM', { headers, body: large })).toEqual(refused('unread_not_allowed'))
    expect(await attack('TEAM', { headers })).toEqual(refused('unread_not_allowed'))
  })

  test.each<readonly [string, Attack]>([
    ['what is its own', {}],
    ['in other letters', { body: small.replace('small', 'SMALL') }],
    ['under another prefix', { path: '/openai/v1/chat/completions' }],
    ['a response', { path: '/v1/responses', body: response }],
    ['a response of Azure', { path: '/openai/v1/responses?api-version=preview', body: response }],
    ['a compaction', { path: '/v1/responses/compact', body: response }],
    ['a message', { path: '/v1/messages?beta=true', body: small }],
    ['a message of another provider', { path: '/anthropic/v1/messages', body: small }],
    ['without one', { path: '/chat/completions' }],
    ['as a deployment', { path: '/openai/deployments/small-1/chat/completions?api-version=2024-10-21' }],
    [
      'as a deployment that the body does not repeat',
      { path: '/openai/deployments/small-1/chat/completions', body: `{"messages":${messages}}` },
    ],
    ['encoded', { headers: [json, 'Content-Encoding: gzip'], body: gzipSync(small) }],
    ['with a charset', { headers: ['Content-Type: application/json; charset=UTF-8'] }],
    ['by asking for its profile', { headers: [json, 'x-foldgate-profile: small'] }],
    ['with what servers take beside it', { body: `{"model":"small-1","top_k":4,"messages":${messages}}` }],
    ['with metadata', { body: `{"model":"small-1","metadata":{"a":"b"},"messages":${messages}}` }],
    ['a list of models', { method: 'GET', path: '/v1/models', headers: [], body: '' }],
    ['a model', { method: 'GET', path: '/v1/models/org/small-1', headers: [], body: '' }],
  ])('but %s', async (_, sent) => {
    expect(await attack('TEAM', sent)).toEqual(passed)
  })
})

describe('a key that may not bypass Foldgate does not', () => {
  test.each(unreadable)('by %s', async (_, sent) => {
    expect(await attack('READ', sent)).toEqual(refused('unread_not_allowed'))
  })

  test.each(otherWays)('by %s', async (_, sent) => {
    expect(await attack('READ', sent)).toEqual(refused('endpoint_not_allowed'))
  })

  test('and has every model, and what carries no conversation', async () => {
    expect(await attack('READ', { body: large })).toEqual(passed)
    expect(await attack('READ', { path: '/v1//chat/completions', body: large })).toEqual(passed)
    expect(await attack('READ', { path: '/v1/responses', body: '{"model":"large","input":"hi"}' })).toEqual(
      passed,
    )
    expect(await attack('READ', { path: '/v1/embeddings', body: '{"input":"a"}' })).toEqual(passed)
    expect(await attack('READ', { path: '/v1/threads/t/messages', body: '{}' })).toEqual(passed)
  })
})

test('a key that nothing confines goes on as before', async () => {
  for (const [, sent] of [...unreadable, ...otherWays]) {
    const { status, sent: reached } = await attack('ANY', sent)
    expect([status, reached]).toEqual([200, 1])
  }
})
