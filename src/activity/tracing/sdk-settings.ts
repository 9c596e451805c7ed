import { variable, type Environment } from './variables.ts'

/**
 * What OpenTelemetry's specification leaves to the environment, and its SDK from version 3 on to the program that uses
 * it: which traces are kept, and how spans are gathered before they leave.
 */
export type SdkSettings = {
  readonly sampler: SamplerSettings
  readonly batch: BatchSettings
  /** How long sending a batch may take, retries included, in milliseconds. */
  readonly exportMs: number
  /** What was set and cannot be used, each as a sentence. */
  readonly problems: readonly string[]
}

export type SamplerSettings = {
  /** What becomes of a trace that begins here. */
  readonly root: 'all' | 'none' | 'ratio'
  /** Between 0 and 1, for `ratio`. */
  readonly ratio: number
  /** Whether a trace that a client began is kept where the client keeps it, and only there. */
  readonly followsParent: boolean
}

export type BatchSettings = {
  readonly delayMs: number
  readonly timeoutMs: number
  /** Spans that wait at most; what comes on top is dropped. */
  readonly queueMax: number
  readonly batchMax: number
}

/** Reads them. A value that cannot be used is a problem and gives way to the default: no request depends on it. */
export function readSdkSettings(env: Environment): SdkSettings {
  const problems: string[] = []

  /** A whole number above 0 from the first of the variables that is set. */
  function whole(fallback: number, ...names: readonly string[]): number {
    const text = variable(env, ...names)
    if (text === null) return fallback
    const value = Number(text)
    if (Number.isSafeInteger(value) && value > 0) return value
    const name = names.find((each) => variable(env, each) !== null)
    problems.push(`${name} is no whole number above 0: ${fallback} is used`)
    return fallback
  }

  function sampler(): SamplerSettings {
    const name = variable(env, 'OTEL_TRACES_SAMPLER') ?? DEFAULT_SAMPLER
    const known = samplers.get(name)
    if (known === undefined) {
      problems.push(
        `OTEL_TRACES_SAMPLER is none of ${[...samplers.keys()].join(', ')}: ${DEFAULT_SAMPLER} is used`,
      )
    }
    const { root, followsParent } = known ?? { root: 'all', followsParent: true }
    return { root, followsParent, ratio: root === 'ratio' ? ratio() : 1 }
  }

  function ratio(): number {
    const text = variable(env, 'OTEL_TRACES_SAMPLER_ARG')
    const value = Number(text ?? 1)
    if (value >= 0 && value <= 1) return value
    problems.push('OTEL_TRACES_SAMPLER_ARG is no number between 0 and 1: 1 is used')
    return 1
  }

  return {
    sampler: sampler(),
    batch: {
      delayMs: whole(5_000, 'OTEL_BSP_SCHEDULE_DELAY'),
      timeoutMs: whole(30_000, 'OTEL_BSP_EXPORT_TIMEOUT'),
      queueMax: whole(2_048, 'OTEL_BSP_MAX_QUEUE_SIZE'),
      batchMax: whole(512, 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE'),
    },
    exportMs: whole(EXPORT_MS, 'OTEL_EXPORTER_OTLP_TRACES_TIMEOUT', 'OTEL_EXPORTER_OTLP_TIMEOUT'),
    problems,
  }
}

// --- internal ---

/**
 * Half of what OpenTelemetry suggests: a batch that is under way keeps the process from ending, and a collector is
 * mostly on the same machine or network.
 */
const EXPORT_MS = 5_000

const DEFAULT_SAMPLER = 'parentbased_always_on'

const samplers: ReadonlyMap<string, Pick<SamplerSettings, 'root' | 'followsParent'>> = new Map([
  ['always_on', { root: 'all', followsParent: false }],
  ['always_off', { root: 'none', followsParent: false }],
  ['traceidratio', { root: 'ratio', followsParent: false }],
  ['parentbased_always_on', { root: 'all', followsParent: true }],
  ['parentbased_always_off', { root: 'none', followsParent: true }],
  ['parentbased_traceidratio', { root: 'ratio', followsParent: true }],
])
