import { isJsonObject, type JsonObject, stringifyJson, stringOr } from '../../json/json-value.ts'
import type { Media } from '../../conversation/message.ts'
import type { Digest } from '../../json/source.ts'
import { at, bigEndian, type ByteReader, hasAscii, littleEndian, openBase64 } from './base64-bytes.ts'

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

/**
 * The seconds that a base64 recording of so many bytes plays, from its header: WAV, MP3. 0 where it could not be read, and
 * where it claims more than the data can hold: a few bytes must not pass for days that fill any window.
 *
 * @internal exported for tests
 */
export function audioSecondsOf(text: string, start: number, dataBytes: number): number {
  const read = openBase64(text, start)
  const head = read(0, 12)
  const seconds =
    hasAscii(head, 0, 'RIFF') && hasAscii(head, 8, 'WAVE')
      ? wavSeconds(read, dataBytes)
      : mp3Seconds(read, dataBytes, hasAscii(head, 0, 'ID3') ? id3Bytes(head) : 0)
  return seconds > 0 && seconds <= dataBytes / bytesPerSecondMin ? seconds : 0
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
  const read = openBase64(text, start)
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

/** MP3's lowest rate, 8 kbit/s; the tightest codecs that are put into WAV, made for telephones, take a little more. */
const bytesPerSecondMin = 1000

/** Chunks passed over on the way to the samples: tags and cue points. */
const wavChunksMax = 32

function wavSeconds(read: ByteReader, dataBytes: number): number {
  let bytesPerSecond = 0
  let offset = 12
  for (let chunk = 0; chunk < wavChunksMax && offset < dataBytes; chunk += 1) {
    const bytes = read(offset, 20)
    const size = littleEndian(bytes, 4, 4)
    if (hasAscii(bytes, 0, 'fmt ')) bytesPerSecond = littleEndian(bytes, 16, 4)
    if (hasAscii(bytes, 0, 'data')) {
      const rest = Math.max(0, dataBytes - offset - 8)
      // A recorder that streams does not know the size beforehand and writes 0 or the largest number.
      return (size === 0 ? rest : Math.min(size, rest)) / bytesPerSecond
    }
    // Chunks begin at even places.
    offset += 8 + size + (size % 2)
  }
  return 0
}

// ISO 11172-3 and 13818-3, Layer III; kilobits a second by the index in a frame's header.
const mpeg1Rates = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
const mpeg2Rates = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
const mpeg1SamplesPerSecond = [44_100, 48_000, 32_000]

const mpeg1 = 3
const layer3 = 1
const mono = 3

function mp3Seconds(read: ByteReader, dataBytes: number, tagBytes: number): number {
  const frame = read(tagBytes, 48)
  const version = (at(frame, 1) >> 3) & 3
  if (at(frame, 0) !== 0xff || at(frame, 1) >> 5 !== 7 || ((at(frame, 1) >> 1) & 3) !== layer3) return 0
  const frames = countedFrames(frame, version)
  if (frames > 0) {
    const divisor = version === mpeg1 ? 1 : version === 2 ? 2 : 4
    const samplesPerSecond = (mpeg1SamplesPerSecond[(at(frame, 2) >> 2) & 3] ?? 0) / divisor
    return (frames * (version === mpeg1 ? 1152 : 576)) / samplesPerSecond
  }
  const kilobits = (version === mpeg1 ? mpeg1Rates : mpeg2Rates)[at(frame, 2) >> 4] ?? 0
  return ((dataBytes - tagBytes) * 8) / (kilobits * 1000)
}

/** Encoders of a variable bit rate write the number of frames into the first one, behind its side information. */
function countedFrames(frame: Uint8Array, version: number): number {
  const isMono = at(frame, 3) >> 6 === mono
  const sideBytes = version === mpeg1 ? (isMono ? 17 : 32) : isMono ? 9 : 17
  const start = 4 + sideBytes
  const isCounted = hasAscii(frame, start, 'Xing') || hasAscii(frame, start, 'Info')
  return isCounted && (at(frame, start + 7) & 1) === 1 ? bigEndian(frame, start + 8, 4) : 0
}

/** ID3v2.4, 3.1: ten bytes, of which the last four are the rest's size, seven bits in each. */
function id3Bytes(head: Uint8Array): number {
  let size = 0
  for (let index = 6; index < 10; index += 1) size = size * 128 + (at(head, index) & 0x7f)
  return 10 + size
}

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
