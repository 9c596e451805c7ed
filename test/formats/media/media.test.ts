import { describe, expect, test } from 'vitest'
import { decodeBase64Prefix } from '../../../src/formats/media/base64-bytes.ts'
import { audioSecondsOf, imageSizeOf, readMedia } from '../../../src/formats/media/media.ts'
import { gif, jpeg, png, webp } from '../../support/images.ts'
import { digest } from '../../support/source.ts'

const broken = (bytes: Buffer): string => bytes.toString('base64').replace(/.{76}/g, '$&\r\n')

const imagePart = (bytes: Buffer, type = 'image/png') => ({
  type: 'image_url',
  image_url: { url: `data:${type};base64,${bytes.toString('base64')}` },
})

describe('the size of an inline image is read from its header', () => {
  test.each([
    ['PNG', png(1920, 1080)],
    ['GIF', gif(1920, 1080)],
    ['JPEG', jpeg(1920, 1080)],
    ['JPEG behind a large EXIF block', jpeg(1920, 1080, 60_000)],
    ['WebP, lossy', webp('VP8 ', 1920, 1080)],
    ['WebP, lossless', webp('VP8L', 1920, 1080)],
    ['WebP, extended', webp('VP8X', 1920, 1080)],
  ])('%s', (_, bytes) => {
    const padded = Buffer.concat([bytes, Buffer.alloc(1_000)])
    expect(readMedia(imagePart(padded), digest)).toMatchObject({
      kind: 'image',
      place: 'inline',
      widthPixels: 1920,
      heightPixels: 1080,
      dataBytes: padded.length,
    })
  })

  test('a JPEG of many segments is hopped through, however long they are', () => {
    const profile = Buffer.alloc(65_535 + 2, 0xc0)
    profile.writeUInt32BE(0xffe2_ffff, 0)
    const start = Buffer.from([0xff, 0xd8])
    const behind = (segments: number) =>
      Buffer.concat([
        start,
        ...Array.from({ length: segments }, () => profile),
        jpeg(1920, 1080, 65_533).subarray(2),
      ])
    expect(imageSizeOf(behind(30).toString('base64'), 0)).toEqual({ widthPixels: 1920, heightPixels: 1080 })
    // There is a bound to the hops.
    expect(imageSizeOf(behind(200).toString('base64'), 0)).toEqual({ widthPixels: 0, heightPixels: 0 })
  })

  test('in base64 broken into lines, too, if it stands in the first 64 kB', () => {
    expect(imageSizeOf(broken(jpeg(1920, 1080, 60_000)), 0)).toEqual({
      widthPixels: 1920,
      heightPixels: 1080,
    })
    expect(imageSizeOf(broken(jpeg(1920, 1080, 65_533)), 0)).toEqual({ widthPixels: 0, heightPixels: 0 })
  })

  // Each of up to 128 segments was looked up by decoding everything before it anew: 48 ms for an image of 88 kB, and a
  // request holds hundreds. This one took 15 seconds.
  test('in base64 broken into lines, too, a hundred segments are passed over in one go', () => {
    const application = Buffer.from([0xff, 0xe2, 0, 2])
    const filler = Buffer.alloc(64_000)
    filler.writeUInt32BE(0xffe1_0000 + filler.length - 2)
    const segments = Array.from({ length: 120 }, () => application)
    const size = jpeg(1920, 1080).subarray(2)
    const text = broken(Buffer.concat([Buffer.from([0xff, 0xd8]), filler, ...segments, size]))
    const sizes = Array.from({ length: 300 }, () => imageSizeOf(text, 0))
    expect(new Set(sizes.map(({ widthPixels }) => widthPixels))).toEqual(new Set([1920]))
  })

  test('a WebP of the largest size does not turn negative', () => {
    expect(imageSizeOf(webp('VP8L', 16_384, 16_384).toString('base64'), 0)).toEqual({
      widthPixels: 16_384,
      heightPixels: 16_384,
    })
  })

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['a text', Buffer.from('no image at all, just words')],
    ['a PNG that ends early', png(1920, 1080).subarray(0, 18)],
    ['a WebP that ends early', webp('VP8X', 1920, 1080).subarray(0, 20)],
    ['a lossless WebP that ends early', webp('VP8L', 1920, 1080).subarray(0, 22)],
    ['a GIF that ends early', gif(1920, 1080).subarray(0, 7)],
    ['a JPEG without a frame header', jpeg(1920, 1080).subarray(0, 60)],
    [
      'a JPEG whose lengths lead nowhere',
      Buffer.concat([Buffer.from([0xff, 0xd8]), Buffer.alloc(900, 0xff)]),
    ],
  ])('%s has none', (_, bytes) => {
    expect(readMedia(imagePart(bytes), digest)).toMatchObject({ widthPixels: 0, heightPixels: 0 })
  })
})

