import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode } from '../../../src/config/yaml-file.ts'
import { askAdmin } from '../../admin/ask-admin.ts'
import { growingAgent } from '../../pipeline/summaries/growing-agent.ts'
import { chatOf } from '../../support/post-chat.ts'
import { listenTo, rawExchange } from '../../support/raw-client.ts'
import { longRun } from '../../support/conversations.ts'
import { filesIn as everyFileIn } from '../../support/run-command.ts'
import { output, serve } from '../../programs/program.ts'
import {
  scriptNames,
  type ScriptName,
  allSecrets,
  openStage,
  type AllSecrets,
  type Client,
  type Headers,
  type LifeOptions,
} from './stage.ts'
import type { Haystack } from './needles.ts'

/** Stands in every conversation. */
export const CONTENT = 'PLANTED-CONTENT-OF-A-MESSAGE'

/**
 * A whole life of the real program: every kind of credential, good and bad requests, answers that repeat what they were
 * sent, summaries, archive, traces, all of the admin listener, keys that change, all commands. In nothing of `haystacks` may
 * a secret stand, nor in `told`, which tells of requests, any content; `sent` is all that upstreams got beside bodies.
 */
export async function wholeLife(options: LifeOptions) {
  const secrets = allSecrets()
  const stage = await openStage(options, secrets)
  const foldgate = await serve(['--log-level', 'debug', '--admin-port', String(stage.admin.port)], stage.run)
  const haystacks: Haystack[] = []
  const told: Haystack[] = []
  const keep = (name: string, text: string | Buffer): void =>
    void haystacks.push({ name, bytes: Buffer.from(text) })
  const tell = (name: string, text: string): void => void told.push({ name, bytes: Buffer.from(text) })

  const admin = { authorization: `Bearer ${secrets.adminToken}` }
  const streams = await Promise.all(
    ['/events', '/changes'].map((path) => listenTo(stage.admin.origin + path, admin)),
  )
  const { port } = new URL(foldgate.url)

  async function ask(script: ScriptName, client: Client, body: object, more: Headers = {}): Promise<string> {
    const query = client.query ?? ''
    const url = `${foldgate.origin}${more['path'] ?? client.path ?? '/v1/chat/completions'}${query}`
    const headers = { 'content-type': 'application/json', ...client.headers, 'x-script': script, ...more }
    const left = new AbortController()
    const init = { method: 'POST', headers, body: JSON.stringify(body), signal: left.signal }
    const answer = await fetch(url, init)
    const own = [...answer.headers].filter(([name]) => name.startsWith('x-foldgate'))
    keep(`headers of an answer (${script})`, JSON.stringify(own))
    if (script === 'endless') left.abort()
    const text = await answer.text().catch(() => '')
    // What the upstream says is the client's to see.
    if (!script.startsWith('echo') || text.includes('foldgate_error')) keep(`an answer (${script})`, text)
    return answer.headers.get('x-foldgate-conversation') ?? ''
  }

  const planted = chatOf([{ role: 'user', content: CONTENT }])
  // Every credential in every situation, each with a conversation of its own that has to be compacted.
  let seed = 0
  for (const client of stage.clients) {
    for (const script of scriptNames) {
      seed += 1
      const messages = [...longRun(24, seed), { role: 'user', content: `${CONTENT} ${seed}` }]
      const more = script === 'stream' || script === 'endless' || script === 'cut' ? { stream: true } : {}
      await ask(script, client, chatOf(messages, more))
    }
    await ask('plain', client, planted, { 'x-foldgate-bypass': '1' })
    await ask('plain', client, { input: CONTENT }, { path: '/v1/responses' })
    await ask('plain', client, {}, { path: '/u/gone/v1/chat/completions' })
    await ask('echo-401', client, planted, { path: '/u/marked/v1/chat/completions' })
    await ask('plain', client, {}, { path: `/u/${encodeURIComponent(secrets.inPath)}/v1/models` })
    await ask('plain', client, { messages: CONTENT })
    for (const wish of ['x-foldgate-compact', 'x-foldgate-bypass'])
      await ask('plain', client, {}, { [wish]: secrets.inWish })
  }

  // Conversations that grow until they are summarised: by a good model, and by one that repeats the key it was sent.
  const [first] = stage.clients
  for (const profile of ['default', 'echoed']) {
    const agent = growingAgent(foldgate.url, () => stage.main.requests, {
      headers: { ...first?.headers, 'x-foldgate-profile': profile },
      roundTokens: 1_000,
      task: `${CONTENT} under ${profile}`,
    })
    await agent.turns(16)
  }

  // What never gets to be a request.
  for (const bytes of notRequests(secrets)) {
    const { statusLine, headers, body } = await rawExchange(Number(port), bytes)
    keep('an answer to what is no request', [statusLine, ...headers, String(body)].join('\n'))
  }
  const [credential] = Object.entries(first?.headers ?? {})
  const wrongBearer = `Bearer ${secrets.wrongToken}`
  const wrongPassword = `Basic ${Buffer.from(`operator:${secrets.wrongToken}`).toString('base64')}`
  if (options.keys === 'held') {
    await ask('plain', { headers: { authorization: wrongBearer } }, planted)
    await ask('plain', { headers: { 'x-api-key': secrets.wrongToken } }, planted)
    await ask('plain', { headers: { authorization: wrongPassword } }, planted)
    await ask('plain', stage.confined, {}, { 'x-foldgate-compact': 'force' })
  }

  // Keys that change, for good ones and for none.
  for (const [file, key] of Object.entries(stage.rotated)) await writeFile(join(stage.run.cwd, file), key)
  foldgate.child.kill('SIGHUP')
  await foldgate.said(/keys were rotated/)
  for (const client of stage.rotatedClients) {
    await ask('plain', client, planted)
    await ask('echo-401', client, planted)
  }
  await writeFile(join(stage.run.cwd, stage.spoilt), `${secrets.spoilt} ${secrets.spoilt}`)
  foldgate.child.kill('SIGHUP')
  await foldgate.said(/a changed key is not used/)

  // All of the admin listener, with its token and with others.
  const listed = await askAdmin(stage.admin.origin, '/conversations', { headers: admin })
  const ids = [...listed.text.matchAll(/"id":"([\w-]{16})"/g)].map(([, id = '']) => id)
  const paths = '/ /metrics /events?limit=10000 /conversations /models /nothing /assets/page.css'.split(' ')
  for (const path of [...paths, ...ids.slice(0, 3).map((id) => `/conversations/${id}`)]) {
    for (const accept of ['application/json', 'text/html']) {
      const answer = await askAdmin(stage.admin.origin, path, { headers: { ...admin, accept } })
      tell(`${path} as ${accept}`, answer.text)
    }
    for (const authorization of [wrongBearer, wrongPassword]) {
      const refused = await askAdmin(stage.admin.origin, path, { headers: { authorization } })
      tell(`${path} without leave`, refused.text)
    }
  }
  const body = JSON.stringify(chatOf([...longRun(24, 1), { role: 'user', content: 'and now?' }]))
  const explained = await askAdmin(stage.admin.origin, '/explain', { method: 'POST', headers: admin, body })
  keep('/explain', explained.text)
  const models = await askAdmin(stage.admin.origin, '/models', { headers: admin })
  const [, model] = /"id":"([\w-]{43})"/.exec(models.text) ?? []
  if (model === undefined) throw new Error('Nothing is believed of any model.')
  for (const [method, path] of [
    ['POST', `/conversations/${ids[0]}/compact`],
    ['DELETE', `/conversations/${ids[1]}`],
    ['DELETE', `/models/${model}`],
  ] as const)
    tell(`${method} ${path}`, (await askAdmin(stage.admin.origin, path, { method, headers: admin })).text)
  for (const each of streams) tell('a stream of events', each.text())
  for (const each of streams) each.leave()

  // While it runs: what has not got from the store's log into the store is there as well.
  for (const file of await filesIn(stage.run.cwd)) keep(`${file.name} of the running program`, file.bytes)
  foldgate.child.kill('SIGTERM')
  await foldgate.ended
  tell('standard output', foldgate.stdout())
  tell('standard error', foldgate.stderr())
  for (const { body: traces } of stage.collector.requests) tell('a trace', traces.toString())
  if (stage.collector.requests.length === 0) throw new Error('No traces were sent.')

  await writeFile(join(stage.run.cwd, 'request.json'), body)
  await writeFile(join(stage.run.cwd, 'wrong.yaml'), wrongSettings(secrets))
  const commands = [
    ['check', '--model', 'm'],
    ['check', '--config', 'wrong.yaml'],
    ['--config', 'wrong.yaml'],
    ['check', '--upstream', `http://user:${encodeURIComponent(secrets.inAddress)}@127.0.0.1:9/v1`],
    ['check', '--upstream', `http://127.0.0.1:9/v1?key=${encodeURIComponent(secrets.inAddress)}`],
    ['explain', 'request.json'],
    ['explain', 'request.json', '--json'],
    ['health'],
    ['--help'],
  ]
  await Promise.all(
    commands.map(async (args) => {
      const printed = await output(args, stage.run)
      keep(`foldgate ${args[0]}`, printed.stdout + printed.stderr)
    }),
  )
  for (const file of await filesIn(stage.run.cwd)) haystacks.push(file)
  keep('the server of the store', await stage.kept())
  const purged = await output(['purge'], stage.run)
  keep('foldgate purge', purged.stdout + purged.stderr)

  const questions = [...stage.main.requests, ...stage.main.questions, ...stage.echoing.requests]
  const sentLines = questions.flatMap(({ url, rawHeaders }) => [decodeURIComponent(url), ...rawHeaders])
  sentLines.push(...stage.model.calls.map(({ headers }) => JSON.stringify(headers)))
  const sent = { name: 'what upstreams were sent', bytes: Buffer.from(sentLines.join('\n')) }
  if (credential === undefined) throw new Error('Nobody has a credential.')
  return { cwd: stage.run.cwd, secrets, haystacks: [...haystacks, ...told], told, sent }
}

