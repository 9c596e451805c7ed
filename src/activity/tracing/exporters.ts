import type { ExportResultCode } from '@opentelemetry/core'
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace'
import type { Log } from '../../log/log.ts'
import type { ExportChoice } from './settings.ts'

export type ExportersOptions = {
  /** How long sending a batch may take, in milliseconds. */
  readonly exportMs: number
  readonly log: Log
  /** Where the lines of the console exporter go. */
  readonly write: (line: string) => void
}

/**
 * Opens what the environment chose, and loads nothing else. The OTLP exporters read the process's own environment: the
 * endpoint, `OTEL_EXPORTER_OTLP_HEADERS`, certificates and compression are theirs, and Foldgate never holds the headers.
 */
export async function openExporters(
  { otlp, console }: ExportChoice,
  { exportMs, log, write }: ExportersOptions,
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

// --- internal ---

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
