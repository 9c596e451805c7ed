import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ServerResponse } from 'node:http'
import { onTestFinished } from 'vitest'
import { adminPlace } from '../../admin/ask-admin.ts'
import { temporaryFolder } from '../../config/temporary-folder.ts'
import {
  fakeUpstream,
  json,
  type FakeUpstream,
  completion,
  overflow,
  stream,
  type ReceivedRequest,
  type Script,
} from '../../support/fake-upstream.ts'
import { redisServer } from '../../support/redis-server.ts'
import { startSummaryModel } from '../../support/summary-model.ts'
import { madeSecret } from './needles.ts'

export type LifeOptions = {
  readonly store: 'sqlite' | 'encrypted sqlite' | 'redis'
  /** Whether clients bring their own credentials, or Foldgate has client keys and holds the upstream's. */
  readonly keys: 'passed on' | 'held'
}

export type Headers = Readonly<Record<string, string>>

/** How a client brings its credential. */
export type Client = { readonly headers: Headers; readonly path?: string; readonly query?: string }

export type AllSecrets = Readonly<Record<SecretName, string>>

/** All that is secret in a run, each with its own characters. */
export const allSecrets = () => ({
  bearer: madeSecret('sk'),
  basic: madeSecret('pw'),
  azure: madeSecret('az'),
  xApiKey: madeSecret('xk'),
  google: madeSecret('gk'),
  query: madeSecret('qk'),
  cookie: madeSecret('ck'),
  heldByVariable: madeSecret('hv'),
  heldByFile: madeSecret('hf'),
  heldAsHeader: madeSecret('hh'),
  rotatedHeld: madeSecret('rh'),
  clientByFile: madeSecret('cf'),
  clientByVariable: madeSecret('cv'),
  rotatedClient: madeSecret('rc'),
  adminToken: madeSecret('at'),
  wrongToken: madeSecret('wt'),
  storeKey: madeSecret('st'),
  redisPassword: madeSecret('rp'),
  collector: madeSecret('co'),
  spoilt: madeSecret('sp'),
  inPath: madeSecret('ip'),
  inWish: madeSecret('iw'),
  inAddress: madeSecret('ia'),
  pastedAsName: madeSecret('pn'),
  malformed: madeSecret('mf'),
})