/** All files but those that keys are to stand in. */
async function filesIn(folder: string): Promise<readonly Haystack[]> {
  const names = await everyFileIn(folder)
  const searched = names.filter((name) => !/^(?:keys\/|foldgate\.yaml$|wrong\.yaml$)/.test(name))
  const read = async (name: string) => ({
    name: `the file ${name}`,
    bytes: await readIfThere(join(folder, name)),
  })
  return Promise.all(searched.map(read))
}

/** A running program writes beside and renames. */
async function readIfThere(path: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return Buffer.alloc(0)
    throw error
  }
}

/** Settings in which keys stand where their places belong. */
const wrongSettings = ({ pastedAsName, inAddress }: AllSecrets): string =>
  [
    'upstreams:',
    `  default: {api_key_env: ${JSON.stringify(pastedAsName)}, url: "http://u:${encodeURIComponent(inAddress)}@h/v1"}`,
    `  other: {api_key_file: ${JSON.stringify(pastedAsName)}, url: "http://h/v1?key=${encodeURIComponent(inAddress)}"}`,
    `client_keys: [{name: a, key_env: ${JSON.stringify(pastedAsName)}}, {name: b, key: ${JSON.stringify(pastedAsName)}}]`,
    `admin: {token_env: ${JSON.stringify(pastedAsName)}}`,
  ].join('\n')

