/** A message as the demo's clients send it. */
export type ChatMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: string }
  | { role: 'assistant'; content: string | null; tool_calls?: ChatCall[]; reasoning_content?: string }
  | { role: 'tool'; tool_call_id: string; content: string }

export type ChatCall = {
  id: string
  type: 'function'
  function: { name: string; arguments: string }
  extra_content?: unknown
}

export type ChatTool = {
  type: 'function'
  function: { name: string; description: string; parameters: Record<string, unknown> }
}

export type ChatRequest = {
  readonly model: string
  readonly messages: readonly ChatMessage[]
  readonly tools?: readonly ChatTool[]
  readonly metadata?: Record<string, string>
  /** Limit of the reply; none where it is not given. */
  readonly outputTokensMax?: number
  /** Whether the stream is asked for its usage; some old servers refuse the field. */
  readonly usageAsked: boolean
}

export type ChatAnswer = {
  readonly message: ChatMessage & { role: 'assistant' }
  readonly usage: ChatUsage | null
  readonly header: (name: string) => string | null
}

export type ChatUsage = {
  readonly promptTokens: number
  readonly cachedTokens: number
  readonly completionTokens: number
}

/** Sends chat completions, always streamed, each once. A failure throws `ChatError`. */
export type ChatClient = {
  /** What it is, for a line of the demo. */
  readonly name: string
  send(request: ChatRequest): Promise<ChatAnswer>
}

/** How to reach a server. */
export type ChatTarget = { readonly url: string; readonly apiKey: string }

/** A request that failed: the server's own words, or why it was not reached. */
export class ChatError extends Error {
  override readonly name = 'ChatError'
  /** null where there was no answer. */
  readonly status: number | null
  readonly code: string | null

  constructor(message: string, status: number | null, code: string | null, cause?: unknown) {
    super(message, { cause })
    this.status = status
    this.code = code
  }
}

/** The body of a request. */
export function requestBody(request: ChatRequest) {
  return {
    model: request.model,
    messages: [...request.messages],
    stream: true as const,
    ...(request.tools && { tools: [...request.tools] }),
    ...(request.metadata && { metadata: request.metadata }),
    ...(request.outputTokensMax !== undefined && { max_tokens: request.outputTokensMax }),
    ...(request.usageAsked && { stream_options: { include_usage: true } }),
  }
}
