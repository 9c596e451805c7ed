import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../config/temporary-folder.ts'
import { postChat } from '../support/post-chat.ts'
import { longRun } from '../support/conversations.ts'
import { completion, fakeUpstream, overflow, type Script } from '../support/fake-upstream.ts'
import { output, serve } from './program.ts'

const drainSoon = 'drain: {delay_s: 0, timeout_s: 5}\n'
const small = { model: 'm', messages: [{ role: 'user', content: 'hi' }] }

const delta = (content: string) => `data: {"choices":[{"index":0,"delta":{"content":"${content}"}}]}\n\n`

/** Answers with half of a stream, and the rest when it is told to. */
function halves() {
  const begun = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const script: Script = async (_received, outgoing) => {
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
    outgoing.write(delta('first half'), () => begun.resolve())
    await released.promise
    outgoing.end(`${delta('second half')}data: [DONE]\n\n`)
  }
  return {
    script,
    hasBegun: begun.promise,
    release: () => released.resolve(),
    whole: `${delta('first half')}${delta('second half')}data: [DONE]\n\n`,
  }
}

/** The program with these settings, in the middle of a streamed answer. */
async function halfAnswered(settings: string) {
  const { script, hasBegun, release, whole } = halves()
  const upstream = await fakeUpstream(script)
  const cwd = await temporaryFolder({ 'foldgate.yaml': settings })
  const foldgate = await serve(['--upstream', upstream.url], { cwd })
  const answer = await fetch(`${foldgate.url}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ ...small, stream: true }),
  })
  await hasBegun
  return { foldgate, answer, release, whole, [Symbol.asyncDispose]: () => upstream[Symbol.asyncDispose]() }
}

/** Begins to answer and breaks off. */
const failing: Script = (_received, outgoing) => {
  outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
  outgoing.write(delta('PLANTED-ANSWER'), () => outgoing.destroy())
}

/** Refuses with the request in its words. */
const echo: Script = (received, outgoing) => {
  outgoing.writeHead(400, { 'content-type': 'application/json' })
  outgoing.end(`{"error":{"message":${JSON.stringify(received.body.toString().slice(0, 5_000))}}}`)
}

const profileOf = (tokens: number) => `models: ["*"]\nwindow: {tokens: ${tokens}}\n`

describe('a Foldgate that serves', () => {
  test('says once where it listens, where it forwards to and who pays for summaries; then relays', async () => {
    await using upstream = await fakeUpstream(completion('fine'))
    const cwd = await temporaryFolder({})
    const foldgate = await serve(['--upstream', upstream.url], { cwd })
    expect(await (await fetch(`${foldgate.origin}/healthz`)).text()).not.toBe('')
    expect((await fetch(`${foldgate.origin}/readyz`)).status).toBe(200)
    const reply = await postChat(foldgate.url, small)
    expect(reply.status).toBe(200)
    const lines = foldgate.stdout().trim().split('\n')
    const starts = lines.filter((line) => line.includes('listens on'))
    expect(starts).toHaveLength(1)
    expect(starts[0]).toContain(`forwards to ${upstream.url}`)
    expect(starts[0]).toMatch(/summaries are off/)
    for (const line of lines) expect(JSON.parse(line)).toMatchObject({ level: expect.any(String) })
    expect(foldgate.stderr()).toBe('')
  })

  test('an upstream that cannot be reached is a 502 with its address, without query and without a stack', async () => {
    const cwd = await temporaryFolder({})
    const foldgate = await serve(['--upstream', 'http://127.0.0.1:9/v1'], { cwd })
    const answer = await fetch(`${foldgate.url}/chat/completions?key=PLANTED`, {
      method: 'POST',
      body: JSON.stringify(small),
    })
    const reply = { status: answer.status, text: await answer.text() }
    expect(reply.status).toBe(502)
    expect(JSON.parse(reply.text)).toMatchObject({ error: { code: 'upstream_unreachable' } })
    expect(reply.text).toContain('http://127.0.0.1:9/v1')
    const told = reply.text + foldgate.stdout() + foldgate.stderr()
    expect(told).not.toContain('PLANTED')
    expect(told).not.toMatch(/\bat .*:\d+:\d+/)
  })

  test.each(['http://user:PLANTED@127.0.0.1:9/v1', 'http://127.0.0.1:9/v1?key=PLANTED'])(
    'an upstream address with a secret in it is refused without repeating it',
    async (url) => {
      const { code, stdout, stderr } = await output(['--upstream', url], { cwd: await temporaryFolder({}) })
      expect([code, stdout]).toEqual([1, ''])
      expect(stderr).toMatch(/^--upstream: must be an address without /)
      expect(stderr).not.toContain('PLANTED')
    },
  )

  test('SIGTERM lets a running stream finish, takes nothing new, and ends with 0', async () => {
    await using at = await halfAnswered(drainSoon)
    const { foldgate, answer, release, whole } = at
    foldgate.child.kill('SIGTERM')
    await foldgate.said(/shutting down/)
    release()
    expect(await answer.text()).toBe(whole)
    expect(await foldgate.ended).toBe(0)
    expect(foldgate.stdout()).not.toContain('cut off')
  })

  // `foldgate | logger`, and logger was restarted: the next line that was logged ended the proxy with EPIPE.
  test.skipIf(process.platform === 'win32')(
    'goes on where nobody reads its log any more, and still ends in order',
    async () => {
      await using upstream = await fakeUpstream(completion('fine'))
      const cwd = await temporaryFolder({ 'foldgate.yaml': drainSoon })
      const foldgate = await serve(['--upstream', upstream.url], { cwd })
      foldgate.child.stdout?.destroy()
      foldgate.child.stderr?.destroy()
      // Each of a model of its own, whose unknown window is told.
      for (let model = 0; model < 3; model += 1) {
        expect((await postChat(foldgate.url, { ...small, model: `unknown-${model}` })).status).toBe(200)
      }
      foldgate.child.kill('SIGTERM')
      expect(await foldgate.ended).toBe(0)
    },
  )

  // A signal just behind the start was told in the log, while `/readyz` said `ready` until the start was done.
  test('while it waits for load balancers it is not ready, but still serves', async () => {
    await using upstream = await fakeUpstream(completion('fine'))
    const cwd = await temporaryFolder({ 'foldgate.yaml': 'drain: {delay_s: 3, timeout_s: 5}\n' })
    const foldgate = await serve(['--upstream', upstream.url], { cwd })
    foldgate.child.kill('SIGTERM')
    await foldgate.said(/shutting down/)
    expect((await fetch(`${foldgate.origin}/readyz`)).status).toBe(503)
    expect((await fetch(`${foldgate.origin}/healthz`)).status).toBe(200)
    expect((await postChat(foldgate.url, small)).status).toBe(200)
    foldgate.child.kill('SIGTERM')
    await foldgate.ended
  })

  test('a request that outlives drain.timeout_s is cut off, which is told', async () => {
    await using at = await halfAnswered('drain: {delay_s: 0, timeout_s: 0}\n')
    const { foldgate, answer } = at
    foldgate.child.kill('SIGTERM')
    await expect(answer.text()).rejects.toThrow(/terminated/)
    expect(await foldgate.ended).toBe(0)
    expect(foldgate.stdout()).toContain('drain.timeout_s')
  })

  test.each(['SIGTERM', 'SIGINT'] as const)('a second %s ends it at once', async (signal) => {
    await using at = await halfAnswered('drain: {delay_s: 60, timeout_s: 60}\n')
    const { foldgate, answer } = at
    foldgate.child.kill(signal)
    await foldgate.said(
      signal === 'SIGTERM'
        ? /"shutting down: running requests are finished first"/
        : /"shutting down: waiting for 1 running request, up to 60 s \(drain.timeout_s\); Ctrl-C again ends at once"/,
    )
    foldgate.child.kill(signal)
    expect(await foldgate.ended).toBe(1)
    await expect(answer.text()).rejects.toThrow(/terminated/)
  })

  // Who tried Foldgate at a terminal waited five seconds for its end, which a load balancer would have needed.
  test('Ctrl-C ends it at once where nothing runs, and else behind the last answer', async () => {
    await using at = await halfAnswered('drain: {delay_s: 60, timeout_s: 60}\n')
    const idle = await serve(['--upstream', 'http://127.0.0.1:9/v1'], {
      cwd: await temporaryFolder({ 'foldgate.yaml': 'drain: {delay_s: 60, timeout_s: 60}\n' }),
    })
    // A connection that is kept open for more is no request.
    await (await fetch(`${idle.origin}/healthz`)).text()
    const beganMs = performance.now()
    for (const { child } of [idle, at.foldgate]) child.kill('SIGINT')
    expect(await idle.ended).toBe(0)
    expect(idle.stdout()).toContain('"shutting down: no request is running"')
    await at.foldgate.said(/waiting for 1 running request/)
    at.release()
    expect(await at.answer.text()).toBe(at.whole)
    expect(await at.foldgate.ended).toBe(0)
    expect(performance.now() - beganMs).toBeLessThan(50_000)
  })

  test('a taken port names the flag that sets it', async () => {
    // It is asked whether it is a Foldgate, and never answers.
    const taken = createServer()
    await new Promise<void>((resolve) => {
      taken.listen(0, '127.0.0.1', resolve)
    })
    onTestFinished(() => void taken.close())
    const address = taken.address()
    const port = typeof address === 'object' ? String(address?.port) : ''
    const { code, stdout, stderr } = await output(['--port', port], { cwd: await temporaryFolder({}) })
    expect(code).toBe(1)
    expect(stderr).toMatch(
      new RegExp(
        `^Port ${port} on 127\\.0\\.0\\.1 is taken by another program\\. .* --port \\(FOLDGATE_PORT\\)\\.\\n$`,
      ),
    )
    expect(stdout).toBe('')
  })

  test('logs neither keys nor content, whatever happens', async () => {
    const key = 'PLANTED-KEY'
    const planted = { role: 'user', content: 'PLANTED-CONTENT' }
    const tool = { type: 'function', function: { name: 'PLANTED_TOOL', parameters: {} } }
    await using upstream = await fakeUpstream([
      overflow(8_192),
      completion('PLANTED-ANSWER'),
      echo,
      echo,
      failing,
      completion(''),
    ])
    const cwd = await temporaryFolder({})
    const foldgate = await serve(['--upstream', upstream.url, '--log-level', 'debug'], { cwd })
    const headers = { authorization: `Bearer ${key}`, 'x-api-key': key }
    const long = { model: 'm', tools: [tool], messages: [...longRun(20, 1), planted] }
    await postChat(foldgate.url, long, headers)
    await postChat(foldgate.url, long, headers)
    await postChat(foldgate.url, { ...long, stream: true }, headers).catch(() => {})
    await postChat(foldgate.url, `{"messages":[${JSON.stringify(planted)}`, headers)
    await postChat(
      foldgate.url,
      { ...long, model: 'PLANTED' },
      { ...headers, 'x-foldgate-compact': 'PLANTED' },
    )
    await fetch(`${foldgate.origin}/v1/files/x?key=${key}`, { headers, method: 'POST', body: 'PLANTED' })
    await upstream.close()
    await postChat(foldgate.url, long, headers)
    foldgate.child.kill('SIGTERM')
    await foldgate.said(/shutting down/)
    foldgate.child.kill('SIGTERM')
    await foldgate.ended
    expect(foldgate.stdout()).toContain('"level"')
    expect(foldgate.stdout() + foldgate.stderr()).not.toContain('PLANTED')
    expect(foldgate.stdout() + foldgate.stderr()).not.toContain('nightly run')
  })
})

describe('profiles that change while it runs', () => {
  test('a bad one is logged and the old ones stay; a good one is taken over', async () => {
    await using upstream = await fakeUpstream(completion('fine'))
    const cwd = await temporaryFolder({ 'profiles/mine.yaml': profileOf(9_000) })
    const foldgate = await serve(['--upstream', upstream.url], { cwd })
    const windowNow = async () => (await postChat(foldgate.url, small)).header('x-foldgate-window')
    expect(await windowNow()).toBe('9000;source=config')

    await writeFile(join(cwd, 'profiles/mine.yaml'), 'window: {tokens: many}\nobsreve: true\n')
    await foldgate.said(/the old ones stay/)
    const told = foldgate.stdout()
    expect(told).toContain('mine.yaml:1')
    expect(told).toContain('mine.yaml:2')
    expect(told).toContain('did you mean \\"observe\\"?')
    expect(await windowNow()).toBe('9000;source=config')

    await writeFile(join(cwd, 'profiles/mine.yaml'), profileOf(7_000))
    await foldgate.said(/profiles reloaded/)
    expect(await windowNow()).toBe('7000;source=config')
  })

  test('SIGHUP reads them again', async () => {
    await using upstream = await fakeUpstream(completion('fine'))
    const cwd = await temporaryFolder({ 'profiles/mine.yaml': profileOf(9_000) })
    const foldgate = await serve(['--upstream', upstream.url], { cwd })
    foldgate.child.kill('SIGHUP')
    await foldgate.said(/profiles reloaded/)
    expect((await postChat(foldgate.url, small)).status).toBe(200)
  })
})

const tellLoaded = new URL('./tell-loaded.ts', import.meta.url).href

/** The program with these variables: it has answered a request and ended, and tells which modules it loaded. */
async function served(env: Readonly<Record<string, string>>) {
  await using upstream = await fakeUpstream(completion('fine'))
  const cwd = await temporaryFolder({ 'foldgate.yaml': 'drain: {delay_s: 0}\n' })
  const foldgate = await serve(['--upstream', upstream.url], {
    cwd,
    env: { NODE_OPTIONS: `--import=${tellLoaded}`, ...env },
  })
  const { status } = await postChat(foldgate.url, {
    model: 'm',
    messages: [{ role: 'user', content: 'hi' }],
  })
  foldgate.child.kill('SIGTERM')
  const code = await foldgate.ended
  return { status, code, log: foldgate.stdout(), stderr: foldgate.stderr() }
}

describe('OpenTelemetry', () => {
  test('is not loaded, and nothing is said of it, where none of its variables asks for it', async () => {
    const { status, code, log, stderr } = await served({ OTEL_SERVICE_NAME: 'mine' })
    expect([status, code, stderr]).toEqual([200, 0, ''])
    expect(log).not.toContain('trace')
  })

  test('is loaded where they do, and the log says where traces go, without user, path and query', async () => {
    const { status, code, log, stderr } = await served({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://PLANTED:PLANTED@127.0.0.1:9/PLANTED?key=PLANTED',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=PLANTED',
      // What cannot be sent holds up the end so long.
      OTEL_EXPORTER_OTLP_TIMEOUT: '200',
    })
    expect([status, code]).toEqual([200, 0])
    expect(stderr).toMatch(/^loaded .*@opentelemetry\/sdk-trace\//m)
    expect(log).toContain('"message":"traces are sent","to":"http://127.0.0.1:9 (http/protobuf)"')
    expect(log + stderr).not.toContain('PLANTED')
  })

  test('that cannot be had is a warning with what to do, and Foldgate serves without it', async () => {
    const { status, code, log, stderr } = await served({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    })
    expect([status, code, stderr]).toEqual([200, 0, ''])
    expect(log).toMatch(/"level":"warn","message":"traces are not sent","reason":".*set http\/protobuf/)
  })
})
