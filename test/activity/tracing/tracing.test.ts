import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createLog } from '../../../src/log/log.ts'
import { TracingError } from '../../../src/activity/tracing/settings.ts'
import { openTracing } from '../../../src/activity/tracing/tracing.ts'
import { json } from '../../support/fake-upstream.ts'
import { environment, otlpReceiver } from './otlp-receiver.ts'
import { beganMs, endOf, reportOf } from '../told-request.ts'
import { eventually } from '../../support/eventually.ts'

const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
const parent = '00f067aa0ba902b7'
const sampled = `00-${trace}-${parent}-01`

const spent = {
  calls: 1,
  promptTokens: 3_000,
  completionTokens: 400,
  cachedTokens: 0,
  cacheWrittenTokens: 0,
  sentTokens: 3_000,
  learntWindowTokens: null,
}

/** Tracing with these variables, everything that it logs and every line that it writes. */
async function open(variables: Readonly<Record<string, string>>) {
  const env = environment(variables)
  const log: string[] = []
  const lines: string[] = []
  const tracing = await openTracing({
    env,
    upstreams: new Map([['default', { url: 'http://models.example:8080/v1' }]]),
    version: '9.8.7',
    log: createLog({
      level: 'debug',
      write: (line) => void log.push(line),
      pretty: false,
      now: () => new Date(0),
    }),
    write: (line) => void lines.push(line),
  })
  onTestFinished(tracing.close)
  return { tracing, log, lines }
}

/** A collector that takes JSON, and tracing that sends to it. */
async function openAtReceiver(variables: Readonly<Record<string, string>> = {}) {
  const receiver = await otlpReceiver()
  const opened = await open({
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.origin,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    ...variables,
  })
  return { ...opened, receiver }
}

/** The spans that arrive of these requests, one for each `traceparent`. */
async function spansOf(
  variables: Readonly<Record<string, string>>,
  traceparents: readonly (string | null)[],
) {
  const { tracing, receiver } = await openAtReceiver(variables)
  for (const traceparent of traceparents) tracing.ended(reportOf({}, { traceparent }), endOf())
  await tracing.close()
  return receiver.spans()
}

