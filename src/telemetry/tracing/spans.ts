import type { SummaryResult } from '../../summaries/order.ts'
import type { RequestEnd, RequestReport, SummaryCall } from '../request-report.ts'
import type { ModelServer } from './model-server.ts'

/** A span as it is told after the fact, before OpenTelemetry is asked to make one. Figures and names only. */
export type ToldSpan = {
  readonly name: string
  readonly startedAtMs: number
  readonly endedAtMs: number
  readonly attributes: Attributes
  readonly events: readonly {
    readonly name: string
    readonly atMs: number
    readonly attributes: Attributes
  }[]
  /** What kind of failure it was, as a word; null if it was none. */
  readonly errorType: string | null
}

/**
 * The span of one generation request, by the OpenTelemetry conventions for generative AI
 * (open-telemetry/semantic-conventions-genai, November 2026; their status is "development") and with what Foldgate did
 * under `foldgate.`. It covers all attempts, from the body's arrival until the end of the answer.
 */
export function requestSpan(
  { row, isSentBound, compactions, prefixCause }: RequestReport,
  { outcome, usage, answeredBy, removedThoughts, totalMs }: RequestEnd,
  server: ModelServer | null,
): ToldSpan {
  const { action, reason, status, model, dialect } = row
  const provider = providerOf(server, dialect)
  const startedAtMs = Date.parse(row.time)
  const endedAtMs = startedAtMs + Math.max(totalMs, 0)
  // The code of Foldgate's own refusal, or a status. A client that leaves does as it likes: that is no error.
  const refusal =
    action === 'refused' && reason !== null
      ? reason
      : status !== null && status >= 400
        ? String(status)
        : null
  const errorType = refusal ?? (outcome === 'broken-off' ? outcome : null)
  return {
    name: chatName(model),
    startedAtMs,
    endedAtMs,
    errorType,
    attributes: known({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': provider,
      // Which of its APIs, in the conventions' own words.
      'openai.api.type': provider === 'openai' ? (dialect?.replaceAll('-', '_') ?? null) : null,
      'gen_ai.request.model': model === '' ? null : model,
      // The conventions want it left out if it is not so. The same holds for `compacted`.
      'gen_ai.request.stream': row.streamed ? true : null,
      // What answers name in x-foldgate-conversation: it stays while the conversation grows, and is no mere digest of
      // this request, which the conventions rule out.
      'gen_ai.conversation.id': row.conversation,
      'gen_ai.conversation.compacted': row.passes.length > 0 ? true : null,
      'gen_ai.response.model': answeredBy,
      'gen_ai.usage.input_tokens': usage?.promptTokens ?? null,
      'gen_ai.usage.output_tokens': usage?.completionTokens ?? null,
      'gen_ai.usage.cache_read.input_tokens': usage?.cachedTokens ?? null,
      'gen_ai.usage.cache_creation.input_tokens': usage?.cacheWrittenTokens ?? null,
      'server.address': server?.address ?? null,
      'server.port': server?.port ?? null,
      'http.response.status_code': status,
      'error.type': errorType,
      'foldgate.action': action,
      'foldgate.reason': reason,
      'foldgate.profile': row.profile,
      'foldgate.upstream': row.upstream,
      'foldgate.attempts': row.attempts,
      'foldgate.passes': [...row.passes],
      'foldgate.summary': row.summary,
      'foldgate.pressure': row.pressure,
      'foldgate.tokens.received': row.tokens_received,
      'foldgate.tokens.sent': row.tokens_sent,
      'foldgate.tokens.is_received_bound': row.tokens_are_bounds ? true : null,
      'foldgate.tokens.is_sent_bound': isSentBound ? true : null,
      'foldgate.window.tokens': row.window_tokens,
      'foldgate.window.source': row.window_source,
      'foldgate.compaction.reason': row.compaction,
      'foldgate.reasoning.removed': removedBy(prefixCause, removedThoughts),
      'foldgate.added_ms': row.added_ms,
      'foldgate.outcome': outcome,
    }),
    // The report does not say when exactly a compaction was made: it is told when the first upstream request began.
    events: compactions.map((compaction) => ({
      name: 'foldgate.compaction',
      atMs: Math.min(startedAtMs + row.added_ms, endedAtMs),
      attributes: {
        'foldgate.compaction.reason': compaction.reason,
        'foldgate.compaction.point': compaction.point,
        'foldgate.compaction.passes': [...compaction.passes],
        'foldgate.compaction.tokens_before': compaction.tokensBefore,
        'foldgate.compaction.tokens_after': compaction.tokensAfter,
        'foldgate.compaction.summaries': compaction.summaries.length,
        'foldgate.compaction.ms': compaction.milliseconds,
      },
    })),
  }
}

/** The span of a summary: one for all calls that it took, with what they cost together and not a word of the text. */
export function summarySpan(
  call: Omit<SummaryCall, 'name'>,
  written: SummaryResult,
  endedAtMs: number,
  server: ModelServer | null,
): ToldSpan {
  // One that was broken off, say because the conversation was deleted, is nobody's error.
  const isFailure = written.kind === 'failed' && written.reason !== 'cancelled'
  const errorType = isFailure ? written.reason : null
  return {
    name: chatName(call.model),
    startedAtMs: endedAtMs - Math.max(0, call.milliseconds),
    endedAtMs,
    errorType,
    events: [],
    attributes: known({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': server?.provider ?? 'openai',
      'gen_ai.request.model': call.model === '' ? null : call.model,
      'gen_ai.usage.input_tokens': written.promptTokens,
      'gen_ai.usage.output_tokens': written.completionTokens,
      'gen_ai.usage.cache_read.input_tokens': written.cachedTokens,
      'gen_ai.usage.cache_creation.input_tokens': written.cacheWrittenTokens,
      'gen_ai.conversation.id': call.conversation,
      'server.address': server?.address ?? null,
      'server.port': server?.port ?? null,
      'error.type': errorType,
      'foldgate.purpose': 'summary',
      'foldgate.upstream': call.upstream,
      'foldgate.attempts': written.calls,
      'foldgate.outcome': written.kind === 'written' ? 'written' : written.reason,
      'foldgate.tokens.written': written.kind === 'written' ? written.tokens : null,
    }),
  }
}

// --- internal ---

/** Whose format is spoken where the host does not tell: OpenAI's, or that of the dialect's maker. */
function providerOf(server: ModelServer | null, dialect: string | null): string {
  const provider = server?.provider ?? 'openai'
  return provider === 'openai' && dialect === 'messages' ? 'anthropic' : provider
}

type Attribute = string | number | boolean | string[]
type Attributes = Readonly<Record<string, Attribute>>

/** Clients name the models: what is longer than any true name is cut. */
const MODEL_CHARS_MAX = 200

/** A call's name as the conventions have it. */
function chatName(model: string): string {
  return model === '' ? 'chat' : `chat ${model.slice(0, MODEL_CHARS_MAX)}`
}

/** Thoughts that were left out of the prompt on account of what Foldgate sent; null if there are none. */
function removedBy(
  cause: RequestReport['prefixCause'],
  removed: RequestEnd['removedThoughts'],
): number | null {
  return cause === 'foldgate' ? (removed?.prefix ?? null) : null
}

/** Attributes without those that are not known. */
function known(values: Readonly<Record<string, Attribute | null>>): Attributes {
  const attributes: Record<string, Attribute> = {}
  for (const [name, value] of Object.entries(values)) {
    if (value !== null) attributes[name] = value
  }
  return attributes
}
