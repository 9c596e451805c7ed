import type { PlacedSpan } from '../json/body-spans.ts'
import type { SkippedText } from '../json/skipped-text.ts'

/** How long a provider keeps what a mark for its prompt cache has it keep. */
export type CacheTtl = '5m' | '1h'

/** Who speaks. `tool` is whoever brings the result of a call; a role that we do not know is `other`. */
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
  /** Names its bytes within its scope and dialect. */
  readonly hash: string
  /** Who speaks. */
  readonly role: Role
  /** Whether a request was made before it: it is the model's word, and unless it is bound to the message before it the first. */
  readonly opensReply: boolean
  /** Whether it belongs to the message behind it, if that is the model's too: a thought to the call that it led to. */
  readonly joinsNext: boolean
  /** Whether it belongs to whatever stands before it; left out if not. */
  readonly joinsPrevious?: boolean
  /** Whether what stands before it is gone: the server has compacted it into this. Left out if not. */
  readonly startsHistory?: boolean
  /**
   * What of it only holds for the very conversation that it was made in (P5). `whole`: all of it is thoughts that are bound to
   * what stood before them; `part`: it holds such; `follows`: it has a name by which the server demands the thoughts before it
   * in its reply; `demands`: it has one that it cannot do without. Left out if nothing does.
   */
  readonly bound?: 'whole' | 'part' | 'follows' | 'demands'
  /**
   * Whether it holds for all that follows, and has to be there though what it stood among is folded: `each` of its kind,
   * `each-with-call`, which may be any that it answers, or only the `last` one. Left out if it need not.
   */
  readonly survives?: 'each' | 'each-with-call' | 'last'
  /** The marks for a provider's prompt cache that stand in it, by how long what they mark is kept; left out if there are none. */
  readonly cacheMarks?: readonly CacheTtl[]
  /** What people call it, if it is nobody's words, call or result: `reasoning`, for example. Left out otherwise. */
  readonly kind?: string
  /** Length of the message's raw bytes. */
  readonly bytes: number
  /** Elements of arrays and members of objects in it. */
  readonly elements: number
  /** Ids of the calls in their order, '' if a call has none. */
  readonly callIds: readonly string[]
  /** Names of the called functions, in the same order, '' if a call has none. */
  readonly callNames: readonly string[]
  /** Whether it carries an empty list of calls, which OpenAI refuses. */
  readonly emptyCalls: boolean
  /** The ids of the calls whose results it holds, '' if a result names none. */
  readonly answers: readonly string[]
  /**
   * Ids by which it belongs to what names them as well, wherever that stands: the calls of a server's own tools and their
   * results, calls that a program makes, whatever is of an unknown type. Left out if there are none.
   */
  readonly sharedIds?: readonly string[]
  /** Ids that it names and does not have: of what has them, if anything before it does. Left out if there are none. */
  readonly namedIds?: readonly string[]
  /** Names of tools that it puts into force or, behind a `-`, takes out of it. Left out if there are none. */
  readonly toolNames?: readonly string[]
  /** Whether it is a result that says nothing but that an earlier one holds still. Left out if not. */
  readonly refersBack?: boolean
  /** How it is known that it is the result of a failure: it is stated beside it, or its words say so. Left out if it is not. */
  readonly failed?: 'stated' | 'worded'
  /** Whether somebody asks in it for a passage to be kept word for word. Left out if not. */
  readonly keeps?: boolean
  /** The message's own `name`; null if it has none. */
  readonly name: string | null
  /** Characters of names that are too long to be kept; left out if there are none. */
  readonly uncountedCharacters?: number
  readonly media: readonly Media[]
  /**
   * What is left out where a very long message is read, relative to its first byte, and whether it is text that counts;
   * left out if all is read.
   */
  readonly skipped?: readonly (SkippedText & { readonly isText: boolean })[]
  /** Digest of the message's meaning: see `prefix-keys.ts`. */
  readonly meaning: string
}

/** A message of a conversation: its facts, and where its bytes stand in the body. */
export type Message = PlacedSpan & { readonly facts: MessageFacts }

/** A message parsed, for the passes that have to read it. Held only while they do. */
export type ParsedMessage = {
  /** What it says: its texts and results, joined by a newline; '' if it says nothing. */
  readonly text: string
  readonly calls: readonly {
    readonly id: string
    readonly name: string
    readonly argumentsText: string
  }[]
  /** Texts beside content and calls that count: thoughts sent back, a refusal, content of an unknown shape. They are no part of the meaning. */
  readonly uncut: string
  /** Of these, what was said in the place of an answer: a refusal, or content of an unknown shape. */
  readonly besides: string
  /** Characters of encrypted thoughts and of signatures, which are no text to count. */
  readonly opaqueCharacters: number
}

/** What a message's media are, in a few words that stand for them where they cannot: the first of them each, of the rest how many. */
export function mediaMarks(media: readonly Media[]): string {
  const marks = media.slice(0, MARKS_MAX).map(mediaMark)
  if (media.length > MARKS_MAX) marks.push(`[and ${media.length - MARKS_MAX} more]`)
  return marks.join(' ')
}

// --- internal ---

const MARKS_MAX = 8

function mediaMark({ kind, widthPixels, heightPixels, seconds }: Media): string {
  const isSized = widthPixels > 0 && heightPixels > 0
  if (isSized) return `[${kind} ${widthPixels}x${heightPixels}]`
  return seconds === undefined
    ? `[${kind === 'other' ? 'other content' : kind}]`
    : `[${kind} ${Math.round(seconds)}s]`
}
