import { sealedTokens } from '../strict-upstream/sealed-text.ts'
import type { RemovalReason } from './seals.ts'
import type { ScriptedEnd } from './script.ts'
import { partsOf, type WireItem } from './wire-item.ts'
import { textOf } from '../strict-upstream/wire-message.ts'

/** Null where the server states none. */
export type ResponsesUsage = {
  readonly promptTokens: number
  readonly cachedTokens: number
  readonly outputTokens: number
  readonly reasoningTokens: number
} | null

/** A reply with everything that stands in its body and events. */
export type WrittenReply = {
  readonly id: string
  readonly createdS: number
  /** Of the request, some of which is repeated. */
  readonly body: WireItem
  readonly output: readonly WireItem[]
  readonly end: ScriptedEnd
  readonly usage: ResponsesUsage
  readonly removed: readonly RemovedReasoning[]
}

/** Reasoning of the request that was left out of the prompt. */
export type RemovedReasoning = { readonly id: string; readonly reason: RemovalReason }

/** A reply as the object that bodies and events hold. */
export function responseOf(reply: WrittenReply, status: ScriptedEnd['status'] | 'in_progress') {
  const { body, end, usage, removed } = reply
  const isEnded = status !== 'in_progress'
  const failure = isEnded && end.status === 'failed' ? { code: end.code, message: end.message } : null
  return {
    id: reply.id,
    object: 'response',
    created_at: reply.createdS,
    status,
    background: false,
    error: failure,
    incomplete_details: isEnded && end.status === 'incomplete' ? { reason: end.reason } : null,
    instructions: body['instructions'] ?? null,
    ...(isEnded && removed.length > 0 && { input_transformations: removed.map(transformation) }),
    max_output_tokens: body['max_output_tokens'] ?? null,
    model: body['model'],
    output: isEnded ? reply.output : [],
    parallel_tool_calls: true,
    previous_response_id: body['previous_response_id'] ?? null,
    prompt_cache_key: body['prompt_cache_key'] ?? null,
    reasoning: { effort: null, summary: null },
    store: body['store'] !== false,
    temperature: 1,
    text: body['text'] ?? { format: { type: 'text' } },
    tool_choice: body['tool_choice'] ?? 'auto',
    tools: body['tools'] ?? [],
    top_p: 1,
    truncation: 'disabled',
    usage: isEnded && failure === null && usage !== null ? usageBody(usage) : null,
    user: null,
    metadata: {},
  }
}

/** Tokens of what a model has written, thoughts included. */
export function outputTokensOf(output: readonly WireItem[], count: (text: string) => number) {
  const reasoningTokens = output.reduce(
    (sum, item) => sum + sealedTokens(textOf(item['encrypted_content'])),
    0,
  )
  const texts = output.flatMap((item) => [
    ...partsOf(item['content'], 'output_text').map((part) => textOf(part['text'])),
    `${textOf(item['name'])}${textOf(item['arguments'] ?? item['input'])}`,
  ])
  return { reasoningTokens, outputTokens: texts.reduce((sum, text) => sum + count(text), reasoningTokens) }
}

/** As a body states it. */
export function usageBody(usage: NonNullable<ResponsesUsage>) {
  const { promptTokens, cachedTokens, outputTokens, reasoningTokens } = usage
  return {
    input_tokens: promptTokens,
    input_tokens_details: { cached_tokens: cachedTokens, cache_write_tokens: 0 },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: promptTokens + outputTokens,
  }
}

// --- internal ---

function transformation({ id, reason }: RemovedReasoning) {
  return { type: 'reasoning', id, action: 'removed', reason }
}
