import type { Dialect } from '../../formats/contract.ts'

/** How a dialect writes what the demo's client and its server say to each other. */
export type Wire = {
  /** What says whose request it is. */
  readonly headers: (apiKey: string) => Readonly<Record<string, string>>
  readonly request: (request: ChatRequest) => object
  readonly reply: (
    message: AssistantMessage,
    usage: Record<'promptTokens' | 'cachedTokens' | 'outputTokens', number>,
  ) => object
  readonly refusal: (refused: Refused) => object
}

/** The same with the dialect itself, which reads what was written. */
export type SpokenDialect = Wire & { readonly dialect: Dialect }

/** What an overlong request would have taken. */
export type Refused = {
  readonly windowTokens: number
  readonly historyTokens: number
  readonly toolsTokens: number
  readonly outputTokens: number
}

/** A message as the demo's client sends it. */
export type ChatMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: string }
  | AssistantMessage
  | { role: 'tool'; tool_call_id: string; content: string }

export type AssistantMessage = { role: 'assistant'; content: string | null; tool_calls?: readonly ChatCall[] }

export type ChatCall = {
  readonly id: string
  readonly type: 'function'
  readonly function: { readonly name: string; readonly arguments: string }
}

export type ChatTool = {
  readonly type: 'function'
  readonly function: { name: string; description: string; parameters: Record<string, unknown> }
}

/** The parts of a request body that differ between the demo's requests. */
export type ChatRequest = {
  readonly model: string
  readonly messages: readonly ChatMessage[]
  readonly tools?: readonly ChatTool[]
  readonly metadata?: Record<string, string>
  readonly max_tokens?: number
}

export type ChatAnswer = {
  readonly message: AssistantMessage
  readonly usage: { readonly promptTokens: number; readonly cachedTokens: number } | null
  readonly header: (name: string) => string | null
}
