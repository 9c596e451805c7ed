import { describe, expect, test } from 'vitest'
import {
  chooseExport,
  readSdkSettings,
  TracingError,
  tracingWanted,
} from '../../../src/telemetry/tracing/trace-settings.ts'

describe('what the environment leaves to the program', () => {
  test('is what OpenTelemetry specifies where nothing is set, but for half its time to send', () => {
    const { batch, ...others } = readSdkSettings({})
    const sampler = { root: 'all', followsParent: true, ratio: 1 }
    expect(others).toEqual({ sampler, exportMs: 5_000, problems: [] })
    const times = { scheduledDelayMillis: 5_000, exportTimeoutMillis: 30_000 }
    expect(batch).toEqual({ ...times, maxQueueSize: 2_048, maxExportBatchSize: 512 })
  })

  test('is taken from the variables that are set', () => {
    const env = {
      OTEL_BSP_SCHEDULE_DELAY: '1',
      OTEL_BSP_EXPORT_TIMEOUT: '2',
      OTEL_BSP_MAX_QUEUE_SIZE: '3',
      OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '4',
      OTEL_EXPORTER_OTLP_TIMEOUT: '5',
      OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '6',
    }
    const batch = { scheduledDelayMillis: 1, exportTimeoutMillis: 2, maxQueueSize: 3, maxExportBatchSize: 4 }
    expect(readSdkSettings(env)).toMatchObject({ batch, exportMs: 6 })
  })

  test('what cannot be used is told, and the default holds', () => {
    const env = {
      OTEL_BSP_SCHEDULE_DELAY: 'soon',
      OTEL_BSP_MAX_QUEUE_SIZE: '-1',
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '2',
    }
    const { sampler, batch, problems } = readSdkSettings(env)
    expect([sampler.ratio, batch.scheduledDelayMillis, batch.maxQueueSize]).toEqual([1, 5_000, 2_048])
    const bad = ['OTEL_TRACES_SAMPLER_ARG', 'OTEL_BSP_SCHEDULE_DELAY', 'OTEL_BSP_MAX_QUEUE_SIZE']
    expect(problems.map((problem) => problem.split(' ')[0])).toEqual(bad)
    expect(readSdkSettings({ OTEL_TRACES_SAMPLER: 'xray' }).problems.join()).toMatch(
      /^OTEL_TRACES_SAMPLER is none of always_on.*parentbased_always_on is used$/,
    )
  })
})

describe('where spans go', () => {
  test('by OTLP with protobuf to the usual port of this machine, unless said otherwise; lines go with it', () => {
    const otlp = { protocol: 'http/protobuf', origin: 'http://localhost:4318' }
    expect(chooseExport({ OTEL_TRACES_EXPORTER: 'otlp' })).toEqual({ otlp, console: false })
    expect(chooseExport({ OTEL_TRACES_EXPORTER: 'console' })).toEqual({ otlp: null, console: true })
    expect(chooseExport({ OTEL_TRACES_EXPORTER: 'otlp,console' })).toEqual({ otlp, console: true })
  })

  test('the endpoint and the protocol for traces win over those for everything', () => {
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://all:1',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces:2/v1/traces',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
    }
    expect(chooseExport(env).otlp).toEqual({ protocol: 'http/json', origin: 'https://traces:2' })
  })

  test('user, password, path and query of the endpoint are not told', () => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://PLANTED:PLANTED@host/PLANTED?key=PLANTED' }
    expect(JSON.stringify(chooseExport(env))).not.toContain('PLANTED')
  })

  test.each([
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, /grpc.*set http\/protobuf.*4318/],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'PLANTED' }, /use http\/protobuf or http\/json/],
    [{ OTEL_TRACES_EXPORTER: 'zipkin' }, /use otlp, console or none/],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'PLANTED:4318' }, /^OTEL_EXPORTER_OTLP_ENDPOINT is no address/],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'collector' }, /^OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is no addr/],
  ])('%o is refused, with what to do and without its value', (env, message) => {
    const choose = () => chooseExport(env)
    expect(choose).toThrow(TracingError)
    expect(choose).toThrow(message)
    expect(choose).not.toThrow('PLANTED')
  })
})

test.each<[boolean, Readonly<Record<string, string>>]>([
  [true, { OTEL_TRACES_EXPORTER: 'otlp' }],
  [true, { OTEL_TRACES_EXPORTER: 'console' }],
  [true, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }],
  [true, { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:4318/v1/traces' }],
  [true, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', OTEL_SDK_DISABLED: 'false' }],
  [true, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', OTEL_TRACES_EXPORTER: '' }],
  [false, {}],
  [false, { OTEL_SERVICE_NAME: 'mine', OTEL_EXPORTER_OTLP_HEADERS: 'a=b' }],
  [false, { OTEL_EXPORTER_OTLP_ENDPOINT: ' ' }],
  [false, { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://127.0.0.1:4318' }],
  [false, { OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }],
  [false, { OTEL_TRACES_EXPORTER: 'otlp, NONE' }],
  [false, { OTEL_TRACES_EXPORTER: 'otlp', OTEL_SDK_DISABLED: 'true' }],
  [false, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', OTEL_SDK_DISABLED: 'TRUE' }],
])('whether traces are wanted: %j with %o', (wanted, env) => expect(tracingWanted(env)).toBe(wanted))
