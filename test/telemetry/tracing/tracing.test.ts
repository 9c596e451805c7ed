import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { openTracing } from '../../../src/telemetry/tracing/tracing.ts'
import { keptLog } from '../../support/kept-log.ts'
import { longRun } from '../../support/conversations.ts'
import { eventually } from '../../support/eventually.ts'
import { completion, fakeUpstream, json } from '../../support/fake-upstream.ts'
import { startFoldgate } from '../../support/foldgate.ts'
import { chatOf, postChat } from '../../support/post-chat.ts'
import { beganMs, endOf, failedSummary, reportOf, summaryCall } from '../told-request.ts'
import { environment, otlpReceiver } from './otlp-receiver.ts'

const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
const parent = '00f067aa0ba902b7'
const sampled = `00-${trace}-${parent}-01`

type Variables = Readonly<Record<string, string>>

/** Tracing with these variables, everything that it logs and every line that it writes. */
async function open(variables: Variables) {
  const env = environment(variables)
  const { log, lines: logged } = keptLog()
  const lines: string[] = []
  const tracing = await openTracing({
    env,
    upstreams: new Map([['default', { url: 'http://models.example:8080/v1' }]]),
    version: '9.8.7',
    log,
    write: (line) => void lines.push(line),
  })
  onTestFinished(tracing.close)
  return { tracing, log: logged, lines, told: () => logged.join('') }
}

/** A collector that takes JSON, and tracing that sends to it. */
async function openAtReceiver(variables: Variables = {}) {
  const receiver = await otlpReceiver()
  const there = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.origin, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' }
  const opened = await open({ ...there, ...variables })
  return { ...opened, receiver }
}

/** What arrives of these requests, one for each `traceparent`. */
async function sent(variables: Variables = {}, traceparents: readonly (string | null)[] = [null]) {
  const opened = await openAtReceiver(variables)
  for (const traceparent of traceparents) opened.tracing.ended(reportOf({}, { traceparent }), endOf())
  await opened.tracing.close()
  return { ...opened, spans: opened.receiver.spans(), resource: opened.receiver.resource() }
}

/** How many spans arrive with this sampler. */
async function arrived(sampler: string, traceparents: readonly (string | null)[], part = '1') {
  const variables = { OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: part }
  return (await sent(variables, traceparents)).spans.length
}

describe('what a collector receives', () => {
  test('a request is one client span with its times, its compaction and the attributes of the conventions', async () => {
    const { receiver, spans, resource, log } = await sent()
    expect(receiver.requests.map(({ url }) => url)).toEqual(['/v1/traces'])
    expect(spans).toMatchObject([
      {
        name: 'chat gpt-5',
        // SPAN_KIND_CLIENT of OTLP.
        kind: 3,
        parentSpanId: '',
        startTimeUnixNano: beganMs,
        endTimeUnixNano: beganMs + 2_500,
        status: { code: 0 },
        attributes: {
          'gen_ai.operation.name': 'chat',
          'server.address': 'models.example',
          'server.port': 8080,
          'foldgate.pressure': 0.9,
          'foldgate.passes': ['render', 'fold'],
        },
        events: [{ name: 'foldgate.compaction', timeUnixNano: beganMs + 20 }],
      },
    ])
    expect(log.map((line) => JSON.parse(line))).toMatchObject([
      { level: 'info', message: 'traces are sent', to: `${receiver.origin} (http/json)` },
    ])
    expect(resource).toEqual({
      'service.name': 'foldgate',
      'service.version': '9.8.7',
      'telemetry.sdk.language': 'nodejs',
      'telemetry.sdk.name': 'opentelemetry',
      'telemetry.sdk.version': expect.any(String),
    })
  })

  test('a summary begins a trace of its own, and a failure has an error for its status, without words', async () => {
    const { tracing, receiver } = await openAtReceiver()
    const call = summaryCall({ upstream: 'default', milliseconds: 10 })
    tracing.summary(call, failedSummary('timeout'))
    tracing.ended(reportOf({ status: 503 }), endOf())
    await tracing.close()
    const [summary, request] = receiver.spans()
    expect(summary).toMatchObject({
      name: 'chat small',
      parentSpanId: '',
      // STATUS_CODE_ERROR of OTLP.
      status: { code: 2 },
      attributes: { 'error.type': 'timeout', 'foldgate.purpose': 'summary' },
    })
    expect(request?.status).toEqual({ code: 2 })
    expect(request?.attributes['error.type']).toBe('503')
  })
})

