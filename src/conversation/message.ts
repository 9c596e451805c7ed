import type { Span } from './source.ts'
import type { Unread } from './unread.ts'

/** `function` (the legacy name) is read as `tool`; any role we do not know is `other`. */
export type Role = 'system' | 'developer' | 'user' | 'assistant' | 'tool' | 'other'

/**
 * A part of a message that is no text. `data` is not kept: images are known by digest and size.
 * Sizes in pixels are read from the header of inline data, 0 where unknown.
 */
export type Media = {
  readonly kind: 'image' | 'audio' | 'file' | 'video' | 'other'
  /**
   * `inline`: base64 in the body; `remote`: an address; `reference`: an id known to the upstream; `beside`: an
   * id in a field of its own, which stays whatever becomes of the content.
   */
  readonly place: 'inline' | 'remote' | 'reference' | 'beside'
  readonly detail: 'low' | 'high' | 'auto' | 'original'
  readonly widthPixels: number
  readonly heightPixels: number
  /** Length of the inline data after base64 decoding, in bytes; of a part of an unknown type, of its JSON. 0 where it is not inline. */
  readonly dataBytes: number
  /** How long inline sound plays, from its header; left out where that could not be read. */
  readonly seconds?: number
  /** Whether a file holds text, which costs what text costs, and has no pages. */
  readonly isText?: boolean
  /** Digest of the data or the address: equal media have equal digests. */
  readonly digest: string
}

/**
 * What is kept of a message that was seen once, found again by the hash of its raw bytes. It holds no
 * content, so that a cache of facts stays small beside the conversations it describes.
 */
export type MessageFacts = {
  /** Names its bytes within its scope. */
  readonly hash: string
  readonly role: Role
  /** Length of the message's raw bytes. */
  readonly bytes: number
  /** Elements of arrays and members of objects in it. */
  readonly elements: number
  /** Ids of the tool calls in their order, '' where a call has none. A legacy `function_call` is one call. */
  readonly callIds: readonly string[]
  /** Names of the called functions, in the same order, '' where a call has none. */
  readonly callNames: readonly string[]
  /** Whether an assistant message carries an empty `tool_calls` list, which OpenAI refuses. */
  readonly emptyCalls?: boolean
  /** `tool_call_id` of a tool message; null elsewhere and where it is missing. */
  readonly answersId: string | null
  /** The message's own `name`; null where it has none. */
  readonly name: string | null
  /** Characters of names that are too long to be kept; left out where there are none. */
  readonly uncountedCharacters?: number
  /** Where the value of `content` stands, relative to the message's first byte; null where there is none. */
  readonly content: (Span & { readonly kind: 'string' | 'parts' | 'null' | 'other' }) | null
  readonly media: readonly Media[]
  /**
   * What is left out where a very long message is read, relative to its first byte, and whether it is text that counts;
   * left out where all is read.
   */
  readonly unread?: readonly (Unread & { readonly isText: boolean })[]
  /** Digest of the message's meaning: see `keys.ts`. */
  readonly meaning: string
}

/** A message of a conversation: its facts, and where its bytes stand in the body. */
export type Message = Span & { readonly facts: MessageFacts }

/** A message parsed, for the passes that have to read it. Held only while they do. */
export type ParsedMessage = {
  /** The text of `content`: the string itself, or its text parts joined by a newline; '' where there is none. */
  readonly text: string
  readonly calls: readonly {
    readonly id: string
    readonly name: string
    readonly argumentsText: string
    /** How it was written: with `arguments` in `function`, with `input` in `custom`, or as a `function_call`. */
    readonly form: 'function' | 'custom' | 'legacy'
  }[]
  /** Texts beside content and calls that count: thoughts sent back, a refusal, content of an unknown shape. They are no part of the meaning. */
  readonly uncut: string
  /** Characters of encrypted thoughts and of signatures, which are no text to count. */
  readonly opaqueCharacters: number
}
