import { describe, expect, test } from 'vitest'
import { decodeBase64Prefix } from '../../../src/dialects/media/base64.ts'
import { imageSizeOf } from '../../../src/dialects/media/image-size.ts'
import { readMedia } from '../../../src/dialects/media/media.ts'
import { gif, jpeg, png, webp } from '../../support/images.ts'
import { digest } from '../../support/source.ts'

function broken(bytes: Buffer): string {
  return bytes.toString('base64').replace(/.{76}/g, '$&\r\n')
}

function imagePart(bytes: Buffer, type = 'image/png') {
  return { type: 'image_url', image_url: { url: `data:${type};base64,${bytes.toString('base64')}` } }
}

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

describe('a part is known by kind, place and digest', () => {
  const inlineAudio = Buffer.from('riff').toString('base64')
  test.each([
    [
      { type: 'image_url', image_url: 'https://host/a.png' },
      { kind: 'image', place: 'remote', detail: 'auto' },
    ],
    [
      { type: 'image_url', image_url: { url: 'https://host/a.png', detail: 'low' } },
      { kind: 'image', place: 'remote', detail: 'low' },
    ],
    [
      { type: 'input_image', file_id: 'file-1', detail: 'high' },
      { kind: 'image', place: 'reference', detail: 'high' },
    ],
    [
      {
        type: 'image',
        source: { type: 'base64', media_type: 'image/png', data: png(3, 4).toString('base64') },
      },
      { kind: 'image', place: 'inline', widthPixels: 3, heightPixels: 4 },
    ],
    [
      { type: 'input_audio', input_audio: { data: inlineAudio, format: 'wav' } },
      { kind: 'audio', place: 'inline', dataBytes: 4 },
    ],
    [
      { type: 'file', file: { file_id: 'file-1' } },
      { kind: 'file', place: 'reference', dataBytes: 0 },
    ],
    [
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' } },
      { kind: 'file', place: 'inline', dataBytes: 3 },
    ],
    [
      { type: 'file', file: { file_data: 'https://host/a.pdf' } },
      { kind: 'file', place: 'remote' },
    ],
    [
      { type: 'input_file', file_url: 'https://host/a.pdf' },
      { kind: 'file', place: 'remote' },
    ],
    [
      { type: 'video_url', video_url: { url: 'https://host/a.mp4' } },
      { kind: 'video', place: 'remote' },
    ],
    [
      { type: 'image_url', image_url: { url: 'data:image/svg+xml,<svg/>' } },
      { kind: 'image', place: 'inline', dataBytes: 6, widthPixels: 0 },
    ],
    [
      { type: 'hologram', hologram: {} },
      { kind: 'other', place: 'inline' },
    ],
    [
      { type: 'constructor', constructor: {} },
      { kind: 'other', place: 'inline' },
    ],
    [
      { type: 'image_url', image_url: 5 },
      { kind: 'other', place: 'inline' },
    ],
    [null, { kind: 'other', place: 'inline', dataBytes: 4 }],
    [[7], { kind: 'other', place: 'inline', dataBytes: 3 }],
    ['é日😀', { kind: 'other', place: 'inline', dataBytes: 2 + 2 + 3 + 4 }],
  ])('%j', (part, expected) => {
    expect(readMedia(part, digest)).toMatchObject(expected)
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
