import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseMessage, readFacts } from '../support/chat-completions.ts'
import type { Media } from '../../src/conversation/message.ts'
import { runAtOnce } from '../../src/json/source.ts'
import type { TokenCounter } from '../../src/tokens/bpe-counter.ts'
import { mediaTokens } from '../../src/tokens/media-tokens.ts'
import { messageTokens } from '../../src/tokens/message-tokens.ts'
import { gif, jpeg, png, webp } from '../support/images.ts'
import { entriesOf } from '../support/body-limits.ts'
import { forAll } from '../support/property-runs.ts'
import { sourceOf } from '../support/source.ts'

const formats = {
  'image/png': png,
  'image/gif': gif,
  'image/jpeg': (width: number, height: number) => jpeg(width, height, 40_000),
  'image/webp': (width: number, height: number) => webp('VP8 ', width, height),
  'image/webp;lossless': (width: number, height: number) => webp('VP8L', width, height),
  'image/webp;extended': (width: number, height: number) => webp('VP8X', width, height),
} as const

/** The tokens of a message that is one image: read from the bytes of a request, as the proxy does. */
function tokensOf(part: object, model: string, counter: TokenCounter = silent): number {
  const body = sourceOf(JSON.stringify([{ role: 'user', content: [part] }]))
  const [entry] = entriesOf(body)
  const facts = entry === undefined ? null : runAtOnce(readFacts(body, entry))
  if (entry === undefined || facts === null) throw new Error('the message was not read')
  const frameTokens = 4
  return (
    runAtOnce(messageTokens(parseMessage(body, { ...entry, facts }), facts, counter, model)) - frameTokens
  )
}

/** Counts nothing: no text stands beside the image. */
const silent: TokenCounter = {
  count: () => 0,
  *countSteps() {
    yield
    return 0
  },
}

const dataAddress = (bytes: Buffer, type = 'image/png'): string =>
  `data:${type};base64,${Buffer.concat([bytes, Buffer.alloc(2_000, 0x5a)]).toString('base64')}`

function imagePart(bytes: Buffer, detail?: string, type?: string) {
  const url = dataAddress(bytes, type)
  return { type: 'image_url', image_url: detail === undefined ? { url } : { url, detail } }
}

const image = (widthPixels: number, heightPixels: number, detail: Media['detail'] = 'auto'): Media => ({
  kind: 'image',
  place: 'inline',
  detail,
  widthPixels,
  heightPixels,
  dataBytes: 3_000_000,
  digest: 'd',
})

const at = (address: string) => ({ type: 'image_url', image_url: { url: address } })

const remote: Media = { ...image(0, 0), place: 'remote', dataBytes: 0 }