describe('the trace that a client began', () => {
  test('is continued, and not told where the client does not keep it', async () => {
    const { spans } = await sent({}, [sampled, `00-${trace}-${parent}-00`])
    expect(spans.map(({ traceId, parentSpanId }) => [traceId, parentSpanId])).toEqual([[trace, parent]])
  })

  test('is none where the header is malformed', async () => {
    const ids = [
      `${'0'.repeat(32)}-${parent}`,
      `${trace}-${'0'.repeat(16)}`,
      `${trace.toUpperCase()}-${parent}`,
    ]
    const malformed = [
      ...ids.map((pair) => `00-${pair}-01`),
      'PLANTED',
      '',
      `00-${trace}-${parent}`,
      `${sampled}-more`,
      `ff-${trace}-${parent}-01`,
      `${sampled}, ${sampled}`,
    ]
    const { spans } = await sent({}, malformed)
    expect(spans).toHaveLength(malformed.length)
    const continued = malformed.filter(
      (_, index) => spans[index]?.parentSpanId !== '' || spans[index].traceId === trace,
    )
    expect(continued).toEqual([])
  })
})

describe('the usual variables are honoured', () => {
  test('OTEL_SERVICE_NAME goes before OTEL_RESOURCE_ATTRIBUTES, and this before the default', async () => {
    const attributes = { OTEL_RESOURCE_ATTRIBUTES: 'service.name=theirs,deployment.environment.name=blue' }
    expect((await sent({ ...attributes, OTEL_SERVICE_NAME: 'mine' })).resource).toMatchObject({
      'service.name': 'mine',
      'deployment.environment.name': 'blue',
    })
    expect((await sent(attributes)).resource).toMatchObject({ 'service.name': 'theirs' })
  })

  test('what cannot be read is told, and does no harm', async () => {
    const { spans, told } = await sent({
      OTEL_RESOURCE_ATTRIBUTES: 'PLANTED',
      OTEL_BSP_SCHEDULE_DELAY: 'soon',
    })
    expect(spans).toHaveLength(1)
    expect(told()).toMatch(/OTEL_RESOURCE_ATTRIBUTES cannot be read/)
    expect(told().match(/OTEL_BSP_SCHEDULE_DELAY/g)).toHaveLength(1)
    expect(told()).not.toContain('PLANTED')
  })

  test('OTEL_TRACES_SAMPLER: all, none, a part, and with or without the client’s word', async () => {
    const eight = Array<null>(8).fill(null)
    expect(await arrived('always_off', [sampled, null])).toBe(0)
    expect(await arrived('always_on', [`00-${trace}-${parent}-00`])).toBe(1)
    expect(await arrived('parentbased_always_off', [sampled, null])).toBe(1)
    expect(await arrived('traceidratio', eight, '0')).toBe(0)
    expect(await arrived('traceidratio', eight, '1')).toBe(8)
    expect(await arrived('parentbased_traceidratio', [sampled, ...eight], '0')).toBe(1)
  })

  test('OTEL_BSP_MAX_EXPORT_BATCH_SIZE and OTEL_BSP_MAX_QUEUE_SIZE bound what waits', async () => {
    const bounds = { OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '3', OTEL_BSP_MAX_QUEUE_SIZE: '6' }
    const { spans, receiver } = await sent(bounds, Array<null>(20).fill(null))
    // The first three are on their way when the queue fills up.
    expect(spans).toHaveLength(9)
    expect(receiver.requests).toHaveLength(3)
  })

  test('OTEL_EXPORTER_OTLP_HEADERS reach the collector and no log, the endpoint for traces is taken as it is', async () => {
    const receiver = await otlpReceiver()
    const { tracing, told } = await open({
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${receiver.origin}/own/path?key=PLANTED-QUERY`,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20PLANTED-KEY',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
    })
    tracing.ended(reportOf(), endOf())
    await tracing.close()
    const [request] = receiver.requests
    // With protobuf, unless the environment says otherwise.
    const headers = { 'content-type': 'application/x-protobuf', authorization: 'Bearer PLANTED-KEY' }
    expect(request).toMatchObject({ url: '/own/path?key=PLANTED-QUERY', headers })
    expect(gunzipSync(request?.body ?? '').toString('latin1')).toContain('chat gpt-5')
    expect(told()).not.toContain('PLANTED')
  })

  test('OTEL_TRACES_EXPORTER=console writes a line for each span and opens no connection', async () => {
    const { tracing, lines, told } = await open({ OTEL_TRACES_EXPORTER: 'console' })
    tracing.ended(reportOf({}, { traceparent: sampled }), endOf())
    await tracing.close()
    expect(lines).toHaveLength(1)
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      name: 'chat gpt-5',
      trace,
      parent,
      start: '2026-11-20T12:00:00.000Z',
      end: '2026-11-20T12:00:02.500Z',
      service: 'foldgate',
      attributes: { 'foldgate.action': 'compacted' },
      events: [{ name: 'foldgate.compaction', time: '2026-11-20T12:00:00.020Z' }],
    })
    expect(told()).toContain('"to":"standard error"')
  })
})

describe('a collector that fails', () => {
  test('is told once, without what it answers, and once more when spans arrive again', async () => {
    const refusing = json({ error: 'PLANTED' }, 401)
    const receiver = await otlpReceiver([refusing, refusing, refusing, json({})])
    const { tracing, log } = await open({
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.origin,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=PLANTED',
      // Spans leave by themselves after it. By default it would be five seconds.
      OTEL_BSP_SCHEDULE_DELAY: '5',
    })
    for (let each = 1; each <= 4; each += 1) {
      tracing.ended(reportOf(), endOf())
      await eventually(() => expect(receiver.requests).toHaveLength(each))
    }
    const told = () => log.map((line) => JSON.parse(line)).filter(({ message }) => /arrive/.test(message))
    await eventually(() =>
      expect(told()).toMatchObject([
        { level: 'warn', reason: 'status 401' },
        { level: 'info', lost_spans: 3 },
      ]),
    )
    expect(log.join('')).not.toContain('PLANTED')
  })

  test('that is not there is told by its code', async () => {
    const { tracing, log } = await open({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
      OTEL_EXPORTER_OTLP_TIMEOUT: '100',
    })
    tracing.ended(reportOf(), endOf())
    await tracing.close()
    expect(log.filter((line) => line.includes('ECONNREFUSED'))).toHaveLength(1)
  })

  test('that never answers holds up the end for five seconds at most', async () => {
    const over = Promise.withResolvers<void>()
    const waits: unknown[] = []
    const clock = vi.spyOn(timers, 'setTimeout').mockImplementation(async (delay, value) => {
      waits.push(delay)
      await over.promise
      return value
    })
    syncBuiltinESMExports()
    onTestFinished(() => {
      clock.mockRestore()
      syncBuiltinESMExports()
    })
    const receiver = await otlpReceiver(() => {})
    const patient = { OTEL_EXPORTER_OTLP_TIMEOUT: '60000' }
    const { tracing } = await open({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.origin, ...patient })
    tracing.ended(reportOf(), endOf())
    const closed = tracing.close()
    await eventually(() => expect(receiver.requests).toHaveLength(1))
    expect(waits).toEqual([5_000])
    over.resolve()
    await closed
    // What comes after the end is nobody's.
    expect(() => tracing.ended(reportOf(), endOf())).not.toThrow()
  })
})

test('a request through a running Foldgate is a span in its client’s trace, which leaves with the app', async () => {
  await using upstream = await fakeUpstream(completion('fine'))
  const { tracing, receiver } = await openAtReceiver()
  const profile = { window: { tokens: 4_000 } }
  const foldgate = await startFoldgate({ upstream: upstream.url, profile, tracing })
  const body = chatOf([{ role: 'system', content: 'You help. PLANTED-SECRET' }, ...longRun(12, 7).slice(1)])
  const headers = { authorization: 'Bearer sk-planted-key', traceparent: sampled }
  const reply = await postChat(foldgate.url, body, headers)
  expect(reply.action).toBe('compacted')
  await foldgate.close()
  const [span] = receiver.spans()
  const conversation = { 'gen_ai.conversation.id': reply.header('x-foldgate-conversation') }
  const attributes = { 'foldgate.action': 'compacted', ...conversation }
  expect(span).toMatchObject({ name: 'chat test-model', traceId: trace, attributes })
  expect(JSON.stringify(receiver.spans())).not.toMatch(/PLANTED-SECRET|sk-planted-key/)
  // The client's own header goes on as it came.
  expect(upstream.requests[0]?.headers['traceparent']).toBe(sampled)
})
