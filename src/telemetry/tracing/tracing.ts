import { setTimeout as sleep } from 'node:timers/promises'
import type { Resource } from '@opentelemetry/resources'
import type * as Sdk from '@opentelemetry/sdk-trace'
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace'
import type { Log } from '../log/log.ts'
import type { Listener } from '../request-report.ts'
import { modelServer, requestSpan, summarySpan, type ToldSpan } from './spans.ts'
import {
  chooseExport,
  type ExportChoice,
  readSdkSettings,
  type SdkSettings,
  variable,
} from './trace-settings.ts'
import type { ExportResultCode } from '@opentelemetry/core'

/**
 * Tells OpenTelemetry of requests and summaries. None of it waits or keeps what it is given. A summary's span begins a trace of
 * its own: it serves requests to come.
 */
export type Tracing = Listener &
  Required<Pick<Listener, 'ended' | 'summary'>> & {
    /** Sends what is left, and gives up after some seconds. Never rejects. */
    readonly close: () => Promise<void>
  }

export type OpenTracingOptions = {
  /**
   * The process's own environment: some of it is read here, and the packages of OpenTelemetry read the rest for
   * themselves (endpoint, headers, certificates, resource).
   */
  readonly env: Readonly<Record<string, string | undefined>>
  /** The upstreams' addresses by name. */
  readonly upstreams: ReadonlyMap<string, { readonly url: string }>
  /** Foldgate's version. */
  readonly version: string
  readonly log: Log
  /** Where the lines of the console exporter go. */
  readonly write: (line: string) => void
}

/**
 * Loads OpenTelemetry and opens what the environment chooses. Rejects with a `TracingError` if that cannot be done.
 * Nothing is registered globally, and no other part of Foldgate sees a type of OpenTelemetry.
 */
export async function openTracing(options: OpenTracingOptions): Promise<Tracing> {
  const { env, log, version } = options
  const choice = chooseExport(env)
  const settings = readSdkSettings(env)
  for (const problem of settings.problems) log.warn(problem)
  const [api, { parseTraceParent }, sdk, exporters, resource] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/core'),
    import('@opentelemetry/sdk-trace'),
    openExporters(choice, settings.exportMs, options),
    openResource(options),
  ])
  const provider = new sdk.TracerProvider({
    resource,
    sampler: samplerFrom(sdk, settings.sampler),
    spanLimits: { attributeValueLengthLimit: VALUE_CHARS_MAX },
    spanProcessors: exporters.map((exporter) => new sdk.BatchSpanProcessor({ exporter, ...settings.batch })),
  })
  const tracer = provider.getTracer('foldgate', version)
  const servers = new Map([...options.upstreams].map(([name, { url }]) => [name, modelServer(url)]))
  log.info('traces are sent', { to: destinationOf(choice) })

  let closing: Promise<void> | null = null

  function record(told: ToldSpan, traceparent: string | null): void {
    const client = traceparent === null ? null : parseTraceParent(traceparent)
    const root = api.ROOT_CONTEXT
    const parent = client === null ? root : api.trace.setSpanContext(root, { ...client, isRemote: true })
    // The conventions want CLIENT for a call to a model in another process, and that is what the attributes speak
    // of: Foldgate's request to its upstream. A SERVER span would be one of HTTP, with other attributes.
    const kind = api.SpanKind.CLIENT
    const { name, startedAtMs: startTime, attributes } = told
    const span = tracer.startSpan(name, { kind, startTime, attributes }, parent)
    for (const event of told.events) span.addEvent(event.name, event.attributes, event.atMs)
    // Without words: the type says it, and an upstream's own might quote the conversation.
    if (told.errorType !== null) span.setStatus({ code: api.SpanStatusCode.ERROR })
    span.end(told.endedAtMs)
  }

  return {
    ended: (report, end) =>
      record(requestSpan(report, end, servers.get(report.row.upstream) ?? null), report.traceparent),
    summary: (call, written) =>
      record(summarySpan(call, written, servers.get(call.upstream ?? '') ?? null), null),
    close: () => {
      closing ??= Promise.race([
        // A failure has been told by then.
        provider.shutdown().catch(() => {}),
        sleep(CLOSE_MS, undefined, { ref: false }),
      ])
      return closing
    },
  }
}

// --- internal ---

/** How long the last spans may take, in milliseconds: a collector that hangs must not hold up the end. */
const CLOSE_MS = 5_000

/** Longer names come from no provider, and names of models come from clients. */
const VALUE_CHARS_MAX = 512