// Worked out by hand from the providers' pages: the number of tiles, patches or pixels stands beside each.
const screenshot = [1920, 1080] as const
const photo = [4000, 3000] as const
const tall = [1080, 2400] as const
const icon = [64, 64] as const
const rows: readonly (readonly [
  model: string,
  size: readonly [number, number],
  detail: string | undefined,
  tokens: number,
])[] = [
  // Tiles: into 2,048 square, the short side to 768. Screenshot 1366 by 768: 3 x 2. Photo 1024 by 768: 2 x 2. Tall 768 by 1707: 2 x 4.
  ['gpt-4o', screenshot, undefined, 85 + 6 * 170],
  ['gpt-4o', photo, 'high', 85 + 4 * 170],
  ['gpt-4.1', tall, 'auto', 85 + 8 * 170],
  ['gpt-4.5-preview', icon, undefined, 85 + 170],
  ['gpt-4o', photo, 'low', 85],
  ['gpt-5', screenshot, undefined, 70 + 6 * 140],
  ['gpt-5', photo, 'low', 70],
  ['o1', photo, undefined, 75 + 4 * 150],
  ['o3', tall, undefined, 75 + 8 * 150],
  ['o3', tall, 'low', 75],
  ['gpt-4o-mini', photo, undefined, 2833 + 4 * 5667],
  ['gpt-4o-mini', photo, 'low', 2833],
  ['computer-use-preview', screenshot, undefined, 65 + 6 * 129],
  // Patches of 32. Screenshot 60 x 34 = 2,040. Photo 125 x 94 = 11,750. Icon 2 x 2.
  ['gpt-5-mini', icon, undefined, 7], // 4 x 1.62 = 6.48
  ['gpt-5-nano', icon, undefined, 10], // 4 x 2.46 = 9.84
  ['o4-mini', icon, undefined, 7], // 4 x 1.72 = 6.88
  // Above 1,536: the photo's area makes 45.25 by 33.94; whole edges are had at 44 by 33.
  ['gpt-5.2', photo, undefined, 44 * 33],
  ['gpt-5.1-codex', photo, 'high', 44 * 33],
  ['gpt-4.1-mini', photo, undefined, 2353], // 1,452 x 1.62 = 2,352.24
  ['gpt-4.1-nano', photo, undefined, 3572], // 1,452 x 2.46 = 3,571.92
  ['o4-mini', photo, undefined, 2498], // 1,452 x 1.72 = 2,497.44
  // Above 2,500: 57.74 by 43.30, whole at 57 by 42.75. Above 10,000: 115.47 by 86.60, whole at 114.67 by 86.
  ['gpt-5.4', screenshot, undefined, 2040],
  ['gpt-5.4', photo, 'high', 57 * 43],
  ['gpt-5.5', photo, 'original', 115 * 86],
  // From 5.6 on nothing is shrunk, unless it is asked for.
  ['gpt-5.6', photo, undefined, 11_750],
  ['gpt-6', photo, 'auto', 11_750],
  ['gpt-6', photo, 'original', 11_750],
  ['gpt-6', photo, 'high', 57 * 43],
  ['gpt-6.1', photo, 'low', 256], // 512 square.
  // Claude: pixels by 750, the long edge within 1,568 and about 1,600 tokens; 2,576 and 4,784 from 4.7 on.
  ['claude-sonnet-4-5', [1000, 750], undefined, 1000],
  ['claude-sonnet-4-5', [1568, 400], undefined, 837], // 836.3
  ['claude-sonnet-4-5', [3136, 800], undefined, 837],
  ['claude-sonnet-4-5', screenshot, undefined, 1600],
  ['claude-opus-4-7', screenshot, undefined, 2765], // 2,764.8
  ['claude-opus-5', photo, 'low', 4784],
  // Gemini: tiles of 768, in the third generation a budget.
  ['gemini-2.5-pro', icon, undefined, 258],
  ['gemini-2.5-pro', screenshot, undefined, 3 * 2 * 258],
  ['gemini-3-pro-preview', photo, undefined, 1120],
  // Qwen: cells of 28, from the third generation on of 32.
  ['qwen2.5-vl-72b-instruct', screenshot, undefined, 69 * 39],
  ['qwen3-vl-plus', screenshot, undefined, 60 * 34],
  // The documentation's own examples, and shreds.
  ['gpt-4o', [1024, 1024], 'high', 765],
  ['gpt-4o', [2048, 4096], 'high', 1105],
  ['gpt-4o', [4096, 8192], 'low', 85],
  ['gpt-4.1-mini', [1024, 1024], undefined, 1659], // 1,024 x 1.62
  ['gpt-4.1-mini', [1800, 2400], undefined, 2353], // 33 x 44 x 1.62
  ['gpt-4o', [300, 200], undefined, 255], // One tile: it is never enlarged.
  ['a-model-nobody-knows', [8000, 8000], undefined, 1600], // There is a bound.
  // OpenAI reported 515 for a prompt of 13 tokens with this image.
  ['gpt-4.1-nano', [540, 360], undefined, 515 - 13],
]

test.each(rows)(
  '%s: an image of %j (detail %s) costs %d, in whatever format',
  (model, [width, height], detail, tokens) => {
    const found = Object.entries(formats).map(([type, encode]) => {
      return [type, tokensOf(imagePart(encode(width, height), detail, type), model)]
    })
    expect(Object.fromEntries(found)).toEqual(
      Object.fromEntries(Object.keys(formats).map((type) => [type, tokens])),
    )
  },
)

