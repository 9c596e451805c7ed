export type Environment = Readonly<Record<string, string | undefined>>

/**
 * What the first of these variables that is set says; null where none is. An empty one is not set, as OpenTelemetry's
 * specification has it.
 */
export function variable(env: Environment, ...names: readonly string[]): string | null {
  for (const name of names) {
    const value = env[name]?.trim() ?? ''
    if (value !== '') return value
  }
  return null
}
