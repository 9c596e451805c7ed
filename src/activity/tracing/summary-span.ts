import type { Written } from '../../summaries/write-summary.ts'
import type { ModelServer } from './model-server.ts'
import { chatName, known, type ToldSpan } from './told-span.ts'

/** For what and when a summary was asked. */
export type SummaryCall = {
  /** The conversation's id. */
  readonly conversation: string
  /** The model's name; '' where it is not known. */
  readonly model: string
  /** The upstream's name; null where it is not known. */
  readonly upstream: string | null
  readonly startedAtMs: number
  readonly endedAtMs: number
}

/** The span of a summary: one for all calls that it took, with what they cost together and not a word of the text. */
export function summarySpan(call: SummaryCall, written: Written, server: ModelServer | null): ToldSpan {
  // One that was broken off, say because the conversation was deleted, is nobody's error.
  const isFailure = written.kind === 'failed' && written.reason !== 'cancelled'
  const errorType = isFailure ? written.reason : null
  return {
    name: chatName(call.model),
    startedAtMs: call.startedAtMs,
    endedAtMs: Math.max(call.endedAtMs, call.startedAtMs),
    errorType,
    events: [],
    attributes: known({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': server?.provider ?? 'openai',
      'gen_ai.request.model': call.model === '' ? null : call.model,
      'gen_ai.usage.input_tokens': written.promptTokens,
      'gen_ai.usage.output_tokens': written.completionTokens,
      'gen_ai.usage.cache_read.input_tokens': written.cachedTokens,
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