/** Everything around the program, and what it is started with. */
export async function openStage({ store, keys }: LifeOptions, secrets: AllSecrets) {
  const main = await closed(echoingUpstream())
  const echoing = await closed(echoingUpstream())
  const model = await startSummaryModel()
  onTestFinished(model.close)
  const collector = await closed(fakeUpstream(json({})))
  const admin = await adminPlace()
  const redis = store === 'redis' ? await redisWith(secrets.redisPassword) : null
  const isHeld = keys === 'held'
  const settings = {
    upstreams: {
      default: { url: main.url, ...(isHeld && { api_key_file: 'keys/main' }) },
      cheap: { url: model.url, api_key_env: 'HELD' },
      echoing: { url: echoing.url, api_key_file: 'keys/echoing' },
      gone: { url: 'http://127.0.0.1:9/v1', ...(!isHeld && { forward_client_key: true }) },
      marked: { url: echoing.url, headers: { 'x-api-key': secrets.heldAsHeader } },
    },
    ...(isHeld && {
      client_keys: [
        { name: 'ada', key_file: 'keys/ada' },
        { name: 'ben', key_env: 'BEN', overrides: false },
      ],
    }),
    admin: { token_env: 'ADMIN_TOKEN' },
    store: {
      ...(store !== 'redis' && { url: 'sqlite:store.sqlite' }),
      ...(store === 'encrypted sqlite' && { encrypt_key_env: 'STORE_KEY' }),
    },
    archive: { dir: 'archive', mention: true },
    drain: { delay_s: 0, timeout_s: 5 },
  }
  const summary = { model: 'cheap-1', mode: 'blocking', wait_ms: 20_000 }
  const window = { tokens: 12_000, output_reserve: 1_000 }
  // Summaries are made of what clearing alone would leave room for.
  const profile = { strategy: 'summarize', window, clear: { enabled: false }, recall: { enabled: true } }
  const cwd = await temporaryFolder({
    'foldgate.yaml': JSON.stringify(settings),
    'profiles/default.yaml': JSON.stringify({ ...profile, summary: { ...summary, upstream: 'cheap' } }),
    'profiles/echoed.yaml': JSON.stringify({ ...profile, summary: { ...summary, upstream: 'echoing' } }),
    'keys/main': secrets.heldByFile,
    'keys/echoing': secrets.heldByFile,
    'keys/ada': secrets.clientByFile,
  })
  const env = {
    HELD: secrets.heldByVariable,
    BEN: secrets.clientByVariable,
    ADMIN_TOKEN: secrets.adminToken,
    STORE_KEY: secrets.storeKey,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.origin,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=${encodeURIComponent(secrets.collector)}`,
    ...(redis !== null && { FOLDGATE_STORE: redis.url }),
  }
  await mkdir(join(cwd, 'archive'))
  return {
    main,
    model,
    echoing,
    collector,
    admin,
    run: { cwd, env },
    kept: redis?.kept ?? (async () => Buffer.alloc(0)),
    ...(isHeld ? heldClients(secrets) : ownClients(secrets)),
  }
}

/** What a request wants to be answered, in `x-script`; without it a plain answer. */
export const scriptNames = [
  'plain',
  'stream',
  'overflow',
  'recall',
  'cut',
  'endless',
  'echo-400',
  'echo-401',
  'echo-403',
  'echo-429',
  'echo-500',
  'echo-200',
  'echo-event',
] as const

export type ScriptName = (typeof scriptNames)[number]

/**
 * An upstream that answers as it is asked to, and in its refusals repeats all that it was sent of credentials, as some
 * do. Questions about windows it refuses in the same way.
 */
const echoingUpstream = (): Promise<FakeUpstream> => fakeUpstream(answer, { onQuestion: echo(401) })

type SecretName = keyof ReturnType<typeof allSecrets>

/** Clients with credentials of their own, of every kind. */
function ownClients(secrets: AllSecrets) {
  const password = Buffer.from(`user:${secrets.basic}`).toString('base64')
  const bearer = { authorization: `Bearer ${secrets.bearer}` }
  const clients: readonly Client[] = [
    { headers: bearer },
    { headers: { authorization: `Basic ${password}` } },
    {
      headers: { 'api-key': secrets.azure },
      path: '/openai/deployments/m/chat/completions',
      query: '?api-version=1',
    },
    { headers: { 'x-api-key': secrets.xApiKey } },
    { headers: { 'x-goog-api-key': secrets.google } },
    { headers: {}, query: `?key=${encodeURIComponent(secrets.query)}` },
    { headers: { ...bearer, cookie: `session=${secrets.cookie}` } },
  ]
  return {
    clients,
    confined: { headers: bearer },
    rotated: { 'keys/echoing': secrets.rotatedHeld },
    rotatedClients: [{ headers: bearer, path: '/u/echoing/v1/chat/completions' }] as readonly Client[],
    spoilt: 'keys/echoing',
  }
}

/** Clients with keys of Foldgate's, which holds the upstream's. */
function heldClients(secrets: AllSecrets) {
  const clients: readonly Client[] = [
    { headers: { authorization: `Bearer ${secrets.clientByFile}` } },
    { headers: { 'api-key': secrets.clientByFile } },
    { headers: {}, query: `?key=${encodeURIComponent(secrets.clientByFile)}` },
  ]
  const rotated = { authorization: `Bearer ${secrets.rotatedClient}` }
  return {
    clients,
    confined: { headers: { authorization: `Bearer ${secrets.clientByVariable}` } },
    rotated: {
      'keys/main': secrets.rotatedHeld,
      'keys/ada': `${secrets.clientByFile}\n${secrets.rotatedClient}`,
    },
    rotatedClients: [...clients, { headers: rotated }] as readonly Client[],
    spoilt: 'keys/main',
  }
}

async function closed(opening: Promise<FakeUpstream>): Promise<FakeUpstream> {
  const upstream = await opening
  onTestFinished(upstream.close)
  return upstream
}

async function redisWith(password: string) {
  const server = await redisServer('--requirepass', password, '--rdbcompression', 'no')
  onTestFinished(() => server[Symbol.asyncDispose]())
  const auth = `AUTH "${password}"`
  return {
    url: `redis://:${encodeURIComponent(password)}@127.0.0.1:${server.port}`,
    /** All keys and values, as it writes them to a file of its own. */
    kept: async (): Promise<Buffer> => {
      const folder = /dir\r\n\$\d+\r\n(.*)\r\n/.exec(await server.ask(auth, 'CONFIG GET dir', 'SAVE'))?.[1]
      return readFile(join(folder ?? '', 'dump.rdb'))
    },
  }
}

const answer: Script = (request) => {
  const name = scriptNames.find((each) => each === request.headers['x-script']) ?? 'plain'
  return scripts[name]
}

const scripts: Readonly<Record<ScriptName, Script>> = {
  plain: completion('Understood.'),
  stream: stream('Understood, all of it.'),
  overflow: (request) => (request.body.length > OVERFLOW_BYTES ? overflow(9_000) : completion('Understood.')),
  recall: (request) => (request.body.includes('"call_recall"') ? completion('Understood.') : recall),
  cut: stream('Understood, but for', 'cut'),
  endless: stream('Understood, and', 'never'),
  'echo-400': echo(400),
  'echo-401': echo(401),
  'echo-403': echo(403),
  'echo-429': echo(429),
  'echo-500': echo(500),
  'echo-200': (request) => json(refusalOf(request)),
  'echo-event': echoAsEvent,
}

const OVERFLOW_BYTES = 30_000

function echo(status: number): Script {
  return (request) => {
    const headers = { 'www-authenticate': `Bearer error="${credentialsOf(request)}"` }
    return json(refusalOf(request), status, headers)
  }
}

function echoAsEvent(request: ReceivedRequest, outgoing: ServerResponse): void {
  outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
  outgoing.end(`data: ${JSON.stringify(refusalOf(request))}\n\n`)
}

function refusalOf(request: ReceivedRequest) {
  const message = `Incorrect API key provided: ${credentialsOf(request)} in ${request.url}`
  return { error: { message, type: credentialsOf(request), param: null, code: 'invalid_api_key' } }
}

const credentialsOf = ({ headers }: ReceivedRequest): string =>
  ['authorization', 'api-key', 'x-api-key', 'x-goog-api-key', 'cookie']
    .flatMap((name) => headers[name] ?? [])
    .join(' ')

const called = { name: 'recall_conversation', arguments: '{}' }

const recall = json({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'fake-model',
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_recall', type: 'function', function: called }],
      },
      finish_reason: 'tool_calls',
    },
  ],
  usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
})
