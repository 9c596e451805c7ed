import { at, bigEndian, hasAscii, littleEndian, openBase64, type ByteReader } from './base64-bytes.ts'

/** The size of an image; zeros where it could not be read. */
export type ImageSize = { readonly widthPixels: number; readonly heightPixels: number }

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