describe('what a collector receives', () => {
  test('a request is one client span with its times, its compaction and the attributes of the conventions', async () => {
    const { tracing, receiver, log } = await openAtReceiver()
    tracing.ended(reportOf(), endOf())
    await tracing.close()
    expect(receiver.requests.map(({ url }) => url)).toEqual(['/v1/traces'])
    expect(receiver.spans()).toMatchObject([
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
          'gen_ai.usage.cache_read.input_tokens': 40_000,
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
  })

  test('a summary begins a trace of its own', async () => {
    const { tracing, receiver } = await openAtReceiver()
    const call = { conversation: 'c0ffee', model: 'small', upstream: 'default', milliseconds: 10 }
    tracing.summary(call, { kind: 'failed', reason: 'timeout', ...spent }, beganMs + 10)
    await tracing.close()
    expect(receiver.spans()).toMatchObject([
      {
        name: 'chat small',
        parentSpanId: '',
        // STATUS_CODE_ERROR of OTLP.
        status: { code: 2 },
        attributes: { 'error.type': 'timeout', 'foldgate.purpose': 'summary' },
      },
    ])
  })

  test('a failure has an error for its status, without words', async () => {
    const { tracing, receiver } = await openAtReceiver()
    tracing.ended(reportOf({ status: 503 }), endOf())
    await tracing.close()
    const [span] = receiver.spans()
    expect(span?.status).toEqual({ code: 2 })
    expect(span?.attributes['error.type']).toBe('503')
  })

  test('it is sent with protobuf unless the environment says otherwise', async () => {
    const receiver = await otlpReceiver()
    const { tracing } = await open({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.origin })
    tracing.ended(reportOf(), endOf())
    await tracing.close()
    expect(receiver.requests[0]?.headers['content-type']).toBe('application/x-protobuf')
    expect(receiver.requests[0]?.body.toString('latin1')).toContain('chat gpt-5')
  })
})

describe('the trace that a client began', () => {
  test('is continued', async () => {
    const [span] = await spansOf({}, [sampled])
    expect([span?.traceId, span?.parentSpanId]).toEqual([trace, parent])
  })

  test.each([
    'PLANTED',
    '',
    `00-${trace}-${parent}`,
    `00-${trace}-${parent}-01-more`,
    `ff-${trace}-${parent}-01`,
    `00-${'0'.repeat(32)}-${parent}-01`,
    `00-${trace}-${'0'.repeat(16)}-01`,
    `00-${trace.toUpperCase()}-${parent}-01`,
    `${sampled}, ${sampled}`,
  ])('is none where the header is malformed: %j', async (traceparent) => {
    const [span] = await spansOf({}, [traceparent])
    expect(span?.parentSpanId).toBe('')
    expect(span?.traceId).not.toBe(trace)
  })

  test('is not told where the client does not keep it', async () => {
    expect(await spansOf({}, [`00-${trace}-${parent}-00`])).toEqual([])
  })
})

describe('the usual variables are honoured', () => {
  test('the service is named foldgate, with its version', async () => {
    const { tracing, receiver } = await openAtReceiver()
    tracing.ended(reportOf(), endOf())
    await tracing.close()
    expect(receiver.resource()).toEqual({
      'service.name': 'foldgate',
      'service.version': '9.8.7',
      'telemetry.sdk.language': 'nodejs',
      'telemetry.sdk.name': 'opentelemetry',
      'telemetry.sdk.version': expect.any(String),
    })
  })

  test('OTEL_SERVICE_NAME goes before OTEL_RESOURCE_ATTRIBUTES, and this before the default', async () => {
    const attributes = { OTEL_RESOURCE_ATTRIBUTES: 'service.name=theirs,deployment.environment.name=blue' }
    const named = await openAtReceiver({ ...attributes, OTEL_SERVICE_NAME: 'mine' })
    named.tracing.ended(reportOf(), endOf())
    await named.tracing.close()
    expect(named.receiver.resource()).toMatchObject({
      'service.name': 'mine',
      'deployment.environment.name': 'blue',
    })
    const unnamed = await openAtReceiver(attributes)
    unnamed.tracing.ended(reportOf(), endOf())
    await unnamed.tracing.close()
    expect(unnamed.receiver.resource()).toMatchObject({ 'service.name': 'theirs' })
  })

  test('OTEL_RESOURCE_ATTRIBUTES that cannot be read are told', async () => {
    const { log } = await open({ OTEL_TRACES_EXPORTER: 'console', OTEL_RESOURCE_ATTRIBUTES: 'PLANTED' })
    expect(log.join('')).toMatch(/OTEL_RESOURCE_ATTRIBUTES cannot be read/)
    expect(log.join('')).not.toContain('PLANTED')
  })

  test('OTEL_TRACES_SAMPLER: all, none, a part, and with or without the client’s word', async () => {
    const eight = Array.from({ length: 8 }, () => null)
    expect(await spansOf({ OTEL_TRACES_SAMPLER: 'always_off' }, [sampled, null])).toEqual([])
    expect(await spansOf({ OTEL_TRACES_SAMPLER: 'always_on' }, [`00-${trace}-${parent}-00`])).toHaveLength(1)
    expect(await spansOf({ OTEL_TRACES_SAMPLER: 'parentbased_always_off' }, [sampled, null])).toHaveLength(1)
    const ratio = { OTEL_TRACES_SAMPLER: 'traceidratio' }
    expect(await spansOf({ ...ratio, OTEL_TRACES_SAMPLER_ARG: '0' }, eight)).toEqual([])
    expect(await spansOf({ ...ratio, OTEL_TRACES_SAMPLER_ARG: '1' }, eight)).toHaveLength(8)
    const followed = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' }
    expect(await spansOf(followed, [sampled, ...eight])).toHaveLength(1)
  })

  test('OTEL_BSP_SCHEDULE_DELAY: spans leave by themselves after it', async () => {
    const { tracing, receiver } = await openAtReceiver({ OTEL_BSP_SCHEDULE_DELAY: '30' })
    tracing.ended(reportOf(), endOf())
    // By default it would be five seconds.
    await eventually(() => expect(receiver.requests).toHaveLength(1))
  })

  test('OTEL_BSP_MAX_EXPORT_BATCH_SIZE and OTEL_BSP_MAX_QUEUE_SIZE bound what waits', async () => {
    const { tracing, receiver } = await openAtReceiver({
      OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '3',
      OTEL_BSP_MAX_QUEUE_SIZE: '6',
    })
    for (let each = 0; each < 20; each += 1) tracing.ended(reportOf(), endOf())
    await tracing.close()
    // The first three are on their way when the queue fills up.
    expect(receiver.spans()).toHaveLength(9)
    expect(receiver.requests).toHaveLength(3)
  })

  test('OTEL_EXPORTER_OTLP_HEADERS reach the collector and no log, the endpoint for traces is taken as it is', async () => {
    const receiver = await otlpReceiver()
    const { tracing, log } = await open({
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${receiver.origin}/own/path?key=PLANTED-QUERY`,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20PLANTED-KEY',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
    })
    tracing.ended(reportOf(), endOf())
    await tracing.close()
    expect(receiver.requests[0]?.url).toBe('/own/path?key=PLANTED-QUERY')
    expect(receiver.requests[0]?.headers['authorization']).toBe('Bearer PLANTED-KEY')
    expect(gunzipSync(receiver.requests[0]?.body ?? '').toString('latin1')).toContain('chat gpt-5')
    expect(log.join('')).not.toContain('PLANTED')
  })

  test('OTEL_TRACES_EXPORTER=console writes a line for each span and opens no connection', async () => {
    const { tracing, lines, log } = await open({ OTEL_TRACES_EXPORTER: 'console' })
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
    expect(log.join('')).toContain('"to":"standard error"')
  })

  test('grpc is refused before anything is loaded', async () => {
    const opening = open({ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_TRACES_EXPORTER: 'otlp' })
    await expect(opening).rejects.toThrow(TracingError)
  })

  test('a value that cannot be used is told and does no harm', async () => {
    const { tracing, receiver, log } = await openAtReceiver({ OTEL_BSP_SCHEDULE_DELAY: 'soon' })
    tracing.ended(reportOf(), endOf())
    await tracing.close()
    expect(receiver.spans()).toHaveLength(1)
    expect(log.filter((line) => line.includes('OTEL_BSP_SCHEDULE_DELAY'))).toHaveLength(1)
  })
})

describe('a collector that fails', () => {
  test('is told once, without what it answers, and once more when spans arrive again', async () => {
    const refusing = json({ error: 'PLANTED' }, 401)
    const receiver = await otlpReceiver([refusing, refusing, refusing, json({})])
    const { tracing, log } = await open({
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.origin,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=PLANTED',
      OTEL_BSP_SCHEDULE_DELAY: '5',
    })
    for (let each = 1; each <= 4; each += 1) {
      tracing.ended(reportOf(), endOf())
      await eventually(() => expect(receiver.requests).toHaveLength(each))
      // The exporter has to have read the answer before the next span is a batch of its own.
      await sleep(50)
    }
    const told = log.map((line) => JSON.parse(line)).filter(({ message }) => /arrive/.test(message))
    expect(told).toMatchObject([
      { level: 'warn', reason: 'status 401' },
      { level: 'info', lost_spans: 3 },
    ])
    expect(log.join('')).not.toContain('PLANTED')
  })

  test('that is not there is told by its code, and closing ends in time', async () => {
    const { tracing, log } = await open({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
      OTEL_EXPORTER_OTLP_TIMEOUT: '100',
    })
    tracing.ended(reportOf(), endOf())
    await tracing.close()
    expect(log.filter((line) => line.includes('ECONNREFUSED'))).toHaveLength(1)
  })

  test('that never answers holds up the end for some seconds at most', async () => {
    const receiver = await otlpReceiver(() => {})
    const { tracing } = await open({
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.origin,
      OTEL_EXPORTER_OTLP_TIMEOUT: '60000',
    })
    tracing.ended(reportOf(), endOf())
    const began = performance.now()
    await tracing.close()
    expect(performance.now() - began).toBeLessThan(7_000)
    // What comes after the end is nobody's.
    expect(() => tracing.ended(reportOf(), endOf())).not.toThrow()
  })
})