test('base64 is decoded as Node does, in both alphabets, with and without line breaks', () => {
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => (index * 37) % 256))
  for (const text of [bytes.toString('base64'), bytes.toString('base64url')]) {
    expect(Buffer.from(decodeBase64Prefix(text, 0, 1_000))).toEqual(bytes)
    expect(Buffer.from(decodeBase64Prefix(`xx${text}`, 2, 10))).toEqual(bytes.subarray(0, 10))
  }
  expect(Buffer.from(decodeBase64Prefix(broken(bytes), 0, 1_000))).toEqual(bytes)
})

const asAddress = (url: string, more = {}) => ({ type: 'image_url', image_url: { url, ...more } })

describe('a part is known by kind, place and digest', () => {
  const inlineAudio = Buffer.from('riff').toString('base64')
  const pdf = 'data:application/pdf;base64,AAAA'
  const base64 = { type: 'base64', media_type: 'image/png', data: png(3, 4).toString('base64') }
  test.each<[string, unknown, object?]>([
    ['image remote', { type: 'image_url', image_url: 'https://host/a.png' }, { detail: 'auto' }],
    ['image remote', asAddress('https://host/a.png', { detail: 'low' }), { detail: 'low' }],
    ['image reference', { type: 'input_image', file_id: 'f', detail: 'high' }, { detail: 'high' }],
    ['image inline', { type: 'image', source: base64 }, { widthPixels: 3, heightPixels: 4 }],
    [
      'audio inline',
      { type: 'input_audio', input_audio: { data: inlineAudio, format: 'wav' } },
      { dataBytes: 4 },
    ],
    ['file reference', { type: 'file', file: { file_id: 'file-1' } }, { dataBytes: 0 }],
    ['file inline', { type: 'file', file: { filename: 'a.pdf', file_data: pdf } }, { dataBytes: 3 }],
    ['file remote', { type: 'file', file: { file_data: 'https://host/a.pdf' } }],
    ['file remote', { type: 'input_file', file_url: 'https://host/a.pdf' }],
    ['video remote', { type: 'video_url', video_url: { url: 'https://host/a.mp4' } }],
    ['image inline', asAddress('data:image/svg+xml,<svg/>'), { dataBytes: 6, widthPixels: 0 }],
    ['other inline', { type: 'hologram', hologram: {} }],
    ['other inline', { type: 'constructor', constructor: {} }],
    ['other inline', { type: 'image_url', image_url: 5 }],
    ['other inline', null, { dataBytes: 4 }],
    ['other inline', [7], { dataBytes: 3 }],
    ['other inline', 'é日😀', { dataBytes: 2 + 2 + 3 + 4 }],
  ])('%s: %j', (known, part, more = {}) => {
    const [kind, place] = known.split(' ')
    expect(readMedia(part, digest)).toMatchObject({ kind, place, ...more })
  })

  test('equal data have equal digests, whatever stands around them', () => {
    const one = readMedia(imagePart(png(1, 1)), digest)
    const marked = { ...imagePart(png(1, 1)), cache_control: { type: 'ephemeral' } }
    expect(readMedia(marked, digest)?.digest).toBe(one?.digest)
    expect(readMedia(imagePart(png(1, 2)), digest)?.digest).not.toBe(one?.digest)
  })

  test('a moved cache mark changes no part of an unknown type', () => {
    const part = { type: 'hologram', data: 'x' }
    const marked = { ...part, cache_control: { type: 'ephemeral' } }
    expect(readMedia(marked, digest)).toEqual(readMedia(part, digest))
  })
})