describe('an image', () => {
  test('of one pixel’s width fills a tile, however long', () => {
    expect(mediaTokens(image(1, 1_000_000), 'gpt-4o')).toBe(85 + 4 * 170)
  })

  test('never costs more than the cap', () => {
    const caps = { 'gpt-5.2': 1536, 'gpt-5.4': 2500, 'gpt-4.1-mini': Math.ceil(1536 * 1.62), 'gpt-6': 2500 }
    const edge = fc.integer({ min: 1, max: 20_000 })
    forAll(400, edge, edge, fc.constantFrom(...Object.entries(caps)), (width, height, [model, cap]) => {
      const tokens = mediaTokens(image(width, height, 'high'), model)
      expect(tokens).toBeGreaterThan(0)
      expect(tokens).toBeLessThanOrEqual(cap)
    })
  })

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

  test('a film goes by its bytes', () => {
    expect(mediaTokens({ ...sound, kind: 'video', dataBytes: 500_000 }, 'gemini-2.5-flash')).toBe(600)
  })

  test('a part of an unknown type goes by its JSON', () => {
    expect(mediaTokens({ ...sound, kind: 'other', dataBytes: 40_001 }, 'gpt-4o')).toBe(10_001)
  })

  test.each(['audio', 'file', 'video', 'other'] as const)('%s known by address only is not free', (kind) => {
    expect(mediaTokens({ ...remote, kind }, 'gpt-4o')).toBeGreaterThan(0)
  })
})

describe('an image is read in every spelling', () => {
  const url = dataAddress(png(...photo))
  test.each([
    ['detail beside the address', { type: 'image_url', image_url: { url, detail: 'low' } }, 85],
    ['detail at the part', { type: 'image_url', image_url: url, detail: 'low' }, 85],
    ['an address without holder', { type: 'input_image', image_url: url, detail: 'high' }, 765],
    ['capital letters', at(url.replace('data:image/png;base64', 'DATA:IMAGE/PNG;BASE64')), 765],
    ['a charset', at(url.replace('image/png', 'image/png;charset=utf-8')), 765],
    ['a false media type', at(url.replace('png', 'jpeg')), 765],
    [
      'as Anthropic writes it',
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: url.slice(22) } },
      765,
    ],
    ['a drawing, whose size is not read', at('data:image/svg+xml;utf8,<svg/>'), 1600],
    ['a header cut off', at(url.slice(0, 22 + 20)), 1600],
    ['an address elsewhere', at('https://example.org/a.png'), 1600],
  ])('%s', (_, part, tokens) => {
    expect(tokensOf(part, 'gpt-4o')).toBe(tokens)
  })
})

describe('an image of 4 MB is neither decoded nor counted as text', () => {
  const bytes = 4 * 1024 * 1024
  // Three bytes are four characters: 33 of the header end at character 44.
  const headerCharacters = 44

  test('the counter sees nothing of it', () => {
    const seen: string[] = []
    const counter: TokenCounter = {
      count: (text) => seen.push(text) && 0,
      *countSteps(text) {
        seen.push(text)
        yield
        return 0
      },
    }
    const url = dataAddress(Buffer.concat([png(...photo), Buffer.alloc(bytes, 7)]))
    expect(url.length).toBeGreaterThan(bytes)
    expect(tokensOf({ type: 'image_url', image_url: { url } }, 'gpt-6', counter)).toBe(11_750)
    expect(seen.join('').length).toBe(0)
  })

  test('whatever stands behind the header changes nothing, even if it is no base64', () => {
    forAll(
      100,
      fc.string({ maxLength: 500 }),
      fc.constantFrom('gpt-4o', 'gpt-6', 'claude-opus-5'),
      (behind, model) => {
        const address = dataAddress(png(...photo))
        const url = address.slice(0, address.indexOf(',') + 1 + headerCharacters) + behind
        expect(tokensOf({ type: 'image_url', image_url: { url } }, model)).toBe(
          tokensOf(imagePart(png(...photo)), model),
        )
      },
    )
  })
})
