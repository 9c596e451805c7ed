import { isJsonObject, type JsonObject, stringifyJson, stringOr } from '../../json/json-value.ts'
import type { Media } from '../../conversation/message.ts'
import type { Digest } from '../../json/source.ts'

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
 * type is `other` and stands `inline`, `dataBytes` being the length of its JSON in UTF-8. `skippedBytes` says how much
 * longer a text is than what was read of it.
 */
export function readMedia(
  part: unknown,
  digest: Digest,
  skippedBytes: (text: string) => number = () => 0,
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
    ...placeOf(kind, where, statedType(holder), skippedBytes(where.value)),
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

/** The size of an image; zeros where it could not be read. */
type ImageSize = { readonly widthPixels: number; readonly heightPixels: number }

/** Enough for the fixed headers of PNG, GIF and WebP. */
const fixedHeaderBytes = 32

/**
 * Segments of a JPEG passed over on the way to its frame header. A phone's photo has a dozen: EXIF with a thumbnail, colour
 * profile and depth map in pieces of at most 64 kB.
 */
const jpegSegmentsMax = 128

const unknownSize: ImageSize = { widthPixels: 0, heightPixels: 0 }

/**
 * The size of a base64 image from its header: PNG, JPEG, GIF, WebP. Only as much is decoded as the header
 * needs, whatever the length of the data.
 *
 * @internal exported for tests
 */
export function imageSizeOf(text: string, start: number): ImageSize {
  const read: ByteReader = (offset, count) => decodeBase64(text, start, offset, count)
  const head = read(0, fixedHeaderBytes)
  if (hasAscii(head, 1, 'PNG') && hasAscii(head, 12, 'IHDR')) return pngSize(head)
  if (hasAscii(head, 0, 'GIF8')) return sizeOf(littleEndian(head, 6, 2), littleEndian(head, 8, 2))
  if (hasAscii(head, 0, 'RIFF') && hasAscii(head, 8, 'WEBP')) return webpSize(head)
  return at(head, 0) === 0xff && at(head, 1) === 0xd8 ? jpegSize(read) : unknownSize
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
function placeOf(kind: Media['kind'], { value, field }: Address, type: string, skippedBytes: number): Place {
  if (field === 'reference') return { place: 'reference', ...noData }
  const prefix = value.slice(0, dataPrefixCharactersMax)
  const isDataAddress = /^data:/i.test(prefix)
  if (!isDataAddress && (field === 'address' || /^https?:/i.test(prefix)))
    return { place: 'remote', ...noData }
  const start = isDataAddress ? prefix.indexOf(',') + 1 : 0
  const isEncoded = isDataAddress ? /;\s*base64\s*,$/i.test(prefix.slice(0, start)) : type !== plainTextSource
  const dataBytes = isEncoded
    ? base64Bytes(value, start, skippedBytes)
    : utf8Length(value) - start + skippedBytes
  const inline = { place: 'inline', ...noData, dataBytes } as const
  if (kind === 'file' && textType.test(isDataAddress ? prefix.slice('data:'.length) : type))
    return { ...inline, isText: true }
  if (!isEncoded) return inline
  if (kind === 'image') return { ...inline, ...imageSizeOf(value, start) }
  const seconds = kind === 'audio' ? wavSeconds(value, start, dataBytes) : 0
  return seconds === 0 ? inline : { ...inline, seconds }
}

/** Anthropic's documents may hold their text as it is: a source of type `text`. */
const plainTextSource = 'text/plain;source=text'

/** The media type that stands beside data, in the spellings of Anthropic and Google. */
function statedType(holder: unknown): string {
  if (!isJsonObject(holder)) return ''
  if (holder['type'] === 'text') return plainTextSource
  return stringOr(holder['media_type'], stringOr(holder['mime_type'], ''))
}

function base64Bytes(text: string, start: number, skippedBytes: number): number {
  let end = text.length
  while (end > start && text.charCodeAt(end - 1) === 0x3d) end -= 1
  return Math.floor(((end - start + skippedBytes) * 3) / 4)
}

function detailOf(holder: unknown, part: JsonObject): Media['detail'] {
  const detail = isJsonObject(holder) ? (holder['detail'] ?? part['detail']) : part['detail']
  return detail === 'low' || detail === 'high' || detail === 'original' ? detail : 'auto'
}

/** The tightest codecs that are put into WAV, made for telephones, take a little more. */
const bytesPerSecondMin = 1000

/** How long a recording of so many bytes plays, by a WAV's header; 0 if it has none. */
function wavSeconds(text: string, start: number, dataBytes: number): number {
  const head = decodeBase64(text, start, 0, fixedHeaderBytes)
  const isWav = hasAscii(head, 0, 'RIFF') && hasAscii(head, 8, 'WAVEfmt ')
  const bytesPerSecond = isWav ? littleEndian(head, 28, 4) : 0
  return bytesPerSecond < bytesPerSecondMin ? 0 : Math.max(0, dataBytes - wavHeaderBytes) / bytesPerSecond
}

const wavHeaderBytes = 44

function pngSize(bytes: Uint8Array): ImageSize {
  return bytes.length < 24 ? unknownSize : sizeOf(bigEndian(bytes, 16, 4), bigEndian(bytes, 20, 4))
}

// RFC 9649: lossy (VP8), lossless (VP8L) and extended (VP8X) files keep their size in different places.
function webpSize(bytes: Uint8Array): ImageSize {
  // Missing bytes read as 0, which the formats that store a size less one would take for a pixel.
  if (bytes.length < 30) return unknownSize
  if (hasAscii(bytes, 12, 'VP8 ')) {
    return sizeOf(littleEndian(bytes, 26, 2) & 0x3fff, littleEndian(bytes, 28, 2) & 0x3fff)
  }
  if (hasAscii(bytes, 12, 'VP8L')) {
    const bits = littleEndian(bytes, 21, 4)
    return sizeOf((bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1)
  }
  if (hasAscii(bytes, 12, 'VP8X')) {
    return sizeOf(littleEndian(bytes, 24, 3) + 1, littleEndian(bytes, 27, 3) + 1)
  }
  return unknownSize
}

// ITU-T T.81, B.1.1: a marker is 0xFF and a code; every segment before the frame header states its length.
function jpegSize(read: ByteReader): ImageSize {
  let offset = 2
  for (let segment = 0; segment < jpegSegmentsMax; segment += 1) {
    const bytes = read(offset, 9)
    if (bytes.length < 9 || at(bytes, 0) !== 0xff) return unknownSize
    const marker = at(bytes, 1)
    if (isFrameMarker(marker)) return sizeOf(bigEndian(bytes, 7, 2), bigEndian(bytes, 5, 2))
    // A second 0xFF is padding before the marker.
    offset += marker === 0xff ? 1 : 2 + bigEndian(bytes, 2, 2)
  }
  return unknownSize
}

// 0xC4, 0xC8 and 0xCC lie in the range of the frame headers but define tables.
function isFrameMarker(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
}

function sizeOf(widthPixels: number, heightPixels: number): ImageSize {
  return widthPixels > 0 && heightPixels > 0 ? { widthPixels, heightPixels } : unknownSize
}

/** Reads `count` bytes of decoded data from `offset` on; fewer where there are no more. */
type ByteReader = (offset: number, count: number) => Uint8Array

/**
 * `count` bytes from `offset` on of base64 text that begins at `start`, in the standard or the URL alphabet; fewer where it ends,
 * or is none. Nothing before them is decoded.
 */
function decodeBase64(text: string, start: number, offset: number, count: number): Uint8Array {
  // Four characters are three bytes.
  const skipped = offset % 3
  const bytes = new Uint8Array(skipped + count)
  let length = 0
  let bits = 0
  let bitCount = 0
  for (let index = start + ((offset - skipped) / 3) * 4; length < bytes.length; index += 1) {
    const sextet = index < text.length ? sextets.indexOf(text.charAt(index)) : -1
    if (sextet === -1) break
    bits = ((bits << 6) | (sextet % 64)) & 0xffff
    bitCount += 6
    if (bitCount < 8) continue
    bitCount -= 8
    bytes[length] = (bits >> bitCount) & 0xff
    length += 1
  }
  return bytes.subarray(skipped, length)
}

const plainSextets = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const sextets = `${plainSextets}+/${plainSextets}-_`

/** The byte at an index; 0 behind the end. */
function at(bytes: Uint8Array, index: number): number {
  return bytes[index] ?? 0
}

/** Whether these characters stand at `start`. */
function hasAscii(bytes: Uint8Array, start: number, text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    if (at(bytes, start + index) !== text.charCodeAt(index)) return false
  }
  return true
}

/** The unsigned number of `count` bytes, its high byte first. */
function bigEndian(bytes: Uint8Array, start: number, count: number): number {
  let value = 0
  for (let index = 0; index < count; index += 1) value = value * 256 + at(bytes, start + index)
  return value
}

/** The unsigned number of `count` bytes, its low byte first. */
function littleEndian(bytes: Uint8Array, start: number, count: number): number {
  let value = 0
  for (let index = count - 1; index >= 0; index -= 1) value = value * 256 + at(bytes, start + index)
  return value
}
