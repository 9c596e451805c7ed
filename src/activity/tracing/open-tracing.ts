import { setTimeout as sleep } from 'node:timers/promises'
import type * as Api from '@opentelemetry/api'
import type { TracerProvider } from '@opentelemetry/sdk-trace'
import type { Log } from '../../log/log.ts'
import type { RequestEnd, RequestReport } from '../request-report.ts'
import type { Written } from '../../summaries/write-summary.ts'
import { chooseExport, type ExportChoice } from './export-choice.ts'
import { modelServer, type ModelServer } from './model-server.ts'
import { openProvider } from './open-provider.ts'
import { createOutage } from './outage.ts'
import { beginRequestSpan } from './request-span.ts'
import { readSdkSettings } from './sdk-settings.ts'
import { openExporters } from './span-exporters.ts'
import { summarySpan, type SummaryCall } from './summary-span.ts'
import type { ToldSpan } from './told-span.ts'
import type { Environment } from './variables.ts'

/** Whom requests and summaries are told, for OpenTelemetry. None of it throws, waits or keeps what it is given. */
export type Tracing = {
  /** A request whose answer is settled on, or will never be; the returned function when it has ended. */
  readonly request: (report: RequestReport) => (end: RequestEnd) => void
  /** A summary that was asked for. Its span begins a trace of its own: it serves requests to come. */
  readonly summary: (call: SummaryCall, written: Written) => void
  /** Sends what is left, and gives up after some seconds. Never rejects. */
  readonly close: () => Promise<void>
}

export type OpenTracingOptions = {
  /**
   * The process's own environment: some of it is read here, and the packages of OpenTelemetry read the rest for
   * themselves (endpoint, headers, certificates, resource).
   */
  readonly env: Environment
  /** The upstreams' addresses by name. */
  readonly upstreams: ReadonlyMap<string, { readonly url: string }>
  /** Foldgate's version. */
  readonly version: string
  readonly log: Log
  /** Where the lines of the console exporter go. */
  readonly write: (line: string) => void
}

/**
 * Loads OpenTelemetry and opens what the environment chooses. Rejects with a `TracingError` where that cannot be done.
 * Nothing is registered globally, and no other part of Foldgate sees a type of OpenTelemetry.
 */
export async function openTracing(options: OpenTracingOptions): Promise<Tracing> {
  const { env, log } = options
  const choice = chooseExport(env)
  const settings = readSdkSettings(env)
  for (const problem of settings.problems) log.warn(problem)
  const [api, { parseTraceParent }, exporters] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/core'),
    openExporters(choice, { exportMs: settings.exportMs, write: options.write, outage: createOutage(log) }),
  ])
  const provider = await openProvider({ ...options, settings, exporters })
  const tracer = provider.getTracer('foldgate', options.version)
  const servers = new Map([...options.upstreams].map(([name, { url }]) => [name, modelServer(url)]))
  log.info('traces are sent', { to: destinationOf(choice) })

  let isDefectTold = false
  let closing: Promise<void> | null = null

  /** Whatever goes wrong with a span: the request that it tells of is none the worse. */
  function guarded<Result>(instead: Result, work: () => Result): Result {
    try {
      return work()
    } catch (error) {
      if (!isDefectTold) {
        log.error('a trace could not be told, which is a defect of Foldgate', {
          error: error instanceof Error ? error.name : 'unknown',
        })
      }
      isDefectTold = true
      return instead
    }
  }

  function parentFrom(traceparent: string | null): Api.Context {
    const parsed = traceparent === null ? null : parseTraceParent(traceparent)
    if (parsed === null) return api.ROOT_CONTEXT
    return api.trace.setSpanContext(api.ROOT_CONTEXT, { ...parsed, isRemote: true })
  }

  const serverOf = (upstream: string | null): ModelServer | null =>
    upstream === null ? null : (servers.get(upstream) ?? null)

  /** Its own function: what waits for the end of an answer must not keep the report, and with it the body, until then. */
  function recordAtEnd(
    endSpan: ReturnType<typeof beginRequestSpan>,
    parent: Api.Context,
  ): (end: RequestEnd) => void {
    return (end) => guarded(undefined, () => record(api, tracer, endSpan(end), parent))
  }

  return {
    request: (report) =>
      guarded(nothing, () =>
        recordAtEnd(beginRequestSpan(report, serverOf(report.upstream)), parentFrom(report.traceparent)),
      ),
    summary: (call, written) =>
      guarded(undefined, () =>
        record(api, tracer, summarySpan(call, written, serverOf(call.upstream)), api.ROOT_CONTEXT),
      ),
    close: function close() {
      closing ??= endWithin(provider, CLOSE_MS)
      return closing
    },
  }
}

// --- internal ---

/** How long the last spans may take, in milliseconds: a collector that hangs must not hold up the end. */
const CLOSE_MS = 5_000

function nothing(): void {}

async function endWithin(provider: TracerProvider, milliseconds: number): Promise<void> {
  // A failure has been told by then.
  const flushed = provider.shutdown().catch(() => {})
  await Promise.race([flushed, sleep(milliseconds, undefined, { ref: false })])
}

function record(api: typeof Api, tracer: Api.Tracer, told: ToldSpan, parent: Api.Context): void {
  const span = tracer.startSpan(
    told.name,
    {
      // The conventions want CLIENT for a call to a model in another process, and that is what the attributes speak
      // of: Foldgate's request to its upstream. A SERVER span would be one of HTTP, with other attributes.
      kind: api.SpanKind.CLIENT,
      startTime: told.startedAtMs,
      attributes: told.attributes,
    },
    parent,
  )
  for (const { name, atMs, attributes } of told.events) span.addEvent(name, attributes, atMs)
  // Without words: the type says it, and an upstream's own might quote the conversation.
  if (told.errorType !== null) span.setStatus({ code: api.SpanStatusCode.ERROR })
  span.end(told.endedAtMs)
}

function destinationOf({ otlp, console }: ExportChoice): string {
  const places = [
    otlp === null ? null : `${otlp.origin} (${otlp.protocol})`,
    console ? 'standard error' : null,
  ]
  return places.filter((place) => place !== null).join(', ')
}
