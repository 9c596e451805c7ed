import { describe, expect, test } from 'vitest'
import { chooseExport } from '../../../src/activity/tracing/export-choice.ts'
import { TracingError } from '../../../src/activity/tracing/tracing-error.ts'

describe('where spans go', () => {
  test('by OTLP with protobuf to the usual port of this machine, unless said otherwise', () => {
    expect(chooseExport({ OTEL_TRACES_EXPORTER: 'otlp' })).toEqual({
      otlp: { protocol: 'http/protobuf', origin: 'http://localhost:4318' },
      console: false,
    })
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

  test('lines and OTLP go together', () => {
    expect(chooseExport({ OTEL_TRACES_EXPORTER: 'console' })).toEqual({ otlp: null, console: true })
    const both = chooseExport({ OTEL_TRACES_EXPORTER: 'otlp,console' })
    expect([both.otlp === null, both.console]).toEqual([false, true])
  })

  test.each([
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, /grpc.*set http\/protobuf.*4318/],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'PLANTED' }, /use http\/protobuf or http\/json/],
    [{ OTEL_TRACES_EXPORTER: 'zipkin' }, /use otlp, console or none/],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'PLANTED:4318' }, /^OTEL_EXPORTER_OTLP_ENDPOINT is no address/],
    [
      { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'collector' },
      /^OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is no address/,
    ],
  ])('%o is refused, with what to do and without its value', (env, message) => {
    let thrown: unknown = null
    try {
      chooseExport(env)
    } catch (error) {
      thrown = error
    }
    expect(thrown).toBeInstanceOf(TracingError)
    expect(String(thrown).replace('TracingError: ', '')).toMatch(message)
    expect(String(thrown)).not.toContain('PLANTED')
  })
})