const secondsOf = (bytes: Buffer): number => audioSecondsOf(bytes.toString('base64'), 0, bytes.length)

type Wav = { bytesPerSecond: number; dataBytes: number; statedBytes?: number; tagBytes?: number }

function wav({ bytesPerSecond, dataBytes, statedBytes = dataBytes, tagBytes = 0 }: Wav): Buffer {
  const format = Buffer.alloc(24)
  format.write('fmt ', 'latin1')
  format.writeUInt32LE(16, 4)
  format.writeUInt32LE(bytesPerSecond, 16)
  const tag = Buffer.alloc(8 + tagBytes + (tagBytes % 2))
  tag.write('LIST', 'latin1')
  tag.writeUInt32LE(tagBytes, 4)
  const data = Buffer.alloc(8 + dataBytes)
  data.write('data', 'latin1')
  data.writeUInt32LE(statedBytes, 4)
  return Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVE', 'latin1'), format, tag, data])
}

type Mp3 = {
  header: readonly number[]
  bytes: number
  tagBytes?: number
  frames?: number
  sideBytes?: number
}

function mp3({ header, bytes, tagBytes = 0, frames = 0, sideBytes = 32 }: Mp3): Buffer {
  const sound = Buffer.alloc(bytes)
  sound.set(header)
  if (frames > 0) {
    sound.write('Xing\0\0\0\x01', 4 + sideBytes, 'latin1')
    sound.writeUInt32BE(frames, 4 + sideBytes + 8)
  }
  if (tagBytes === 0) return sound
  const tag = Buffer.alloc(10 + tagBytes)
  tag.write('ID3\x04\0\0', 'latin1')
  for (let index = 0; index < 4; index += 1) tag[9 - index] = (tagBytes >> (7 * index)) & 0x7f
  return Buffer.concat([tag, sound])
}

// Layer III without checksum: MPEG 1 at 96 kbit/s and 48 kHz; MPEG 2 at 64 kbit/s and 24 kHz, mono.
const mpeg1 = [0xff, 0xfb, 0x74, 0xc4]
const mpeg2 = [0xff, 0xf3, 0x84, 0xc4]

