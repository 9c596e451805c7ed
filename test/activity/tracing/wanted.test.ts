import { describe, expect, test } from 'vitest'
import { tracingWanted } from '../../../src/activity/tracing/wanted.ts'

describe('traces are wanted', () => {
  test.each([
    { OTEL_TRACES_EXPORTER: 'otlp' },
    { OTEL_TRACES_EXPORTER: 'console' },
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' },
    { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:4318/v1/traces' },
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', OTEL_SDK_DISABLED: 'false' },
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', OTEL_TRACES_EXPORTER: '' },
  ])('with %o', (env) => expect(tracingWanted(env)).toBe(true))
})

describe('traces are not wanted', () => {
  test.each([
    {},
    { OTEL_SERVICE_NAME: 'mine', OTEL_EXPORTER_OTLP_HEADERS: 'a=b' },
    { OTEL_EXPORTER_OTLP_ENDPOINT: ' ' },
    { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://127.0.0.1:4318' },
    { OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' },
    { OTEL_TRACES_EXPORTER: 'otlp, NONE' },
    { OTEL_TRACES_EXPORTER: 'otlp', OTEL_SDK_DISABLED: 'true' },
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', OTEL_SDK_DISABLED: 'TRUE' },
  ])('with %o', (env) => expect(tracingWanted(env)).toBe(false))
})
