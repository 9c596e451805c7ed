import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../config/temporary-folder.ts'
import { postChat } from '../support/post-chat.ts'
import { completion, fakeUpstream } from '../support/fake-upstream.ts'
import { serve } from './program.ts'

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