/** Who sends: the SDK's name and Foldgate's, then what the environment says. Neither host nor process is looked at. */
async function openResource({ env, version, log }: OpenTracingOptions): Promise<Resource> {
  const resources = await import('@opentelemetry/resources')
  const own = resources.resourceFromAttributes({ 'service.name': 'foldgate', 'service.version': version })
  const fromEnvironment = resources.resourceAttributesEnvDetector
  if (
    variable(env, 'OTEL_RESOURCE_ATTRIBUTES') !== null &&
    Object.keys(fromEnvironment.detect().attributes ?? {}).length === 0
  ) {
    log.warn(
      'OTEL_RESOURCE_ATTRIBUTES cannot be read and is ignored: write name=value, name=value, with %2C and %3D for commas and equals signs in them',
    )
  }
  const detectors = [fromEnvironment, resources.serviceNameEnvDetector]
  return resources.defaultResource().merge(own).merge(resources.detectResources({ detectors }))
}

function samplerFrom(sdk: typeof Sdk, { root, ratio, followsParent }: SdkSettings['sampler']): Sdk.Sampler {
  const samplers = {
    all: () => new sdk.AlwaysOnSampler(),
    none: () => new sdk.AlwaysOffSampler(),
    ratio: () => new sdk.TraceIdRatioBasedSampler(ratio),
  }
  const sampler = samplers[root]()
  return followsParent ? new sdk.ParentBasedSampler({ root: sampler }) : sampler
}

function destinationOf({ otlp, console }: ExportChoice): string {
  const places = [otlp !== null && `${otlp.origin} (${otlp.protocol})`, console && 'standard error']
  return places.filter((place) => place !== false).join(', ')
}

/**
 * Opens what the environment chose, and loads nothing else. A batch may take `exportMs`. The OTLP exporters read the process's own environment: the
 * endpoint, `OTEL_EXPORTER_OTLP_HEADERS`, certificates and compression are theirs, and Foldgate never holds the headers.
 */
async function openExporters(
  { otlp, console }: ExportChoice,
  exportMs: number,
  { log, write }: OpenTracingOptions,
): Promise<readonly SpanExporter[]> {
  const { ExportResultCode } = await import('@opentelemetry/core')
  const exporters: SpanExporter[] = []
  if (otlp !== null) {
    const { OTLPTraceExporter } = await (otlp.protocol === 'http/json'
      ? import('@opentelemetry/exporter-trace-otlp-http')
      : import('@opentelemetry/exporter-trace-otlp-proto'))
    const exporter = new OTLPTraceExporter({ timeoutMillis: exportMs })
    exporters.push(tellingOutages(exporter, log, ExportResultCode.SUCCESS))
  }
  if (console) exporters.push(lineExporter(write, ExportResultCode.SUCCESS))
  return exporters
}

/**
 * Logs once when spans begin to get lost, and once when they arrive again, with how many were lost. The SDK tells a
 * failure to nobody but its own diagnostics, which Foldgate leaves off.
 */
function tellingOutages(exporter: SpanExporter, log: Log, success: ExportResultCode): SpanExporter {
  let lost = 0
  return {
    export: function exportTelling(spans, onResult) {
      exporter.export(spans, (result) => {
        if (result.code === success) {
          if (lost > 0) log.info('traces arrive again', { lost_spans: lost })
          lost = 0
        } else {
          if (lost === 0) {
            log.warn('traces do not arrive: requests go on, their spans are lost until this ends', {
              reason: reasonOf(result.error),
            })
          }
          lost += spans.length
        }
        onResult(result)
      })
    },
    shutdown: () => exporter.shutdown(),
  }
}

/** A status or a code, never a message: answers may quote what was sent, and with it the headers that hold the key. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'no answer'
  const code = 'code' in error ? error.code : null
  if (typeof code === 'number') return `status ${code}`
  return typeof code === 'string' ? code : 'no good answer'
}

/** One JSON object a line. The SDK's own console exporter writes to standard output, which is the log. */
function lineExporter(write: (line: string) => void, success: ExportResultCode): SpanExporter {
  return {
    export: function exportLines(spans, onResult) {
      for (const span of spans) write(`${JSON.stringify(lineOf(span))}\n`)
      onResult({ code: success })
    },
    shutdown: () => Promise.resolve(),
  }
}

function lineOf(span: ReadableSpan) {
  return {
    name: span.name,
    trace: span.spanContext().traceId,
    span: span.spanContext().spanId,
    parent: span.parentSpanContext?.spanId ?? null,
    start: dateOf(span.startTime),
    end: dateOf(span.endTime),
    service: span.resource.attributes['service.name'],
    attributes: span.attributes,
    events: span.events.map(({ name, time, attributes }) => ({ name, time: dateOf(time), attributes })),
  }
}

/** From seconds and nanoseconds. */
function dateOf([seconds, nanoseconds]: ReadableSpan['startTime']): string {
  return new Date(seconds * 1_000 + nanoseconds / 1e6).toISOString()
}
