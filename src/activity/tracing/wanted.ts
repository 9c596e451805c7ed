import { variable, type Environment } from './variables.ts'

/**
 * Whether traces are to be sent: where `OTEL_TRACES_EXPORTER` says how, or an OTLP endpoint is set. OpenTelemetry's own
 * default would be to send them always, to this machine; Foldgate sends nothing that nobody asked for.
 * `OTEL_SDK_DISABLED=true` and `OTEL_TRACES_EXPORTER=none` turn them off whatever else is set.
 */
export function tracingWanted(env: Environment): boolean {
  if (variable(env, 'OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return false
  const exporters = exporterNames(env)
  if (exporters.includes('none')) return false
  return exporters.length > 0 || variable(env, ...endpointVariables) !== null
}

/** What `OTEL_TRACES_EXPORTER` lists; empty where it is not set. */
export function exporterNames(env: Environment): readonly string[] {
  const list = variable(env, 'OTEL_TRACES_EXPORTER') ?? ''
  return list
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '')
}

/** Where spans go by OTLP: the one for traces wins. */
export const endpointVariables = [
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
] as const
