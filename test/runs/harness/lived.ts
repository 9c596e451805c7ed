import type { RawMessage, Recording } from './recordings.ts'
import type { Exchange } from './stage.ts'
import type { RequestBody } from './subject.ts'

export const dialects = ['chat-completions', 'responses', 'messages', 'ollama'] as const

/** In which API recordings are sent. Where the upstream names or signs what it says, conversations are lived. */
export type RunDialect = (typeof dialects)[number]
export type LivedDialect = Exclude<RunDialect, 'chat-completions' | 'ollama'>

/** An item, a block or a message of a client's history. */
export type LivedEntry = {
  /** Its JSON, the same in every request. */
  readonly text: string
  /** The step of the reply that it came with; null if the client said it or was only told it. */
  readonly reply: number | null
}

/** What the checks want to know of an entry. */
export type ReadEntry = {
  /** What its operator told the model, what a user said, what the model thought; anything else. */
  readonly kind: 'told' | 'user' | 'thought' | 'other'
  /** What shortening it leaves as it is. */
  readonly identity: string
  /** Whether it is a recap or a summary. */
  readonly isRecap: boolean
  /** Its text without what goes with its thoughts (P1's one exception). */
  readonly unnamed: string
  /** By the judge's count. */
  readonly tokens: number
}

export type EntryReader = (text: string) => ReadEntry

/** What an upstream received, in terms that all APIs share. */
export type LivedReceived = {
  readonly body: Buffer
  readonly promptTokens: number
  readonly cachedTokens: number
  readonly rejected: { readonly reason: string; readonly message: string } | null
  /** The raw JSON of what stands in the list of the body. */
  readonly rawParts: readonly string[]
  /** The same by entries. */
  readonly rawEntries: readonly string[]
  /** The names of the thoughts that the model was shown. */
  readonly thoughts: readonly string[]
  /** How many it was not shown, since they were made on something else. */
  readonly deadThoughts: number
}

/** A Foldgate between clients of an API and its strict upstream, which answers each request as the recording says. */
export type LivedStage = {
  readonly openChat: (recording: Recording, options: LivedChatOptions) => LivedChat
  /** The lines by which Foldgate said that a part of it failed. */
  readonly failures: () => readonly string[]
  readonly close: () => Promise<void>
}

export type LivedStageOptions = {
  /** Foldgate's, as its file would say it. */
  readonly profile: object
  readonly windowTokens: number
  readonly statesUsage: boolean
  /** Whether a prompt over the window is refused in the shape that is hardest to recognise. */
  readonly refusesOddly?: boolean
  /** Whether broken sequences are refused. */
  readonly rules: 'enforced' | 'unchecked'
  readonly count: (text: string) => number
}

export type LivedChatOptions = {
  /** Those of the recording, or what was made of them. */
  readonly messages: readonly RawMessage[]
  /** Which of the ways of clients this one has, by its number, with spellings that re-serialising loses; null: an agent's. */
  readonly manner: number | null
  /** How much the model thinks before each reply. */
  readonly thoughtTokens?: number
  readonly outputTokens: number
}

/** A recorded chat as a client lives it: the upstream issues ids and signed thoughts, and the client sends them back. */
export type LivedChat = {
  /** Tokens of what stands around the entries, by the judge's count. */
  readonly aroundTokens: number
  readonly readEntry: EntryReader
  /** The names of the thoughts in an answer. */
  readonly thoughtsIn: (answer: string) => readonly string[]
  /** All that was said before a step; each message of the chat is one. A reply that was not asked for is told. */
  readonly before: (step: number) => readonly LivedEntry[]
  /** Makes the request whose entries were asked for last, and takes its reply into all later ones. */
  readonly ask: (step: number, isStreamed: boolean, authorization: string) => Promise<LivedAnswer>
}

export type LivedAnswer = {
  readonly body: RequestBody
  /** What stands in the list of the body, without marks. */
  readonly parts: readonly string[]
  readonly exchange: Exchange<LivedReceived>
}
