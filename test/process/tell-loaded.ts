import { registerHooks } from 'node:module'

/** Imported before a program: writes a line for every module of OpenTelemetry that it loads. */
registerHooks({
  resolve: function tellLoaded(specifier, context, nextResolve) {
    const resolved = nextResolve(specifier, context)
    if (resolved.url.includes('/@opentelemetry/')) process.stderr.write(`loaded ${resolved.url}\n`)
    return resolved
  },
})
