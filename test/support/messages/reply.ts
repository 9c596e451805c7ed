import type { Transformation } from './judgement.ts'
import type { CacheUse } from './mark-cache.ts'
import type { WireBlock } from './wire-block.ts'

/** Null where the server states none. */
export type MessagesUsage = {
  readonly promptTokens: number
  /** Null where the server says nothing of a cache. */
  readonly cache: CacheUse | null
  readonly outputTokens: number
} | null

/** A reply with everything that stands in its body and events. */
export type WrittenReply = {
  readonly id: string
  /** Of the request, some of which decides what is told. */
  readonly body: WireBlock
  readonly content: readonly WireBlock[]
  readonly stopReason: string
  readonly usage: MessagesUsage
  readonly transformations: readonly Transformation[]
}

/** A reply as the message that bodies and events hold: with its blocks, or as it begins. */
export function messageOf(reply: WrittenReply, state: 'begun' | 'whole') {
  const { id, body, content, usage, transformations, stopReason } = reply
  const isWhole = state === 'whole'
  return {
    id,
    type: 'message',
    role: 'assistant',
    model: body['model'],
    content: isWhole ? content : [],
    stop_reason: isWhole ? stopReason : null,
    stop_sequence: null,
    ...(usage !== null && { usage: usageBody(isWhole ? usage : { ...usage, outputTokens: 1 }) }),
    ...(transformations.length > 0 && { input_transformations: transformations }),
    ...(isWhole && contextManagementOf(reply)),
  }
}

/** What the server did to the history itself: nothing. It says so where it was asked. */
export function contextManagementOf({ body }: WrittenReply) {
  return body['context_management'] === undefined ? {} : { context_management: { applied_edits: [] } }
}

/** As a body states it. */
export function usageBody({ promptTokens, cache, outputTokens }: NonNullable<MessagesUsage>) {
  if (cache === null) return { input_tokens: promptTokens, output_tokens: outputTokens }
  const { read, written } = cache
  const created = written['5m'] + written['1h']
  return {
    input_tokens: promptTokens - read - created,
    cache_creation_input_tokens: created,
    cache_read_input_tokens: read,
    cache_creation: {
      ephemeral_5m_input_tokens: written['5m'],
      ephemeral_1h_input_tokens: written['1h'],
    },
    output_tokens: outputTokens,
    service_tier: 'standard',
  }
}
