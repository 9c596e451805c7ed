import { isJsonObject } from '../../json/json-value.ts'
import type { Media, MessageFacts } from '../../conversation/message.ts'
import type { Digest, Pausable } from '../../json/source.ts'
import { readMedia } from '../media/media.ts'

/** A piece of a message's content, told apart by what may be done with it. */
export type ContentPart =
  | { readonly kind: 'text'; readonly text: string }
  /** Thoughts that some servers want back among the parts. They belong to no meaning key and are never dropped. */
  | { readonly kind: 'reasoning'; readonly part: unknown }
  | { readonly kind: 'media'; readonly part: unknown }

const textTypes: ReadonlySet<unknown> = new Set(['text', 'input_text', 'output_text', undefined])
const reasoningTypes: ReadonlySet<unknown> = new Set(['thinking', 'redacted_thinking', 'reasoning'])

/** A text of JSON, with its quotes, as a part among others, in the form that a dialect's users write. */
export type TextPart = (text: string) => string

/** The pieces of a parsed `content`, whatever its shape. A content that is neither text nor list has none. */
export function contentParts(content: unknown): readonly ContentPart[] {
  if (typeof content === 'string') return [{ kind: 'text', text: content }]
  return Array.isArray(content) ? content.map(readPart) : []
}

/** What an entry says: its texts and media in their order, and the media once more. */
export type Said = {
  readonly content: { readonly kind: string; readonly text: string }[]
  readonly media: Media[]
}

/** Adds what a content says, with pauses; false where a part of it cannot be told. Thoughts are not said. */
export function* addSaid(
  { content, media }: Said,
  parts: readonly ContentPart[],
  digest: Digest,
  unreadBytes: (text: string) => number,
): Pausable<boolean> {
  for (const part of parts) {
    if (part.kind === 'text') content.push(part)
    if (part.kind !== 'media') continue
    const read = readMedia(part.part, digest, unreadBytes)
    if (read === null) return false
    media.push(read)
    content.push({ kind: read.kind, text: read.digest })
    if (media.length % MEDIA_PER_STEP === 0) yield
  }
  return true
}

/** Parts that are no text read between two pauses: of each a digest is made. */
export const MEDIA_PER_STEP = 256

/** The texts of a content, joined by a newline. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  return contentParts(content)
    .flatMap((part) => (part.kind === 'text' ? [part.text] : []))
    .join('\n')
}

/** The text of what is said beside a history as the operator's: a text, or a list of parts or of messages. */
export function systemText(system: unknown): string {
  return Array.isArray(system) ? system.map(textOfElement).join('\n') : textOf(system)
}

/** A text as a part of a chat message, or as a block of a message of Anthropic's. */
export const textPart: TextPart = (text) => `{"type":"text","text":${text}}`

/** What people call an entry that is nobody's words, call or result: its type, if that is a name. A client may write there what it likes. */
export function kindNamed(type: unknown): Pick<MessageFacts, 'kind'> {
  return typeof type === 'string' && /^[a-z][\w.-]{0,63}$/.test(type) ? { kind: type } : {}
}

// --- internal ---

function textOfElement(element: unknown): string {
  return textOf(isJsonObject(element) && 'content' in element ? element['content'] : [element])
}

function readPart(part: unknown): ContentPart {
  if (typeof part === 'string') return { kind: 'text', text: part }
  if (!isJsonObject(part)) return { kind: 'media', part }
  const { type, text, refusal } = part
  if (textTypes.has(type) && typeof text === 'string') return { kind: 'text', text }
  if (type === 'refusal' && typeof refusal === 'string') return { kind: 'text', text: refusal }
  return { kind: reasoningTypes.has(type) ? 'reasoning' : 'media', part }
}
