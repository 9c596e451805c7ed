import { ChatError, type ChatCall, type ChatMessage, type ChatUsage } from './chat-client.ts'

/** The parts of a streamed chunk that the demo reads. */
export type AnswerChunk = {
  readonly choices?: readonly {
    readonly delta?: {
      readonly content?: string | null
      readonly reasoning_content?: string | null
      readonly tool_calls?: readonly {
        readonly index: number
        readonly id?: string
        readonly extra_content?: unknown
        readonly function?: { readonly name?: string; readonly arguments?: string }
      }[]
    }
    readonly finish_reason?: string | null
  }[]
  readonly usage?: {
    readonly prompt_tokens: number
    readonly completion_tokens: number
    readonly prompt_tokens_details?: { readonly cached_tokens?: number | null } | null
  } | null
}

/**
 * Puts the pieces of a streamed answer together. Reasoning, and what a provider adds to a call, goes back with the
 * message: some refuse the next request without it. Throws `ChatError` when the answer breaks off.
 */
export async function joinAnswer(
  chunks: AsyncIterable<AnswerChunk>,
): Promise<{ message: ChatMessage & { role: 'assistant' }; usage: ChatUsage | null }> {
  let content = ''
  let reasoning = ''
  let isFinished = false
  const calls: ChatCall[] = []
  let usage: ChatUsage | null = null
  for await (const chunk of chunks) {
    const choice = chunk.choices?.[0]
    const delta = choice?.delta
    isFinished ||= typeof choice?.finish_reason === 'string'
    content += delta?.content ?? ''
    reasoning += delta?.reasoning_content ?? ''
    for (const piece of delta?.tool_calls ?? []) {
      const call = (calls[piece.index] ??= {
        id: '',
        type: 'function',
        function: { name: '', arguments: '' },
      })
      call.id ||= piece.id ?? ''
      if (piece.extra_content !== undefined) call.extra_content = piece.extra_content
      call.function.name += piece.function?.name ?? ''
      call.function.arguments += piece.function?.arguments ?? ''
    }
    if (chunk.usage) {
      usage = {
        promptTokens: chunk.usage.prompt_tokens,
        cachedTokens: chunk.usage.prompt_tokens_details?.cached_tokens ?? 0,
        completionTokens: chunk.usage.completion_tokens,
      }
    }
  }
  if (!isFinished) throw new ChatError('The answer broke off before its end.', 200, null)
  const made = calls.filter((call) => call !== undefined)
  const message = {
    role: 'assistant' as const,
    content: content === '' && made.length > 0 ? null : content,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(made.length > 0 && { tool_calls: made }),
  }
  return { message, usage }
}
