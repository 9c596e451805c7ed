import { TracingError } from './tracing-error.ts'
import { variable, type Environment } from './variables.ts'
import { endpointVariables, exporterNames } from './wanted.ts'

/** How spans leave, as the environment says. */
export type ExportChoice = {
  /** By OTLP over HTTP; null where not. */
  readonly otlp: { readonly protocol: OtlpProtocol; readonly origin: string } | null
  /** As lines for whoever tries it out. */
  readonly console: boolean
}

export type OtlpProtocol = 'http/protobuf' | 'http/json'

/**
 * Reads where spans go and how. Throws a `TracingError` for what Foldgate has no exporter for, and for endpoints that are
 * no addresses: the exporter itself would fall back to this machine without a word.
 */
export function chooseExport(env: Environment): ExportChoice {
  const listed = exporterNames(env)
  const names = listed.length === 0 ? ['otlp'] : listed
  const unknown = names.find((name) => name !== 'otlp' && name !== 'console')
  if (unknown !== undefined) {
    throw new TracingError(
      'OTEL_TRACES_EXPORTER names an exporter that is not there: use otlp, console or none',
    )
  }
  return {
    otlp: names.includes('otlp') ? { protocol: protocolFrom(env), origin: originFrom(env) } : null,
    console: names.includes('console'),
  }
}

// --- internal ---

/** OpenTelemetry's own default. */
const DEFAULT_ORIGIN = 'http://localhost:4318'

function protocolFrom(env: Environment): OtlpProtocol {
  const protocol = variable(env, 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL')
  switch (protocol) {
    case null:
    case 'http/protobuf':
      return 'http/protobuf'
    case 'http/json':
      return 'http/json'
    case 'grpc':
      throw new TracingError(
        'OTEL_EXPORTER_OTLP_PROTOCOL is grpc, which Foldgate does not speak: set http/protobuf and the port for ' +
          'OTLP over HTTP, which is 4318 with most collectors',
      )
    default:
      throw new TracingError('OTEL_EXPORTER_OTLP_PROTOCOL is unknown: use http/protobuf or http/json')
  }
}

/** Scheme, host and port: user info, path and query may hold a key, and are for nobody but the exporter. */
function originFrom(env: Environment): string {
  const endpoint = variable(env, ...endpointVariables)
  if (endpoint === null) return DEFAULT_ORIGIN
  const url = URL.parse(endpoint)
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    const name = endpointVariables.find((each) => variable(env, each) !== null)
    throw new TracingError(`${name} is no address that begins with http:// or https://`)
  }
  return url.origin
}
