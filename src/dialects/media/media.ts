import { audioSecondsOf } from './audio-length.ts'
import { imageSizeOf } from './image-size.ts'
import { isJsonObject, stringifyJson, stringOr } from '../../conversation/json-value.ts'
import type { JsonObject } from '../../conversation/json-value.ts'
import type { Media } from '../../conversation/message.ts'
import type { Digest } from '../../conversation/source.ts'

/** Part types of chat completions, of the Responses API and of Anthropic, which gateways accept side by side. */
const kindOf: Readonly<Record<string, Media['kind']>> = {
  image_url: 'image',
  input_image: 'image',
  image: 'image',
  input_audio: 'audio',
  audio_url: 'audio',
  audio: 'audio',
  file: 'file',
  input_file: 'file',
  document: 'file',
  video_url: 'video',
  input_video: 'video',
  video: 'video',
}

/** Marks for a prompt cache. They move from request to request and say nothing about the content. */
const cacheMarks: ReadonlySet<string> = new Set(['cache_control', 'prompt_cache_breakpoint'])

/** A media type and its parameters before the comma of a data address are shorter than this. */
const dataPrefixCharactersMax = 1_024

/** Media types of files that are text. */
const textType =
  /^(?:text\/|application\/(?:json|xml|yaml|x-yaml|toml|javascript|sql|x-ndjson)\b|application\/[\w.-]+\+(?:json|xml)\b)/i

/**
 * A content part that is no text; null where it is nested too deep to be described. A part of an unknown
 * type is `other` and stands `inline`, `dataBytes` being the length of its JSON in UTF-8. `unreadBytes` says how much
 * longer a text is than what was read of it.
 */
export function readMedia(
  part: unknown,
  digest: Digest,
  unreadBytes: (text: string) => number = () => 0,
): Media | null {
  if (!isJsonObject(part)) return unknownPart(part, digest)
  const type = part['type']
  const kind = typeof type === 'string' && Object.hasOwn(kindOf, type) ? kindOf[type] : undefined
  if (typeof type !== 'string' || kind === undefined) return unknownPart(part, digest)
  const holder = part[type] ?? part['source'] ?? part
  const where = addressOf(holder)
  if (where === null) return unknownPart(part, digest)
  return {
    kind,
    detail: detailOf(holder, part),
    digest: digest(where.value),
    ...placeOf(kind, where, statedType(holder), unreadBytes(where.value)),
  }
}

/** Audio that the upstream keeps and an assistant message refers to (`audio: {id}`). */
export function audioReference(id: string, digest: Digest): Media {
  return { kind: 'audio', detail: 'auto', digest: digest(id), place: 'beside', ...noData }
}

/** The length of a text in UTF-8, in bytes. */
function utf8Length(text: string): number {
  let length = text.length
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    // Half of a pair, which takes four bytes.
    if (unit >= 0xd800 && unit <= 0xdfff) length += 1
    else if (unit >= 0x80) length += unit < 0x800 ? 1 : 2
  }
  return length
}

// --- internal ---

const noData = { widthPixels: 0, heightPixels: 0, dataBytes: 0 }

type Address = { readonly value: string; readonly field: 'address' | 'data' | 'reference' }

function unknownPart(part: unknown, digest: Digest): Media | null {
  const text = stringifyJson(part, cacheMarks)
  if (text === null) return null
  return {
    kind: 'other',
    detail: 'auto',
    digest: digest(text),
    place: 'inline',
    ...noData,
    dataBytes: utf8Length(text),
  }
}

function addressOf(holder: unknown): Address | null {
  if (typeof holder === 'string') return { value: holder, field: 'address' }
  if (!isJsonObject(holder)) return null
  return (
    firstString(holder, ['url', 'image_url', 'video_url', 'file_url'], 'address') ??
    firstString(holder, ['data', 'file_data'], 'data') ??
    firstString(holder, ['file_id', 'id'], 'reference')
  )
}

function firstString(holder: JsonObject, names: readonly string[], field: Address['field']): Address | null {
  for (const name of names) {
    const value = holder[name]
    if (typeof value === 'string') return { value, field }
  }
  return null
}

type Place = Pick<Media, 'place' | 'widthPixels' | 'heightPixels' | 'dataBytes' | 'seconds' | 'isText'>

/** Where the data stand and what is known of their size. `type` is the media type beside them, '' where none is stated. */
function placeOf(kind: Media['kind'], { value, field }: Address, type: string, unreadBytes: number): Place {
  if (field === 'reference') return { place: 'reference', ...noData }
  const prefix = value.slice(0, dataPrefixCharactersMax)
  const isDataAddress = /^data:/i.test(prefix)
  if (!isDataAddress && (field === 'address' || /^https?:/i.test(prefix)))
    return { place: 'remote', ...noData }
  const start = isDataAddress ? prefix.indexOf(',') + 1 : 0
  const isEncoded = isDataAddress ? /;\s*base64\s*,$/i.test(prefix.slice(0, start)) : type !== plainTextSource
  const dataBytes = isEncoded
    ? base64Bytes(value, start, unreadBytes)
    : utf8Length(value) - start + unreadBytes
  const inline = { place: 'inline', ...noData, dataBytes } as const
  if (kind === 'file' && textType.test(isDataAddress ? prefix.slice('data:'.length) : type))
    return { ...inline, isText: true }
  if (!isEncoded) return inline
  if (kind === 'image') return { ...inline, ...imageSizeOf(value, start) }
  return kind === 'audio' ? { ...inline, seconds: audioSecondsOf(value, start, dataBytes) } : inline
}

/** Anthropic's documents may hold their text as it is: a source of type `text`. */
const plainTextSource = 'text/plain;source=text'

/** The media type that stands beside data, in the spellings of Anthropic and Google. */
function statedType(holder: unknown): string {
  if (!isJsonObject(holder)) return ''
  if (holder['type'] === 'text') return plainTextSource
  return stringOr(holder['media_type'], stringOr(holder['mime_type'], ''))
}

function base64Bytes(text: string, start: number, unreadBytes: number): number {
  let end = text.length
  while (end > start && text.charCodeAt(end - 1) === 0x3d) end -= 1
  return Math.floor(((end - start + unreadBytes) * 3) / 4)
}

function detailOf(holder: unknown, part: JsonObject): Media['detail'] {
  const detail = isJsonObject(holder) ? (holder['detail'] ?? part['detail']) : part['detail']
  return detail === 'low' || detail === 'high' || detail === 'original' ? detail : 'auto'
}
