import type { ExportResultCode } from '@opentelemetry/core'
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace'
import type { ExportChoice, OtlpProtocol } from './export-choice.ts'
import type { Outage } from './outage.ts'

export type SpanExportersOptions = {
  /** How long sending a batch may take, in milliseconds. */
  readonly exportMs: number
  /** Where the lines of the console exporter go. */
  readonly write: (line: string) => void
  readonly outage: Outage
}

/**
 * Opens what the environment chose, and loads nothing else. The OTLP exporters read the process's own environment: the
 * endpoint, `OTEL_EXPORTER_OTLP_HEADERS`, certificates and compression are theirs, and Foldgate never holds the headers.
 */
export async function openExporters(
  choice: ExportChoice,
  options: SpanExportersOptions,
): Promise<readonly SpanExporter[]> {
  const { ExportResultCode } = await import('@opentelemetry/core')
  const exporters: SpanExporter[] = []
  if (choice.otlp !== null) {
    const exporter = await openOtlp(choice.otlp.protocol, options.exportMs)
    exporters.push(telling(exporter, options.outage, ExportResultCode.SUCCESS))
  }
  if (choice.console) exporters.push(lineExporter(options.write, ExportResultCode.SUCCESS))
  return exporters
}

// --- internal ---

async function openOtlp(protocol: OtlpProtocol, exportMs: number): Promise<SpanExporter> {
  const { OTLPTraceExporter } = await (protocol === 'http/json'
    ? import('@opentelemetry/exporter-trace-otlp-http')
    : import('@opentelemetry/exporter-trace-otlp-proto'))
  return new OTLPTraceExporter({ timeoutMillis: exportMs })
}

/** The SDK tells a failure to nobody but its own diagnostics, which Foldgate leaves off. */
function telling(
  exporter: SpanExporter,
  { failed, worked }: Outage,
  success: ExportResultCode,
): SpanExporter {
  return {
    export: function exportTelling(spans, onResult) {
      exporter.export(spans, (result) => {
        if (result.code === success) worked()
        else failed(spans.length, result.error)
        onResult(result)
      })
    },
    shutdown: () => exporter.shutdown(),
  }
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
