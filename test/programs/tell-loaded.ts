import { registerHooks } from 'node:module'

/**
 * Imported before a program: writes a line for every module of OpenTelemetry that it loads but the interfaces, which
 * prom-client loads for itself.
 */
registerHooks({
  resolve: function tellLoaded(specifier, context, nextResolve) {
    const resolved = nextResolve(specifier, context)
    if (/\/@opentelemetry\/(?!api\/)/.test(resolved.url)) process.stderr.write(`loaded ${resolved.url}\n`)
    return resolved
  },
})
