import { describe, expect, test } from 'vitest'
import type { Media } from '../../src/conversation/message.ts'
import { imageRuleOf, imageRules } from '../../src/pressure/image-rules.ts'
import { mediaTokens } from '../../src/pressure/media-tokens.ts'

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

test.each(imageRules)(
  'the rule of $family is the first that its sample $sample finds',
  ({ family, sample }) => {
    expect(imageRuleOf(sample).family).toBe(family)
  },
)

describe('an image', () => {
  test.each([
    // The documentation's own examples.
    { model: 'gpt-4o', media: image(1024, 1024, 'high'), tokens: 765, why: '4 tiles after shrinking to 768' },
    { model: 'gpt-4o', media: image(2048, 4096, 'high'), tokens: 1105, why: '6 tiles' },
    { model: 'gpt-4o', media: image(4096, 8192, 'low'), tokens: 85, why: 'the base alone' },
    { model: 'gpt-4o', media: image(300, 200), tokens: 255, why: 'one tile: it is never enlarged' },
    { model: 'gpt-4o-mini', media: image(1024, 1024), tokens: 25_501, why: 'the small model has dear tiles' },
    { model: 'gpt-5', media: image(1024, 1024), tokens: 630, why: 'tiles of its own' },
    { model: 'o3', media: image(1024, 1024), tokens: 675, why: 'tiles of its own' },
    { model: 'gpt-4.1-mini', media: image(1024, 1024), tokens: 1659, why: '1,024 patches times 1.62' },
    { model: 'o4-mini', media: image(1800, 2400), tokens: 2642, why: '1,536 patches at most, times 1.72' },
    { model: 'gpt-5.2', media: image(4000, 3000), tokens: 1536, why: '1,536 patches at most' },
    { model: 'gpt-5.4', media: image(4000, 3000), tokens: 2500, why: '2,500 patches at most' },
    { model: 'gpt-5.4', media: image(4000, 3000, 'original'), tokens: 10_000, why: '10,000 patches at most' },
    { model: 'gpt-5.6', media: image(4000, 3000), tokens: 11_750, why: 'it is not shrunk' },
    { model: 'gpt-6', media: image(9000, 9000), tokens: 30_000, why: 'above that it is refused' },
    { model: 'gpt-6', media: image(4000, 3000, 'low'), tokens: 256, why: 'low is 512 square' },
    { model: 'claude-sonnet-4-5', media: image(1000, 750), tokens: 1000, why: 'a token for 750 pixels' },
    {
      model: 'claude-sonnet-4-5',
      media: image(3136, 1568),
      tokens: 1640,
      why: 'the long edge is fitted into 1,568',
    },
    { model: 'gemini-2.5-pro', media: image(768, 768), tokens: 258, why: 'one tile' },
    { model: 'gemini-2.5-pro', media: image(1600, 800), tokens: 1548, why: '3 by 2 tiles' },
    { model: 'qwen2.5-vl-7b', media: image(280, 280), tokens: 100, why: 'cells of 28 square' },
    { model: 'a-model-nobody-knows', media: image(8000, 8000), tokens: 1600, why: 'there is a bound' },
  ])(
    'of $media.widthPixels by $media.heightPixels costs $tokens with $model: $why',
    ({ model, media, tokens }) => {
      expect(mediaTokens(media, model)).toBe(tokens)
    },
  )

  test('of unknown size costs a fixed sum, more where the model is dear, less where low bounds it', () => {
    expect(mediaTokens(remote, 'gpt-4o')).toBe(1600)
    expect(mediaTokens(remote, 'a-model-nobody-knows')).toBe(1600)
    expect(mediaTokens(remote, 'gpt-4o-mini')).toBe(25_501)
    expect(mediaTokens({ ...remote, detail: 'low' }, 'gpt-4o')).toBe(85)
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

  test('sound goes by its seconds', () => {
    expect(mediaTokens(sound, 'gpt-4o-audio-preview')).toBe(100)
    expect(mediaTokens(sound, 'gemini-2.5-flash')).toBe(320)
  })

  test('a file goes by its pages, and has at least one', () => {
    expect(mediaTokens({ ...sound, kind: 'file', dataBytes: 1 }, 'gpt-4o')).toBe(2000)
    expect(mediaTokens({ ...sound, kind: 'file', dataBytes: 655_360 }, 'gpt-4o')).toBe(20_000)
  })

  test('a part of an unknown type goes by its JSON', () => {
    expect(mediaTokens({ ...sound, kind: 'other', dataBytes: 40_001 }, 'gpt-4o')).toBe(10_001)
  })

  test.each(['audio', 'file', 'video', 'other'] as const)('%s known by address only is not free', (kind) => {
    expect(mediaTokens({ ...remote, kind }, 'gpt-4o')).toBeGreaterThan(0)
  })
})
