import type { RequestEnd, RequestReport, StrideReport } from '../proxy/report/request-report.ts'
import type { ModelServer } from './model-server.ts'
import { chatName, known, type ToldSpan } from './told-span.ts'

/**
 * The span of one chat completion, by the OpenTelemetry conventions for generative AI
 * (open-telemetry/semantic-conventions-genai, November 2026; their status is "development") and with what Foldgate did
 * under `foldgate.`. It covers all attempts, from the body's arrival until the end of the answer.
 */
export function requestSpan(report: RequestReport, end: RequestEnd, server: ModelServer | null): ToldSpan {
  const { size, startedAtMs } = report
  const model = report.model === '' ? null : report.model
  const endedAtMs = startedAtMs + Math.max(end.totalMs, 0)
  const errorType = errorTypeOf(report, end)
  const strides = report.stride === null ? [] : [report.stride]
  return {
    name: chatName(model),
    startedAtMs,
    endedAtMs,
    errorType,
    attributes: known({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': server?.provider ?? 'openai',
      'gen_ai.request.model': model,
      // Left out where it is not so, as the conventions want it. The same holds for `compacted`.
      'gen_ai.request.stream': report.isStreamed ? true : null,
      'gen_ai.response.model': end.answeredBy,
      'gen_ai.usage.input_tokens': end.usage?.promptTokens ?? null,
      'gen_ai.usage.output_tokens': end.usage?.completionTokens ?? null,
      'gen_ai.usage.cache_read.input_tokens': end.usage?.cachedTokens ?? null,
      // What answers name in x-foldgate-conversation: it stays while the conversation grows, and is no mere digest of
      // this request, which the conventions rule out.
      'gen_ai.conversation.id': report.conversation,
      'gen_ai.conversation.compacted': report.passes.length > 0 ? true : null,
      'server.address': server?.address ?? null,
      'server.port': server?.port ?? null,
      'http.response.status_code': report.status,
      'error.type': errorType,
      'foldgate.action': report.action,
      'foldgate.reason': report.reason,
      'foldgate.profile': report.profile,
      'foldgate.upstream': report.upstream,
      'foldgate.attempts': report.attempts,
      'foldgate.passes': [...report.passes],
      'foldgate.summary': report.summary,
      'foldgate.pressure': size?.pressure ?? null,
      'foldgate.tokens.received': size?.receivedTokens ?? null,
      'foldgate.tokens.sent': size?.sentTokens ?? null,
      'foldgate.tokens.is_bound': size?.isBound === true ? true : null,
      'foldgate.window.tokens': size?.windowTokens ?? null,
      'foldgate.window.source': size?.windowSource ?? null,
      'foldgate.stride.reason': strides.at(-1)?.reason ?? null,
      'foldgate.added_ms': report.addedMs,
      'foldgate.outcome': end.outcome,
    }),
    events: strides.map((stride) => strideEvent(stride, Math.min(startedAtMs + report.addedMs, endedAtMs))),
  }
}

// --- internal ---

/**
 * A status, or that the answer broke off. A client that leaves does as it likes: `foldgate.outcome` says so, and it is
 * no error.
 */
function errorTypeOf({ status }: RequestReport, { outcome }: RequestEnd): string | null {
  if (status !== null && status >= 400) return String(status)
  return outcome === 'broken-off' ? 'broken-off' : null
}

/** The report does not say when exactly a stride was made: it is told where the first upstream request began. */
function strideEvent(stride: StrideReport, atMs: number): ToldSpan['events'][number] {
  return {
    name: 'foldgate.stride',
    atMs,
    attributes: {
      'foldgate.stride.reason': stride.reason,
      'foldgate.stride.point': stride.point,
      'foldgate.stride.passes': [...stride.passes],
      'foldgate.stride.tokens_before': stride.tokensBefore,
      'foldgate.stride.tokens_after': stride.tokensAfter,
      'foldgate.stride.summaries': stride.summaryKeys.length,
      'foldgate.stride.ms': stride.milliseconds,
    },
  }
}
