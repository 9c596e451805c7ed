/** The process's environment. */
type Variables = Readonly<Record<string, string | undefined>>

/** Traces that are wanted and cannot be sent. Its message says why and what to do, without the values of variables. */
export class TracingError extends Error {
  override readonly name = 'TracingError'
}

/**
 * What the first of these variables that is set says; null if none is. An empty one is not set, as OpenTelemetry's
 * specification has it.
 */
export function variable(env: Variables, ...names: readonly string[]): string | null {
  for (const name of names) {
    const value = env[name]?.trim() ?? ''
    if (value !== '') return value
  }
  return null
}

/**
 * Whether traces are to be sent: if `OTEL_TRACES_EXPORTER` says how, or an OTLP endpoint is set. OpenTelemetry's own
 * default would be to send them always, to this machine; Foldgate sends nothing that nobody asked for.
 * `OTEL_SDK_DISABLED=true` and `OTEL_TRACES_EXPORTER=none` turn them off whatever else is set.
 */
export function tracingWanted(env: Variables): boolean {
  if (variable(env, 'OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return false
  const exporters = exporterNames(env)
  if (exporters.includes('none')) return false
  return exporters.length > 0 || variable(env, ...endpointVariables) !== null
}

/** How spans leave: by OTLP over HTTP, as lines on standard error. */
export type ExportChoice = ReturnType<typeof chooseExport>

/**
 * Reads where spans go and how. Throws a `TracingError` for what Foldgate has no exporter for, and for endpoints that are
 * no addresses: the exporter itself would fall back to this machine without a word.
 */
export function chooseExport(env: Variables) {
  const listed = exporterNames(env)
  const names = listed.length === 0 ? ['otlp'] : listed
  if (names.some((name) => name !== 'otlp' && name !== 'console')) {
    throw new TracingError(
      'OTEL_TRACES_EXPORTER names an exporter that is not there: use otlp, console or none',
    )
  }
  return {
    otlp: names.includes('otlp') ? { protocol: protocolFrom(env), origin: originFrom(env) } : null,
    console: names.includes('console'),
  }
}

export type SdkSettings = ReturnType<typeof readSdkSettings>

/**
 * What OpenTelemetry's specification leaves to the environment, and its SDK from version 3 on to the program that uses
 * it: which traces are kept, and how spans are gathered before they leave. A value that cannot be used is a problem, said
 * in a sentence, and gives way to the default: no request depends on it.
 */
export function readSdkSettings(env: Variables) {
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

  function samplerRatio(): number {
    const value = Number(variable(env, 'OTEL_TRACES_SAMPLER_ARG') ?? 1)
    if (value >= 0 && value <= 1) return value
    problems.push('OTEL_TRACES_SAMPLER_ARG is no number between 0 and 1: 1 is used')
    return 1
  }

  const wanted = variable(env, 'OTEL_TRACES_SAMPLER') ?? DEFAULT_SAMPLER
  if (!samplerNames.has(wanted)) {
    const known = [...samplerNames].join(', ')
    problems.push(`OTEL_TRACES_SAMPLER is none of ${known}: ${DEFAULT_SAMPLER} is used`)
  }
  const sampler = samplerNames.has(wanted) ? wanted : DEFAULT_SAMPLER
  const isRatio = sampler.endsWith('traceidratio')
  return {
    sampler: {
      /** What becomes of a trace that begins here. */
      root: isRatio ? ('ratio' as const) : sampler.endsWith('on') ? ('all' as const) : ('none' as const),
      /** Between 0 and 1, for `ratio`. */
      ratio: isRatio ? samplerRatio() : 1,
      /** Whether a trace that a client began is kept if the client keeps it, and only then. */
      followsParent: sampler.startsWith('parentbased_'),
    },
    /** As the SDK's batch processor takes them. Sizes in spans: what exceeds the queue is dropped. */
    batch: {
      scheduledDelayMillis: whole(5_000, 'OTEL_BSP_SCHEDULE_DELAY'),
      exportTimeoutMillis: whole(30_000, 'OTEL_BSP_EXPORT_TIMEOUT'),
      maxQueueSize: whole(2_048, 'OTEL_BSP_MAX_QUEUE_SIZE'),
      maxExportBatchSize: whole(512, 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE'),
    },
    /** How long sending a batch may take, retries included, in milliseconds. */
    exportMs: whole(EXPORT_MS, 'OTEL_EXPORTER_OTLP_TRACES_TIMEOUT', 'OTEL_EXPORTER_OTLP_TIMEOUT'),
    problems,
  }
}

// --- internal ---

/** Where spans go by OTLP: the one for traces wins. */
const endpointVariables = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'] as const

/** OpenTelemetry's own default. */
const DEFAULT_ORIGIN = 'http://localhost:4318'

/**
 * Half of what OpenTelemetry suggests: a batch that is under way keeps the process from ending, and a collector is
 * mostly on the same machine or network.
 */
const EXPORT_MS = 5_000

const DEFAULT_SAMPLER = 'parentbased_always_on'

const samplerNames: ReadonlySet<string> = new Set(
  ['always_on', 'always_off', 'traceidratio'].flatMap((name) => [name, `parentbased_${name}`]),
)

/** What `OTEL_TRACES_EXPORTER` lists; empty if it is not set. */
function exporterNames(env: Variables): readonly string[] {
  const list = (variable(env, 'OTEL_TRACES_EXPORTER') ?? '').toLowerCase()
  return list.match(/[^\s,]+/g) ?? []
}

function protocolFrom(env: Variables): 'http/protobuf' | 'http/json' {
  const names = ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL']
  const protocol = variable(env, ...names) ?? 'http/protobuf'
  if (protocol === 'http/protobuf' || protocol === 'http/json') return protocol
  throw new TracingError(
    protocol === 'grpc'
      ? 'OTEL_EXPORTER_OTLP_PROTOCOL is grpc, which Foldgate does not speak: set http/protobuf and the port for OTLP over HTTP, which is 4318 with most collectors'
      : 'OTEL_EXPORTER_OTLP_PROTOCOL is unknown: use http/protobuf or http/json',
  )
}

/** Scheme, host and port: user info, path and query may hold a key, and are for nobody but the exporter. */
function originFrom(env: Variables): string {
  const endpoint = variable(env, ...endpointVariables)
  if (endpoint === null) return DEFAULT_ORIGIN
  const url = URL.parse(endpoint)
  if (url !== null && (url.protocol === 'http:' || url.protocol === 'https:')) return url.origin
  const name = endpointVariables.find((each) => variable(env, each) !== null)
  throw new TracingError(`${name} is no address that begins with http:// or https://`)
}
