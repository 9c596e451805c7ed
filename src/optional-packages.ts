/** Packages that do not come with Foldgate, by the setting that needs them; each with the version that it is known to work with. */
export const optionalPackages = {
  'a store at redis://': ['@redis/client@6.3.1'],
  'sending traces (OTEL_…)': [
    '@opentelemetry/api@1.10.0',
    '@opentelemetry/core@3.1.0',
    '@opentelemetry/exporter-trace-otlp-http@0.301.0',
    '@opentelemetry/exporter-trace-otlp-proto@0.301.0',
    '@opentelemetry/resources@3.1.0',
    '@opentelemetry/sdk-trace@3.1.0',
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>

/**
 * Loads what needs such packages. Where they are not installed it rejects with what `failure` makes of a sentence that says
 * how to install them; every other error stays as it is.
 */
export async function withOptionalPackages<Loaded>(
  need: keyof typeof optionalPackages,
  load: () => Promise<Loaded>,
  failure: (message: string) => Error,
): Promise<Loaded> {
  try {
    return await load()
  } catch (error) {
    if (!isMissing(error, optionalPackages[need])) throw error
    const packages = optionalPackages[need]
    throw failure(
      `${need} needs what does not come with Foldgate: install it beside it, by npm install ${packages.join(' ')}; ` +
        `or npx ${['foldgate', ...packages].map((name) => `-p ${name}`).join(' ')} foldgate`,
    )
  }
}

// --- internal ---

function isMissing(error: unknown, packages: readonly string[]): boolean {
  if (!(error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')) return false
  const [, name] = /^Cannot find package '([^']+)'/.exec(error.message) ?? []
  return packages.some((each) => each.startsWith(`${name}@`))
}
