import type { SummaryResult } from '../../summaries/summary-order.ts'
import {
  removedByFoldgate,
  type RequestEnd,
  type RequestReport,
  type SummaryCall,
} from '../request-report.ts'

/** A span as it is told after the fact, before OpenTelemetry is asked to make one. Figures and names only. */
export type ToldSpan = ReturnType<typeof requestSpan>

/**
 * The span of one generation request, by the OpenTelemetry conventions for generative AI
 * (open-telemetry/semantic-conventions-genai, November 2026; their status is "development") and with what Foldgate did
 * under `foldgate.`. It covers all attempts, from the body's arrival until the end of the answer.
 */
export function requestSpan(report: RequestReport, end: RequestEnd, server: ModelServer | null) {
  const { row, isSentBound, compactions } = report
  const { outcome } = end
  const { action, reason, status, dialect } = row
  const provider = providerOf(server, dialect)
  const startedAtMs = Date.parse(row.time)
  const endedAtMs = startedAtMs + Math.max(end.totalMs, 0)
  // The code of Foldgate's own refusal, or a status. A client that leaves does as it likes: that is no error.
  const refused = status !== null && status >= 400 ? String(status) : null
  const refusal = action === 'refused' ? (reason ?? refused) : refused
  const errorType = refusal ?? (outcome === 'broken-off' ? outcome : null)
  const call = { ...row, usage: end.usage, server, provider, errorType, outcome }
  return {
    name: chatName(row.model),
    startedAtMs,
    endedAtMs,
    /** What kind of failure it was, as a word; null if it was none. */
    errorType,
    attributes: callAttributes(call, {
      // Which of its APIs, in the conventions' own words.
      'openai.api.type': provider === 'openai' ? (dialect?.replaceAll('-', '_') ?? null) : null,
      // The conventions want it left out if it is not so. The same holds for `compacted`.
      'gen_ai.request.stream': row.streamed ? true : null,
      'gen_ai.conversation.compacted': row.passes.length > 0 ? true : null,
      'gen_ai.response.model': end.answeredBy,
      'http.response.status_code': status,
      'foldgate.action': action,
      'foldgate.reason': reason,
      'foldgate.profile': row.profile,
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
      'foldgate.reasoning.removed': removedByFoldgate(report, end) || null,
      'foldgate.added_ms': row.added_ms,
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
  server: ModelServer | null,
): ToldSpan {
  const { endedAtMs } = call
  const outcome = written.kind === 'written' ? 'written' : written.reason
  // One that was broken off, say because the conversation was deleted, is nobody's error.
  const errorType = outcome === 'written' || outcome === 'cancelled' ? null : outcome
  const provider = server?.provider ?? 'openai'
  const told = { ...call, attempts: written.calls, usage: written, server, provider, errorType, outcome }
  return {
    name: chatName(call.model),
    startedAtMs: endedAtMs - Math.max(0, call.milliseconds),
    endedAtMs,
    errorType,
    events: [],
    attributes: callAttributes(told, {
      'foldgate.purpose': 'summary',
      'foldgate.tokens.written': written.kind === 'written' ? written.tokens : null,
    }),
  }
}

/** The server behind an upstream's address, in the words of the GenAI conventions. */
export type ModelServer = ReturnType<typeof modelServer>

/** The server at an upstream's `http:` or `https:` address. */
export function modelServer(url: string) {
  const { hostname, protocol, port } = new URL(url)
  const [provider] = providers.find(([, pattern]) => pattern.test(hostname)) ?? ['openai']
  const defaultPort = protocol === 'https:' ? 443 : 80
  // An IPv6 address stands in brackets in a URL only.
  const address = hostname.replace(/^\[(.*)\]$/, '$1')
  return { provider, address, port: port === '' ? defaultPort : Number(port) }
}

/**
 * @internal exported for tests. The well-known values of `gen_ai.provider.name` (November 2026) by host. All others are
 * `openai`: the attribute says which provider's format is spoken, and `server.address` whose server it is.
 */
export const providers: readonly (readonly [provider: string, pattern: RegExp, sample: string])[] = [
  ['anthropic', /(?:^|\.)anthropic\.com$/, 'api.anthropic.com'],
  [
    'aws.bedrock',
    /^bedrock[\w-]*\.[\w-]+\.(?:amazonaws\.com|api\.aws)$/,
    'bedrock-runtime.us-east-1.amazonaws.com',
  ],
  ['azure.ai.inference', /\.(?:models|inference)\.ai\.azure\.\w+$/, 'm.eastus.models.ai.azure.com'],
  ['azure.ai.openai', /\.(?:openai|cognitiveservices|services\.ai)\.azure\.\w+$/, 'mine.openai.azure.com'],
  ['cohere', /(?:^|\.)cohere\.(?:ai|com)$/, 'api.cohere.ai'],
  ['deepseek', /(?:^|\.)deepseek\.com$/, 'api.deepseek.com'],
  ['gcp.gemini', /(?:^|\.)generativelanguage\.googleapis\.com$/, 'generativelanguage.googleapis.com'],
  ['gcp.vertex_ai', /(?:^|[.-])aiplatform\.googleapis\.com$/, 'us-central1-aiplatform.googleapis.com'],
  ['groq', /(?:^|\.)groq\.com$/, 'api.groq.com'],
  ['ibm.watsonx.ai', /(?:^|\.)ml\.cloud\.ibm\.com$/, 'us-south.ml.cloud.ibm.com'],
  ['mistral_ai', /(?:^|\.)mistral\.ai$/, 'api.mistral.ai'],
  ['moonshot_ai', /(?:^|\.)moonshot\.(?:ai|cn)$/, 'api.moonshot.ai'],
  ['perplexity', /(?:^|\.)perplexity\.ai$/, 'api.perplexity.ai'],
  ['x_ai', /(?:^|\.)x\.ai$/, 'api.x.ai'],
]

// --- internal ---

/** A call to a model, or several that are told as one. */
type ModelCall = {
  readonly model: string
  readonly provider: string
  /**
   * What answers name in x-foldgate-conversation: it stays while the conversation grows, and is no mere digest of a
   * request, which the conventions rule out.
   */
  readonly conversation: string | null
  readonly upstream: string | null
  readonly attempts: number
  readonly usage: RequestEnd['usage']
  readonly server: ModelServer | null
  readonly errorType: string | null
  readonly outcome: string
}

/** What is told of every call, and more; without what is not known. */
function callAttributes(
  { model, provider, conversation, upstream, attempts, usage, server, errorType, outcome }: ModelCall,
  more: Readonly<Record<string, Attribute | null>>,
): Attributes {
  const told: Readonly<Record<string, Attribute | null>> = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': provider,
    'gen_ai.request.model': model === '' ? null : model,
    'gen_ai.conversation.id': conversation,
    'gen_ai.usage.input_tokens': usage?.promptTokens ?? null,
    'gen_ai.usage.output_tokens': usage?.completionTokens ?? null,
    'gen_ai.usage.cache_read.input_tokens': usage?.cachedTokens ?? null,
    'gen_ai.usage.cache_creation.input_tokens': usage?.cacheWrittenTokens ?? null,
    'server.address': server?.address ?? null,
    'server.port': server?.port ?? null,
    'error.type': errorType,
    'foldgate.upstream': upstream,
    'foldgate.attempts': attempts,
    'foldgate.outcome': outcome,
    ...more,
  }
  const attributes: Record<string, Attribute> = {}
  for (const [name, value] of Object.entries(told)) if (value !== null) attributes[name] = value
  return attributes
}

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