describe('the seconds of a recording are read from its header', () => {
  test.each([
    ['WAV: 16 bits, mono, 24 kHz', wav({ bytesPerSecond: 48_000, dataBytes: 96_000 }), 2],
    ['WAV behind tags', wav({ bytesPerSecond: 16_000, dataBytes: 24_000, tagBytes: 5_001 }), 1.5],
    ['WAV streamed, without a size', wav({ bytesPerSecond: 8_000, dataBytes: 8_000, statedBytes: 0 }), 1],
    [
      'WAV streamed, of endless size',
      wav({ bytesPerSecond: 8_000, dataBytes: 8_000, statedBytes: 0xffff_ffff }),
      1,
    ],
    ['MP3 at 96 kbit/s', mp3({ header: mpeg1, bytes: 24_000 }), 2],
    ['MP3 at 64 kbit/s, MPEG 2', mp3({ header: mpeg2, bytes: 8_000 }), 1],
    ['MP3 behind a tag with a picture', mp3({ header: mpeg1, bytes: 24_000, tagBytes: 200_000 }), 2],
    ['WAV of a telephone, GSM', wav({ bytesPerSecond: 1_625, dataBytes: 3_250 }), 2],
    ['MP3 at its lowest rate', mp3({ header: [0xff, 0xf3, 0x18, 0xc4], bytes: 9_001 }), 9.001],
    ['MP3 of variable bit rate', mp3({ header: mpeg1, bytes: 9_000, frames: 250, sideBytes: 17 }), 6],
  ])('%s', (_, bytes, seconds) => {
    expect(secondsOf(bytes)).toBeCloseTo(seconds, 6)
  })

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['a text', Buffer.from('no sound at all, just words')],
    ['Opus in Ogg', Buffer.from('OggS\0\0\0\0OpusHead')],
    ['a WAV without a rate', wav({ bytesPerSecond: 0, dataBytes: 96_000 })],
    ['a WAV without samples', wav({ bytesPerSecond: 8_000, dataBytes: 0 })],
    ['a WAV that ends early', wav({ bytesPerSecond: 8_000, dataBytes: 90 }).subarray(0, 30)],
    ['an MP3 of free bit rate', mp3({ header: [0xff, 0xfb, 0x04, 0xc4], bytes: 9_000 })],
    ['an MP3 with a forbidden rate', mp3({ header: [0xff, 0xfb, 0xf4, 0xc4], bytes: 9_000 })],
    ['AAC, which begins like an MP3', Buffer.from([0xff, 0xf1, 0x50, 0x80, 0, 0, 0, 0])],
  ])('%s has none', (_, bytes) => {
    expect(secondsOf(bytes)).toBe(0)
  })
})

const claim = (frames: number) => mp3({ header: mpeg1, bytes: 5_000, frames, sideBytes: 17 })

// A header was believed whatever it said: 5 kB that claimed six million frames were counted as 43 hours, and the whole
// conversation before them was folded away to make room.
describe('a recording is no longer than its data can hold', () => {
  test.each([
    ['an MP3 that counts six million frames', claim(6_000_000)],
    ['an MP3 that counts as many as it can write', claim(0xffff_ffff)],
    ['a WAV of one byte a second', wav({ bytesPerSecond: 1, dataBytes: 100_000 })],
    ['a WAV below 8 kbit/s', wav({ bytesPerSecond: 999, dataBytes: 100_000 })],
  ])('%s is not believed', (_, bytes) => {
    expect(secondsOf(bytes)).toBe(0)
  })

  test('up to there it is', () => {
    expect(secondsOf(claim(208))).toBeCloseTo(4.992, 6)
    expect(secondsOf(claim(209))).toBe(0)
  })
})

// OpenAI reported 44 tokens of audio for a recording of 4.4 s.
test('a part says how long it plays', () => {
  const data = mp3({ header: mpeg1, bytes: 24_000 }).toString('base64')
  expect(readMedia({ type: 'input_audio', input_audio: { data, format: 'mp3' } }, digest)).toMatchObject({
    kind: 'audio',
    seconds: 2,
    dataBytes: 24_000,
  })
  expect(
    readMedia({ type: 'audio_url', audio_url: { url: `data:audio/mpeg;base64,${data}` } }, digest),
  ).toMatchObject({ kind: 'audio', seconds: 2 })
})

describe('a file that is text is known as such', () => {
  const data = Buffer.from('some words').toString('base64')
  const source = { type: 'base64', media_type: 'text/markdown', data }
  test.each([
    [10, { type: 'file', file: { file_data: `data:text/plain;base64,${data}` } }],
    [10, { type: 'file', file: { file_data: `data:application/json;charset=utf-8;base64,${data}` } }],
    [3, { type: 'file', file: { file_data: 'data:text/csv,a,b' } }],
    [10, { type: 'document', source }],
    [7, { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Grüße' } }],
  ])('of %d bytes: %j', (dataBytes, part) => {
    expect(readMedia(part, digest)).toMatchObject({ kind: 'file', place: 'inline', isText: true, dataBytes })
  })

  test('a PDF is not', () => {
    const part = { type: 'file', file: { file_data: `data:application/pdf;base64,${data}` } }
    expect(readMedia(part, digest)).not.toHaveProperty('isText')
  })
})
