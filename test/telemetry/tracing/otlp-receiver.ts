import { onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { fakeUpstream, json, type Script } from '../../support/fake-upstream.ts'

const scalar = z.union([
  z.object({ stringValue: z.string() }).transform((value) => value.stringValue),
  z.object({ boolValue: z.boolean() }).transform((value) => value.boolValue),
  // Whole numbers of 64 bits may be text in OTLP's JSON.
  z.object({ intValue: z.union([z.number(), z.string()]) }).transform((value) => Number(value.intValue)),
  z.object({ doubleValue: z.number() }).transform((value) => value.doubleValue),
])

const list = z
  .object({ arrayValue: z.object({ values: z.array(scalar).default([]) }) })
  .transform((value) => value.arrayValue.values)

const attributes = z
  .array(z.object({ key: z.string(), value: z.union([scalar, list]) }))
  .default([])
  .transform((pairs) => Object.fromEntries(pairs.map(({ key, value }) => [key, value])))

const nanoseconds = z.string().transform((text) => Number(BigInt(text) / 1_000_000n))

const span = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().default(''),
  name: z.string(),
  kind: z.number(),
  startTimeUnixNano: nanoseconds,
  endTimeUnixNano: nanoseconds,
  attributes,
  events: z.array(z.object({ name: z.string(), timeUnixNano: nanoseconds, attributes })).default([]),
  status: z.looseObject({ code: z.number().default(0) }),
})

const scopeSpans = z.array(z.object({ spans: z.array(span) }))

const traces = z.object({
  resourceSpans: z.array(z.object({ resource: z.object({ attributes }), scopeSpans })),
})

/** A collector that takes OTLP over HTTP, closed when the test is over. */
export async function otlpReceiver(script: Script | readonly Script[] = json({})) {
  const server = await fakeUpstream(script)
  onTestFinished(server.close)
  const read = () =>
    server.requests.flatMap(({ body }) => traces.parse(JSON.parse(body.toString())).resourceSpans)
  return {
    ...server,
    /** The spans of all requests in OTLP's JSON, with times in milliseconds. */
    spans: () => read().flatMap((each) => each.scopeSpans.flatMap(({ spans }) => spans)),
    /** Who sent the first of them. */
    resource: (): Readonly<Record<string, unknown>> => read()[0]?.resource.attributes ?? {},
  }
}

/** Sets these variables, for OpenTelemetry reads the process's environment, and unsets all others of its own. */
export function environment(
  variables: Readonly<Record<string, string>>,
): Readonly<Record<string, string | undefined>> {
  for (const name of Object.keys(process.env)) {
    if (name.startsWith('OTEL_')) vi.stubEnv(name, undefined)
  }
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
  onTestFinished(() => void vi.unstubAllEnvs())
  return process.env
}
