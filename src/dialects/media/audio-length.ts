import { at, bigEndian, hasAscii, littleEndian, openBase64, type ByteReader } from './base64-bytes.ts'

/**
 * The seconds that a base64 recording of so many bytes plays, from its header: WAV, MP3. 0 where it could not be read, and
 * where it claims more than the data can hold: a few bytes must not pass for days that fill any window.
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

// --- internal ---

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
