import { describe, expect, test } from 'vitest'
import { imageSizeOf, readMedia } from '../../../src/formats/media/media.ts'
import { gif, jpeg, png, webp } from '../../support/images.ts'
import { digest } from '../../support/source.ts'

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

function wav(bytesPerSecond: number, dataBytes: number): Buffer {
  const head = Buffer.from('RIFF\0\0\0\0WAVEfmt '.padEnd(44, '\0'), 'latin1')
  head.writeUInt32LE(bytesPerSecond, 28)
  return Buffer.concat([head, Buffer.alloc(dataBytes)])
}

// OpenAI reported 44 tokens of audio for a recording of 4.4 s.
test.each([
  ['16 bits, mono, 24 kHz', wav(48_000, 96_000), 2],
  ['a telephone, GSM', wav(1_625, 3_250), 2],
  ['a WAV without a rate', wav(0, 96_000), undefined],
  // A header was believed whatever it said, and the conversation before such a recording was folded away to make room.
  ['a rate that no recording has', wav(1, 100_000), undefined],
  ['a WAV that ends early', wav(8_000, 90).subarray(0, 26), undefined],
  ['an MP3', Buffer.from([0xff, 0xfb, 0x74, 0xc4]), undefined],
])('a WAV says how long it plays: %s', (_, bytes, seconds) => {
  const data = bytes.toString('base64')
  const parts = [
    { type: 'input_audio', input_audio: { data, format: 'wav' } },
    { type: 'audio_url', audio_url: { url: `data:audio/wav;base64,${data}` } },
  ]
  for (const part of parts)
    expect(readMedia(part, digest)).toMatchObject({ kind: 'audio', dataBytes: bytes.length })
  expect(parts.map((part) => readMedia(part, digest)?.seconds)).toEqual([seconds, seconds])
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
