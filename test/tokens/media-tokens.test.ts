import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Media } from '../../src/conversation/message.ts'
import { mediaTokens } from '../../src/tokens/media-tokens.ts'

function image(widthPixels: number, heightPixels: number, detail: Media['detail'] = 'auto'): Media {
  return {
    kind: 'image',
    place: 'inline',
    detail,
    widthPixels,
    heightPixels,
    dataBytes: 3_000_000,
    digest: 'd',
  }
}

const remote: Media = { ...image(0, 0), place: 'remote', dataBytes: 0 }

describe('an image', () => {
  test.each([
    // The documentation's own examples.
    { model: 'gpt-4o', media: image(1024, 1024, 'high'), tokens: 765, why: '4 tiles after shrinking to 768' },
    { model: 'gpt-4o', media: image(2048, 4096, 'high'), tokens: 1105, why: '6 tiles' },
    { model: 'gpt-4o', media: image(4096, 8192, 'low'), tokens: 85, why: 'the base alone' },
    { model: 'gpt-4.1-mini', media: image(1024, 1024), tokens: 1659, why: '1,024 patches times 1.62' },
    {
      model: 'gpt-4.1-mini',
      media: image(1800, 2400),
      tokens: 2353,
      why: 'shrunk to 33 by 44 patches, times 1.62',
    },
    { model: 'gpt-4o', media: image(300, 200), tokens: 255, why: 'one tile: it is never enlarged' },
    { model: 'gpt-4o', media: image(1, 1_000_000), tokens: 85 + 4 * 170, why: 'a shred fills a tile' },
    { model: 'a-model-nobody-knows', media: image(8000, 8000), tokens: 1600, why: 'there is a bound' },
  ])(
    'of $media.widthPixels by $media.heightPixels costs $tokens with $model: $why',
    ({ model, media, tokens }) => {
      expect(mediaTokens(media, model)).toBe(tokens)
    },
  )

  // OpenAI reported 515 for a prompt of 13 tokens with this image (gpt-4.1-nano).
  test('of 540 by 360 costs what was reported for it', () => {
    expect(mediaTokens(image(540, 360), 'gpt-4.1-nano')).toBe(515 - 13)
  })

  test.each(['gpt-5.2', 'gpt-5.4', 'gpt-4.1-mini', 'gpt-6'])(
    'never costs more than the cap with %s',
    (model) => {
      fc.assert(
        fc.property(
          fc.integer({ min: 1, max: 20_000 }),
          fc.integer({ min: 1, max: 20_000 }),
          (width, height) => {
            const tokens = mediaTokens(image(width, height, 'high'), model)
            const cap = {
              'gpt-5.2': 1536,
              'gpt-5.4': 2500,
              'gpt-4.1-mini': Math.ceil(1536 * 1.62),
              'gpt-6': 2500,
            }[model]
            expect(tokens).toBeGreaterThan(0)
            expect(tokens).toBeLessThanOrEqual(cap ?? 0)
          },
        ),
      )
    },
  )

  test('of unknown size costs a fixed sum, more where the model is dear, less where low bounds it', () => {
    expect(mediaTokens(remote, 'gpt-4o')).toBe(1600)
    expect(mediaTokens(remote, 'a-model-nobody-knows')).toBe(1600)
    expect(mediaTokens(remote, 'gpt-4o-mini')).toBe(25_501)
    expect(mediaTokens(remote, 'gpt-6')).toBe(2500)
    expect(mediaTokens(remote, 'gpt-6-mini')).toBe(4050)
    expect(mediaTokens({ ...remote, detail: 'low' }, 'gpt-4o')).toBe(85)
    expect(mediaTokens({ ...remote, detail: 'low' }, 'gpt-6')).toBe(256)
    expect(mediaTokens({ ...remote, detail: 'low' }, 'claude-opus-5')).toBe(1600)
  })

  test('costs the same however many bytes its base64 has', () => {
    const photo = image(800, 600)
    expect(mediaTokens({ ...photo, dataBytes: 10 }, 'gpt-4o')).toBe(
      mediaTokens({ ...photo, dataBytes: 9_000_000 }, 'gpt-4o'),
    )
  })
})

describe('other media', () => {
  const sound: Media = { ...remote, kind: 'audio', place: 'inline', dataBytes: 160_000 }

  test('sound goes by its seconds, from its header where it says so, else from its bytes', () => {
    expect(mediaTokens({ ...sound, seconds: 4.48 }, 'gpt-4o-audio-preview')).toBe(45)
    expect(mediaTokens({ ...sound, seconds: 4.48 }, 'gemini-2.5-flash')).toBe(144)
    expect(mediaTokens({ ...sound, seconds: 0 }, 'gpt-4o-audio-preview')).toBe(100)
    expect(mediaTokens(sound, 'gpt-4o-audio-preview')).toBe(100)
    expect(mediaTokens(sound, 'gemini-2.5-flash')).toBe(320)
  })

  test('a file goes by its pages, and has at least one', () => {
    expect(mediaTokens({ ...sound, kind: 'file', dataBytes: 1 }, 'gpt-4o')).toBe(2000)
    expect(mediaTokens({ ...sound, kind: 'file', dataBytes: 655_360 }, 'gpt-4o')).toBe(20_000)
  })

  test('a file that is text goes by its text', () => {
    expect(mediaTokens({ ...sound, kind: 'file', dataBytes: 400, isText: true }, 'gpt-4o')).toBe(100)
    expect(mediaTokens({ ...sound, kind: 'file', dataBytes: 0, isText: true }, 'gpt-4o')).toBe(0)
  })

  test('a part of an unknown type goes by its JSON', () => {
    expect(mediaTokens({ ...sound, kind: 'other', dataBytes: 40_001 }, 'gpt-4o')).toBe(10_001)
  })

  test.each(['audio', 'file', 'video', 'other'] as const)('%s known by address only is not free', (kind) => {
    expect(mediaTokens({ ...remote, kind }, 'gpt-4o')).toBeGreaterThan(0)
  })
})