/** Bytes with a secret in them that are refused before they are a request. */
function notRequests({ malformed }: AllSecrets): readonly string[] {
  const key = encodeURIComponent(malformed)
  const closing = `Host: localhost\r\nConnection: close\r\nAuthorization: Bearer ${malformed}\r\n`
  return [
    `GET /v1/models?key=${key} HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n`,
    `GET http://evil.example/?key=${key} HTTP/1.1\r\n${closing}\r\n`,
    `GET /v1/../x?key=${key} HTTP/1.1\r\n${closing}\r\n`,
    `POST /v1/x HTTP/1.1\r\n${closing}Content-Length: 1\r\nContent-Length: 2\r\n\r\nx`,
    `GET /v1/x HTTP/1.1\r\n${closing}Upgrade: websocket\r\nSec-WebSocket-Protocol: openai-insecure-api-key.${key}\r\n\r\n`,
    `GET /v1/x HTTP/1.1\r\n${closing}Expect: ${malformed}\r\n\r\n`,
    `GET /v1/x HTTP/1.1\r\n${closing}X-Large: ${malformed.repeat(2_000)}\r\n\r\n`,
    `GET /v1/x HTTP/1.1\r\nHost: ${malformed}\r\nConnection: close\r\n\r\n`,
    `CONNECT ${key}:443 HTTP/1.1\r\n${closing}\r\n`,
    `${malformed} ${malformed}\r\n\r\n`,
    `GET /v1/x?key=${key} HTTP/9.9\r\n${closing}\r\n`,
  ]
}
