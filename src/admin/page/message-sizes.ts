import type { ConversationDetail } from '../../activity/conversations/conversations.ts'
import type { ShownMessage } from '../../activity/conversations/held-content.ts'
import type { PartSize } from '../../activity/request-report.ts'

/** Messages and what stands around them, each with tokens as far as these can be told. */
export type SizedRequest = {
  readonly messages: readonly ShownMessage[]
  readonly toolsTokens: number | null
  readonly systemTokens: number | null
  /** Whether tokens are the provider's count, shared out by bytes, since Foldgate had no need to count. */
  readonly isEstimate: boolean
}

/** The sizes of the latest request. */
export function sizedRequest(
  messages: readonly ShownMessage[],
  { around, rows }: Pick<ConversationDetail, 'around' | 'rows'>,
): SizedRequest {
  const tools = around?.tools ?? nothing
  const system = around?.system ?? nothing
  const counted = { messages, toolsTokens: tools.tokens, systemTokens: system.tokens, isEstimate: false }
  const promptTokens = rows.at(-1)?.prompt_tokens ?? null
  const isCounted = messages.some(({ receivedTokens }) => receivedTokens !== null)
  const bytes = tools.bytes + system.bytes + messages.reduce((sum, message) => sum + message.bytes, 0)
  if (isCounted || promptTokens === null || bytes === 0) return counted
  const share = (part: number): number => Math.round((part / bytes) * promptTokens)
  return {
    messages: messages.map((message) => ({
      ...message,
      receivedTokens: share(message.bytes),
      sentTokens: share(message.bytes),
    })),
    toolsTokens: share(tools.bytes),
    systemTokens: share(system.bytes),
    isEstimate: true,
  }
}

// --- internal ---

const nothing: PartSize = { tokens: null, bytes: 0 }
