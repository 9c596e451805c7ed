import type { AssistantMessage, ChatAnswer, ChatCall, ChatRequest } from './chat.ts'

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
  readonly reply: (message: AssistantMessage, usage: WireUsage) => object
  readonly refusal: (refused: Refused) => object
}

export type WireAnswer = Omit<ChatAnswer, 'header'>

export type ReceivedRequest = {
  /** In their order: the system prompt, messages, or items. */
  readonly parts: readonly ReceivedPart[]
  readonly tools: readonly unknown[]
  readonly outputTokens: number
  readonly step: string
}

export type ReceivedPart = {
  readonly json: string
  readonly text: string
  readonly calls: readonly ChatCall['function'][]
}

export type WireUsage = {
  readonly promptTokens: number
  readonly cachedTokens: number
  readonly outputTokens: number
}

/** What an overlong request would have taken. */
export type Refused = {
  readonly windowTokens: number
  readonly historyTokens: number
  readonly toolsTokens: number
  readonly outputTokens: number
}
