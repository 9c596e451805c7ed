import { decodeBase64Prefix } from './base64.ts'

/** The size of an image; zeros where it could not be read. */
export type ImageSize = { readonly widthPixels: number; readonly heightPixels: number }

/** Enough for the fixed headers of PNG, GIF and WebP. */
const fixedHeaderBytes = 32

/** How far the frame header of a JPEG is looked for: beyond an EXIF block of the usual size (at most 64 kB). */
const jpegSearchBytesMax = 65_536

const unknownSize: ImageSize = { widthPixels: 0, heightPixels: 0 }

/**
 * The size of a base64 image from its header: PNG, JPEG, GIF, WebP. Only as much is decoded as the header
 * needs, whatever the length of the data.
 */
export function imageSizeOf(text: string, start: number): ImageSize {
  const head = decodeBase64Prefix(text, start, fixedHeaderBytes)
  if (hasAscii(head, 1, 'PNG') && hasAscii(head, 12, 'IHDR')) return pngSize(head)
  if (hasAscii(head, 0, 'GIF8')) return sizeOf(littleEndian(head, 6, 2), littleEndian(head, 8, 2))
  if (hasAscii(head, 0, 'RIFF') && hasAscii(head, 8, 'WEBP')) return webpSize(head)
  if (at(head, 0) === 0xff && at(head, 1) === 0xd8) {
    return jpegSize(decodeBase64Prefix(text, start, jpegSearchBytesMax))
  }
  return unknownSize
}

// --- internal ---

function pngSize(bytes: Uint8Array): ImageSize {
  return sizeOf(bigEndian(bytes, 16, 4), bigEndian(bytes, 20, 4))
}

// RFC 9649: lossy (VP8), lossless (VP8L) and extended (VP8X) files keep their size in different places.
function webpSize(bytes: Uint8Array): ImageSize {
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
function jpegSize(bytes: Uint8Array): ImageSize {
  let index = 2
  while (index + 9 <= bytes.length) {
    if (at(bytes, index) !== 0xff) return unknownSize
    const marker = at(bytes, index + 1)
    if (marker === 0xff) index += 1
    else if (isFrameMarker(marker))
      return sizeOf(bigEndian(bytes, index + 7, 2), bigEndian(bytes, index + 5, 2))
    else index += 2 + bigEndian(bytes, index + 2, 2)
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

function at(bytes: Uint8Array, index: number): number {
  return bytes[index] ?? 0
}

function hasAscii(bytes: Uint8Array, start: number, text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    if (at(bytes, start + index) !== text.charCodeAt(index)) return false
  }
  return true
}

function bigEndian(bytes: Uint8Array, start: number, count: number): number {
  let value = 0
  for (let index = 0; index < count; index += 1) value = value * 256 + at(bytes, start + index)
  return value
}

function littleEndian(bytes: Uint8Array, start: number, count: number): number {
  let value = 0
  for (let index = count - 1; index >= 0; index -= 1) value = value * 256 + at(bytes, start + index)
  return value
}
