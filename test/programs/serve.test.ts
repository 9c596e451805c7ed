import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ownSign } from '../../src/server/own-sign.ts'
import { adminPlace } from '../admin/ask-admin.ts'
import { temporaryFolder } from '../config/temporary-folder.ts'
import { eventually } from '../support/eventually.ts'
import { completion, fakeUpstream, type Script } from '../support/fake-upstream.ts'
import { closeAll, listen } from '../support/free-port.ts'
import { postChat } from '../support/post-chat.ts'
import { output, runProgram, serve } from './program.ts'

const small = { model: 'm', messages: [{ role: 'user', content: 'hi' }] }
const drain = (delay_s: number, timeout_s: number) =>
  `drain: {delay_s: ${delay_s}, timeout_s: ${timeout_s}}\n`
const delta = (content: string) => `data: {"choices":[{"index":0,"delta":{"content":"${content}"}}]}\n\n`

/** Answers a streamed request with half of a stream, and the rest when it is told to; all others at once. */
function halves() {
  const begun = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const script: Script = async (received, outgoing) => {
    if (!received.body.includes('"stream":true')) return completion('fine')
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
    outgoing.write(delta('first half'), () => begun.resolve())
    await released.promise
    return void outgoing.end(`${delta('second half')}data: [DONE]\n\n`)
  }
  const whole = `${delta('first half')}${delta('second half')}data: [DONE]\n\n`
  return { script, hasBegun: begun.promise, release: () => released.resolve(), whole }
}

async function halfAnswered(settings: string, args: readonly string[] = []) {
  const { script, hasBegun, release, whole } = halves()
  const upstream = await fakeUpstream(script)
  const cwd = await temporaryFolder({ 'foldgate.yaml': settings })
  const foldgate = await serve(['--upstream', upstream.url, ...args], { cwd })
  const body = JSON.stringify({ ...small, stream: true })
  const answer = await fetch(`${foldgate.url}/chat/completions`, { method: 'POST', body })
  await hasBegun
  return { foldgate, answer, release, whole, [Symbol.asyncDispose]: () => upstream[Symbol.asyncDispose]() }
}

const profileOf = (tokens: number) => `models: ["*"]\nwindow: {tokens: ${tokens}}\n`

