/** How a dialect writes what the demo's client and its server say to each other. */
export type Wire = {
  /** Behind the base URL. */
  readonly path: string
  /** What says whose request it is. */
  readonly headers: (apiKey: string) => Readonly<Record<string, string>>
  readonly request: (request: ChatRequest) => object
  /** Undefined where a body holds no answer. */
  readonly answer: (body: unknown) => WireAnswer | undefined
  /** What the demo's server received. Throws where it is none of the demo's requests. */
  readonly received: (body: unknown) => ReceivedRequest
  readonly reply: (
    message: AssistantMessage,
    usage: Record<'promptTokens' | 'cachedTokens' | 'outputTokens', number>,
  ) => object
  readonly refusal: (refused: Refused) => object
}

export type WireAnswer = Omit<ChatAnswer, 'header'>

/** What a model said and called, as an answer. */
export function wireAnswer(
  said: readonly string[],
  calls: readonly (ChatCall['function'] & { readonly id: string })[],
  usage: ChatAnswer['usage'],
): WireAnswer {
  return {
    message: {
      role: 'assistant',
      content: said.length === 0 ? null : said.join('\n'),
      ...(calls.length > 0 && {
        tool_calls: calls.map(({ id, ...called }) => ({ id, type: 'function', function: called })),
      }),
    },
    usage,
  }
}

export type ReceivedRequest = {
  /** In their order: the system prompt, messages, or items. */
  readonly parts: readonly {
    readonly json: string
    readonly text: string
    readonly calls: readonly ChatCall['function'][]
    /** Whether it stays when others are cut. Default: only the last one does. */
    readonly isKept?: boolean
  }[]
  readonly tools: readonly unknown[]
  readonly outputTokens: number
  readonly step: string
  /** Whether the oldest are cut without a word from what does not fit. Default: it is refused. */
  readonly mayCut?: boolean
}

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
