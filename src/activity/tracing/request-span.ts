import type { RequestEnd, RequestReport, CompactionReport } from '../request-report.ts'
import type { ModelServer } from './model-server.ts'
import { chatName, known, type ToldAttributes, type ToldSpan } from './told-span.ts'

/**
 * The span of one chat completion, by the OpenTelemetry conventions for generative AI
 * (open-telemetry/semantic-conventions-genai, November 2026; their status is "development") and with what Foldgate did
 * under `foldgate.`. It covers all attempts, from the body's arrival until the end of the answer: the returned function
 * makes it once that has come. Until then figures and names are held, and not the report.
 */
export function beginRequestSpan(
  report: RequestReport,
  server: ModelServer | null,
): (end: RequestEnd) => ToldSpan {
  const { startedAtMs, addedMs, status } = report
  const name = chatName(report.model)
  const attributes = attributesOf(report, server)
  const errorType = errorTypeOf(report)
  const compactions = report.compactions.map(compactionAttributes)
  return function endRequestSpan({ outcome, usage, answeredBy, totalMs }) {
    const endedAtMs = startedAtMs + Math.max(totalMs, 0)
    const compactionAtMs = Math.min(startedAtMs + addedMs, endedAtMs)
    const brokenOff = outcome === 'broken-off' ? 'broken-off' : null
    return {
      name,
      startedAtMs,
      endedAtMs,
      errorType: errorType ?? brokenOff,
      attributes: {
        ...attributes,
        ...known({
          'gen_ai.response.model': answeredBy,
          'gen_ai.usage.input_tokens': usage?.promptTokens ?? null,
          'gen_ai.usage.output_tokens': usage?.completionTokens ?? null,
          'gen_ai.usage.cache_read.input_tokens': usage?.cachedTokens ?? null,
          'http.response.status_code': status,
          'error.type': errorType ?? brokenOff,
          'foldgate.outcome': outcome,
        }),
      },
      // The report does not say when exactly a compaction was made: it is told where the first upstream request began.
      events: compactions.map((compaction) => ({
        name: 'foldgate.compaction',
        atMs: compactionAtMs,
        attributes: compaction,
      })),
    }
  }
}

// --- internal ---

/** What is known before the answer. */
function attributesOf(report: RequestReport, server: ModelServer | null): ToldAttributes {
  const { size } = report
  return known({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': server?.provider ?? 'openai',
    'gen_ai.request.model': report.model === '' ? null : report.model,
    // Left out where it is not so, as the conventions want it. The same holds for `compacted`.
    'gen_ai.request.stream': report.isStreamed ? true : null,
    // What answers name in x-foldgate-conversation: it stays while the conversation grows, and is no mere digest of
    // this request, which the conventions rule out.
    'gen_ai.conversation.id': report.conversation,
    'gen_ai.conversation.compacted': report.passes.length > 0 ? true : null,
    'server.address': server?.address ?? null,
    'server.port': server?.port ?? null,
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
    'foldgate.tokens.is_received_bound': size?.isBound === true ? true : null,
    'foldgate.tokens.is_sent_bound': size?.isSentBound === true ? true : null,
    'foldgate.window.tokens': size?.windowTokens ?? null,
    'foldgate.window.source': size?.windowSource ?? null,
    'foldgate.compaction.reason': report.compactions.at(-1)?.reason ?? null,
    'foldgate.added_ms': report.addedMs,
  })
}

/**
 * The code of Foldgate's own refusal, or a status. A client that leaves does as it likes: `foldgate.outcome` says so,
 * and it is no error.
 */
function errorTypeOf({ action, reason, status }: RequestReport): string | null {
  if (action === 'refused' && reason !== null) return reason
  return status !== null && status >= 400 ? String(status) : null
}

function compactionAttributes(compaction: CompactionReport): ToldAttributes {
  return {
    'foldgate.compaction.reason': compaction.reason,
    'foldgate.compaction.point': compaction.point,
    'foldgate.compaction.passes': [...compaction.passes],
    'foldgate.compaction.tokens_before': compaction.tokensBefore,
    'foldgate.compaction.tokens_after': compaction.tokensAfter,
    'foldgate.compaction.summaries': compaction.summaries.length,
    'foldgate.compaction.ms': compaction.milliseconds,
  }
}