// What SIGTERM does to running streams, and what becomes of a log that nobody reads, `npm run faults` tells; that nothing
// tells keys or content, `npm run secrets`.
describe('a Foldgate that serves', () => {
  test('says once where it listens, where it forwards to and who pays for summaries; reads profiles anew as they change', async () => {
    await using upstream = await fakeUpstream(completion('fine'))
    const cwd = await temporaryFolder({ 'profiles/mine.yaml': profileOf(9_000) })
    const foldgate = await serve(['--upstream', upstream.url], { cwd })
    const windowNow = async () => (await postChat(foldgate.url, small)).header('x-foldgate-window')
    const write = (text: string) => writeFile(join(cwd, 'profiles/mine.yaml'), text)
    expect(await (await fetch(`${foldgate.origin}/healthz`)).text()).not.toBe('')
    expect((await fetch(`${foldgate.origin}/readyz`)).status).toBe(200)
    expect(await windowNow()).toBe('9000;source=config')

    await write('window: {tokens: many}\nobsreve: true\n')
    await foldgate.said(/the old ones stay/)
    for (const part of ['mine.yaml:1', 'mine.yaml:2', 'did you mean \\"observe\\"?'])
      expect(foldgate.stdout()).toContain(part)
    expect(await windowNow()).toBe('9000;source=config')
    await write(profileOf(7_000))
    await foldgate.said(/profiles reloaded/)
    expect(await windowNow()).toBe('7000;source=config')
    foldgate.child.kill('SIGHUP')
    await foldgate.said(/profiles reloaded[^]*profiles reloaded/)

    const lines = foldgate.stdout().trim().split('\n')
    for (const line of lines) expect(JSON.parse(line)).toMatchObject({ level: expect.any(String) })
    const [start = '', ...more] = lines.filter((line) => line.includes('listens on'))
    expect(more).toEqual([])
    expect(JSON.parse(start)).toMatchObject({
      message: expect.stringMatching(/^Foldgate [\d.]+ listens on http:\S+\/v1$/),
      upstream: upstream.url,
      page: 'none (admin.port is 0)',
      summaries: expect.stringMatching(/^off/),
      records: expect.stringContaining('sqlite'),
    })
    expect(foldgate.stderr()).toBe('')
  })

  // A signal just behind the start was told in the log, while `/readyz` said `ready` until the start was done.
  test.each([
    ['SIGTERM', '"shutting down: running requests are finished first"', true],
    [
      'SIGINT',
      '"shutting down: waiting for 1 running request, up to 60 s (drain.timeout_s); Ctrl-C again ends at once"',
      false,
    ],
  ] as const)('%s ends it behind what runs, and a second one at once', async (signal, said, isServing) => {
    await using at = await halfAnswered(drain(60, 60))
    const { foldgate, answer } = at
    foldgate.child.kill(signal)
    await foldgate.said(/"shutting down: [^"]*"/)
    expect(foldgate.stdout()).toContain(said)
    // While it waits for load balancers it is not ready, but still serves.
    if (isServing) {
      expect((await fetch(`${foldgate.origin}/readyz`)).status).toBe(503)
      expect((await fetch(`${foldgate.origin}/healthz`)).status).toBe(200)
      expect((await postChat(foldgate.url, small)).status).toBe(200)
    }
    foldgate.child.kill(signal)
    expect(await foldgate.ended).toBe(1)
    await expect(answer.text()).rejects.toThrow(/terminated/)
  })

  // Who tried Foldgate at a terminal waited five seconds for its end, which a load balancer would have needed.
  test('Ctrl-C ends it at once where nothing runs, and else behind the last answer', async () => {
    await using at = await halfAnswered(drain(60, 60))
    const cwd = await temporaryFolder({ 'foldgate.yaml': drain(60, 60) })
    const idle = await serve(['--upstream', 'http://127.0.0.1:9/v1'], { cwd })
    const asked = { method: 'POST', body: JSON.stringify(small) }
    const answer = await fetch(`${idle.url}/chat/completions?key=PLANTED`, asked)
    // An upstream that cannot be reached is told with its address, without query and without a stack.
    const text = await answer.text()
    expect([answer.status, JSON.parse(text).error.code]).toEqual([502, 'upstream_unreachable'])
    expect(text).toContain('http://127.0.0.1:9/v1')
    for (const { child } of [idle, at.foldgate]) child.kill('SIGINT')
    // The connection that is kept open for more is no request.
    expect(await idle.ended).toBe(0)
    expect(idle.stdout()).toContain('"shutting down: no request is running"')
    const told = text + idle.output()
    expect(told).not.toContain('PLANTED')
    expect(told).not.toMatch(/\bat .*:\d+:\d+/)
    await at.foldgate.said(/waiting for 1 running request/)
    at.release()
    expect(await at.answer.text()).toBe(at.whole)
    expect(await at.foldgate.ended).toBe(0)
  })

  // Whoever started it anew within five seconds was told to use the one that was ending.
  test('a port that a Foldgate has which is shutting down is waited for, until a signal', async () => {
    const cwd = await temporaryFolder({ 'foldgate.yaml': drain(60, 60) })
    const old = await serve([], { cwd })
    old.child.kill('SIGTERM')
    await old.said(/shutting down/)
    const held = new RegExp(`port ${old.port} is held by a Foldgate that is shutting down: waiting`)
    const [next, another] = [1, 2].map(() => runProgram(['--port', old.port, '--admin-port', '0'], { cwd }))
    await Promise.all([next?.said(held), another?.said(held)])
    another?.child.kill('SIGTERM')
    expect([await another?.ended, another?.stderr()]).toEqual([0, ''])
    old.child.kill('SIGTERM')
    await next?.said(new RegExp(`listens on ${old.url}`))
  })

  // Nobody balances the load of a loopback, and every restart took five seconds.
  test('on loopback SIGTERM frees both ports at once for the next one, and what runs is finished', async () => {
    const { port: adminPort } = await adminPlace()
    await using at = await halfAnswered('', ['--admin-port', String(adminPort)])
    at.foldgate.child.kill('SIGTERM')
    await at.foldgate.said(/shutting down/)
    const args = ['--port', at.foldgate.port, '--admin-port', String(adminPort)]
    const next = runProgram(args, { cwd: await temporaryFolder({}) })
    await next.said(/listens on.*"page":"http:/)
    at.release()
    expect(await at.answer.text()).toBe(at.whole)
    expect(await at.foldgate.ended).toBe(0)
  })

  // It waited without an end, and at this level without a word.
  test('one that never gives its port up is not waited for longer than an end may take', async () => {
    const held = createHttpServer((_incoming, outgoing) => outgoing.writeHead(503, ownSign).end())
    const port = String(await listen(held))
    onTestFinished(() => closeAll(held))
    const cwd = await temporaryFolder({ 'foldgate.yaml': drain(0, 1) })
    const refused = await output(['--port', port, '--log-level', 'warn'], { cwd })
    expect(refused.code).toBe(1)
    expect(refused.stdout).toContain(`port ${port} is held by a Foldgate that is shutting down: waiting`)
    expect(refused.stderr).toMatch(new RegExp(`^Port ${port} on .* is taken`))
  })

  test('a taken port names the flag that sets it', async () => {
    // It is asked whether it is a Foldgate, and never answers.
    const taken = createServer()
    const port = await listen(taken)
    onTestFinished(() => void taken.close())
    const refused = await output(['--port', String(port)], { cwd: await temporaryFolder({}) })
    expect([refused.code, refused.stdout]).toEqual([1, ''])
    const said = String.raw`^Port ${port} on 127\.0\.0\.1 is taken by another program\. .* --port \(FOLDGATE_PORT\)\.\n$`
    expect(refused.stderr).toMatch(new RegExp(said))
  })
})

const as = (key: string) => ({ authorization: `Bearer ${key}` })
const settings = `
upstreams: {default: {api_key_file: secrets/main, concurrency: 1}}
client_keys: [{name: ada, key_file: secrets/ada}]
${drain(0, 5)}`

/** Publishes both keys as Kubernetes does: files that are links into `..data`, a link that is swapped. */
async function publish(cwd: string, version: string, keys: { main: string; ada: string }): Promise<void> {
  const secrets = join(cwd, 'secrets')
  await mkdir(join(secrets, version), { recursive: true })
  for (const [name, key] of Object.entries(keys)) await writeFile(join(secrets, version, name), `${key}\n`)
  await symlink(version, join(secrets, '..data_tmp'))
  await rename(join(secrets, '..data_tmp'), join(secrets, '..data'))
}

test('a swapped secret volume: the next request has the new keys, those under way end with the old ones; SIGHUP reads them at once', async () => {
  const { script, hasBegun, release } = halves()
  await using upstream = await fakeUpstream(script)
  const cwd = await temporaryFolder({ 'foldgate.yaml': settings })
  await publish(cwd, 'v1', { main: 'sk-old', ada: 'fg-old' })
  for (const name of ['main', 'ada']) await symlink(join('..data', name), join(cwd, 'secrets', name))
  const foldgate = await serve(['--upstream', upstream.url], { cwd })
  const status = async (key: string) => (await postChat(foldgate.url, small, as(key))).status
  const streamed = postChat(foldgate.url, { ...small, stream: true }, as('fg-old'))
  await hasBegun
  // It waits for the upstream's one place: let in with a key that held then, sent with the one that holds then.
  const waiting = status('fg-old')

  await publish(cwd, 'v2', { main: 'sk-new', ada: 'fg-new' })
  await rm(join(cwd, 'secrets/v1'), { recursive: true })
  await foldgate.said(/keys were rotated/)
  expect(await status('fg-old')).toBe(401)
  release()
  const whole = await streamed
  expect([whole.status, whole.text.includes('second half')]).toEqual([200, true])
  expect([await waiting, await status('fg-new')]).toEqual([200, 200])
  const sent = upstream.requests.map(({ headers }) => headers.authorization)
  expect(sent).toEqual(['Bearer sk-old', 'Bearer sk-new', 'Bearer sk-new'])
  expect(foldgate.output()).toContain('"settings":"upstreams.default.api_key_file, client_keys[0].key_file"')

  // What is no good is told, and the old one stays; both of a client's hold while it is changed over.
  await writeFile(join(cwd, 'secrets/main'), 'sk PLANTED')
  await writeFile(join(cwd, 'secrets/ada'), 'fg-new\nfg-next\n')
  foldgate.child.kill('SIGHUP')
  const [line = ''] = await foldgate.said(/.*a changed key is not used, the old one stays.*/)
  expect(JSON.parse(line)).toMatchObject({
    level: 'error',
    setting: 'upstreams.default.api_key_file',
    file: join(cwd, 'secrets/main'),
    reason: 'the file holds spaces or characters that no key has',
  })
  await eventually(async () => expect(await status('fg-next')).toBe(200))
  expect(await status('fg-new')).toBe(200)
  expect(upstream.requests.at(-1)?.headers.authorization).toBe('Bearer sk-new')
  for (const key of ['sk-old', 'sk-new', 'fg-old', 'fg-new', 'PLANTED'])
    expect(foldgate.output()).not.toContain(key)
})

/** Writes a line for every module of OpenTelemetry that is loaded but the interfaces, which prom-client loads for itself. */
const tellLoaded = `data:text/javascript,${encodeURIComponent(`
import { registerHooks } from 'node:module'
registerHooks({
  resolve(specifier, context, nextResolve) {
    const resolved = nextResolve(specifier, context)
    if (/@opentelemetry[/](?!api[/])/.test(resolved.url)) process.stderr.write('loaded ' + resolved.url + '\\n')
    return resolved
  },
})
`)}`

/** The program with these variables: it has answered a request and ended, and tells which modules it loaded. */
async function served(env: Readonly<Record<string, string>>) {
  await using upstream = await fakeUpstream(completion('fine'))
  const cwd = await temporaryFolder({ 'foldgate.yaml': 'drain: {delay_s: 0}\n' })
  const loading = { NODE_OPTIONS: `--import=${tellLoaded}`, ...env }
  const foldgate = await serve(['--upstream', upstream.url], { cwd, env: loading })
  expect((await postChat(foldgate.url, small)).status).toBe(200)
  foldgate.child.kill('SIGTERM')
  expect(await foldgate.ended).toBe(0)
  return { log: foldgate.stdout(), stderr: foldgate.stderr() }
}

test('OpenTelemetry is loaded where its variables ask for it; the log says where traces go, without user, path and query', async () => {
  const quiet = await served({ OTEL_SERVICE_NAME: 'mine' })
  expect([quiet.stderr, quiet.log.includes('trace')]).toEqual(['', false])
  const { log, stderr } = await served({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://PLANTED:PLANTED@127.0.0.1:9/PLANTED?key=PLANTED',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=PLANTED',
    // What cannot be sent holds up the end so long.
    OTEL_EXPORTER_OTLP_TIMEOUT: '200',
  })
  expect(stderr).toMatch(/^loaded .*@opentelemetry\/sdk-trace\//m)
  expect(log).toContain('"message":"traces are sent","to":"http://127.0.0.1:9 (http/protobuf)"')
  expect(log + stderr).not.toContain('PLANTED')
  // Where it cannot be had it is a warning with what to do, and Foldgate serves without it.
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' }
  const without = await served({ ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' })
  expect(without.stderr).toBe('')
  expect(without.log).toMatch(/"level":"warn","message":"traces are not sent","reason":".*set http\/protobuf/)
})
