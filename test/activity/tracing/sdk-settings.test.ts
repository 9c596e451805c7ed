import { describe, expect, test } from 'vitest'
import { readSdkSettings } from '../../../src/activity/tracing/sdk-settings.ts'

describe('what the environment leaves to the program', () => {
  test('is what OpenTelemetry specifies where nothing is set, but for half its time to send', () => {
    expect(readSdkSettings({})).toEqual({
      sampler: { root: 'all', followsParent: true, ratio: 1 },
      batch: { delayMs: 5_000, timeoutMs: 30_000, queueMax: 2_048, batchMax: 512 },
      exportMs: 5_000,
      problems: [],
    })
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
    const { batch, exportMs } = readSdkSettings(env)
    expect({ batch, exportMs }).toEqual({
      batch: { delayMs: 1, timeoutMs: 2, queueMax: 3, batchMax: 4 },
      exportMs: 6,
    })
  })

  test.each([
    ['always_on', { root: 'all', followsParent: false, ratio: 1 }],
    ['always_off', { root: 'none', followsParent: false, ratio: 1 }],
    ['traceidratio', { root: 'ratio', followsParent: false, ratio: 0.25 }],
    ['parentbased_always_on', { root: 'all', followsParent: true, ratio: 1 }],
    ['parentbased_always_off', { root: 'none', followsParent: true, ratio: 1 }],
    ['parentbased_traceidratio', { root: 'ratio', followsParent: true, ratio: 0.25 }],
  ])('the sampler %s is known', (name, sampler) => {
    const env = { OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: '0.25' }
    expect(readSdkSettings(env)).toMatchObject({ sampler, problems: [] })
  })

  test('what cannot be used is told, and the default holds', () => {
    const env = {
      OTEL_BSP_SCHEDULE_DELAY: 'soon',
      OTEL_BSP_MAX_QUEUE_SIZE: '-1',
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '2',
    }
    const { sampler, batch, problems } = readSdkSettings(env)
    expect([sampler.ratio, batch.delayMs, batch.queueMax]).toEqual([1, 5_000, 2_048])
    expect(problems.map((problem) => problem.split(' ')[0])).toEqual([
      'OTEL_TRACES_SAMPLER_ARG',
      'OTEL_BSP_SCHEDULE_DELAY',
      'OTEL_BSP_MAX_QUEUE_SIZE',
    ])
    expect(readSdkSettings({ OTEL_TRACES_SAMPLER: 'xray' }).problems.join()).toMatch(
      /^OTEL_TRACES_SAMPLER is none of always_on.*parentbased_always_on is used$/,
    )
  })
})
