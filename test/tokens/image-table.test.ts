import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readFacts } from '../support/chat-completions.ts'
import { parseMessage } from '../support/chat-completions.ts'
import { finish } from '../../src/conversation/source.ts'
import type { TokenCounter } from '../../src/tokens/bpe-counter.ts'
import { messageTokens } from '../../src/tokens/message-tokens.ts'
import { gif, jpeg, png, webp } from '../support/images.ts'
import { entriesOf } from '../support/body-limits.ts'
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
  const facts = entry === undefined ? null : finish(readFacts(body, entry))
  if (entry === undefined || facts === null) throw new Error('the message was not read')
  const frameTokens = 4
  return finish(messageTokens(parseMessage(body, { ...entry, facts }), facts, counter, model)) - frameTokens
}

/** Counts nothing: no text stands beside the image. */
const silent: TokenCounter = {
  count: () => 0,
  *countSteps() {
    yield
    return 0
  },
}

function dataAddress(bytes: Buffer, type = 'image/png'): string {
  return `data:${type};base64,${Buffer.concat([bytes, Buffer.alloc(2_000, 0x5a)]).toString('base64')}`
}

function imagePart(bytes: Buffer, detail?: string, type?: string) {
  const url = dataAddress(bytes, type)
  return { type: 'image_url', image_url: detail === undefined ? { url } : { url, detail } }
}

// Worked out by hand from the providers' pages: the number of tiles, patches or pixels stands beside each.
const screenshot = [1920, 1080] as const
const photo = [4000, 3000] as const
const tall = [1080, 2400] as const
const icon = [64, 64] as const
describe.each([
  // Tiles: into 2,048 square, the short side to 768. Screenshot 1366 by 768: 3 x 2. Photo 1024 by 768: 2 x 2. Tall 768 by 1707: 2 x 4.
  { model: 'gpt-4o', size: screenshot, detail: undefined, tokens: 85 + 6 * 170 },
  { model: 'gpt-4o', size: photo, detail: 'high', tokens: 85 + 4 * 170 },
  { model: 'gpt-4.1', size: tall, detail: 'auto', tokens: 85 + 8 * 170 },
  { model: 'gpt-4.5-preview', size: icon, detail: undefined, tokens: 85 + 170 },
  { model: 'gpt-4o', size: photo, detail: 'low', tokens: 85 },
  { model: 'gpt-5', size: screenshot, detail: undefined, tokens: 70 + 6 * 140 },
  { model: 'gpt-5', size: photo, detail: 'low', tokens: 70 },
  { model: 'o1', size: photo, detail: undefined, tokens: 75 + 4 * 150 },
  { model: 'o3', size: tall, detail: undefined, tokens: 75 + 8 * 150 },
  { model: 'o3', size: tall, detail: 'low', tokens: 75 },
  { model: 'gpt-4o-mini', size: photo, detail: undefined, tokens: 2833 + 4 * 5667 },
  { model: 'gpt-4o-mini', size: photo, detail: 'low', tokens: 2833 },
  { model: 'computer-use-preview', size: screenshot, detail: undefined, tokens: 65 + 6 * 129 },
  // Patches of 32. Screenshot 60 x 34 = 2,040. Photo 125 x 94 = 11,750. Icon 2 x 2.
  { model: 'gpt-5-mini', size: icon, detail: undefined, tokens: 7 }, // 4 x 1.62 = 6.48
  { model: 'gpt-5-nano', size: icon, detail: undefined, tokens: 10 }, // 4 x 2.46 = 9.84
  { model: 'o4-mini', size: icon, detail: undefined, tokens: 7 }, // 4 x 1.72 = 6.88
  // Above 1,536: the photo's area makes 45.25 by 33.94; whole edges are had at 44 by 33.
  { model: 'gpt-5.2', size: photo, detail: undefined, tokens: 44 * 33 },
  { model: 'gpt-5.1-codex', size: photo, detail: 'high', tokens: 44 * 33 },
  { model: 'gpt-4.1-mini', size: photo, detail: undefined, tokens: 2353 }, // 1,452 x 1.62 = 2,352.24
  { model: 'gpt-4.1-nano', size: photo, detail: undefined, tokens: 3572 }, // 1,452 x 2.46 = 3,571.92
  { model: 'o4-mini', size: photo, detail: undefined, tokens: 2498 }, // 1,452 x 1.72 = 2,497.44
  // Above 2,500: 57.74 by 43.30, whole at 57 by 42.75. Above 10,000: 115.47 by 86.60, whole at 114.67 by 86.
  { model: 'gpt-5.4', size: screenshot, detail: undefined, tokens: 2040 },
  { model: 'gpt-5.4', size: photo, detail: 'high', tokens: 57 * 43 },
  { model: 'gpt-5.5', size: photo, detail: 'original', tokens: 115 * 86 },
  // From 5.6 on nothing is shrunk, unless it is asked for.
  { model: 'gpt-5.6', size: photo, detail: undefined, tokens: 11_750 },
  { model: 'gpt-6', size: photo, detail: 'auto', tokens: 11_750 },
  { model: 'gpt-6', size: photo, detail: 'original', tokens: 11_750 },
  { model: 'gpt-6', size: photo, detail: 'high', tokens: 57 * 43 },
  { model: 'gpt-6.1', size: photo, detail: 'low', tokens: 256 }, // 512 square.
  // Claude: pixels by 750, the long edge within 1,568 and about 1,600 tokens; 2,576 and 4,784 from 4.7 on.
  { model: 'claude-sonnet-4-5', size: [1000, 750], detail: undefined, tokens: 1000 },
  { model: 'claude-sonnet-4-5', size: [1568, 400], detail: undefined, tokens: 837 }, // 836.3
  { model: 'claude-sonnet-4-5', size: [3136, 800], detail: undefined, tokens: 837 },
  { model: 'claude-sonnet-4-5', size: screenshot, detail: undefined, tokens: 1600 },
  { model: 'claude-opus-4-7', size: screenshot, detail: undefined, tokens: 2765 }, // 2,764.8
  { model: 'claude-opus-5', size: photo, detail: 'low', tokens: 4784 },
  // Gemini: tiles of 768, in the third generation a budget.
  { model: 'gemini-2.5-pro', size: icon, detail: undefined, tokens: 258 },
  { model: 'gemini-2.5-pro', size: screenshot, detail: undefined, tokens: 3 * 2 * 258 },
  { model: 'gemini-3-pro-preview', size: photo, detail: undefined, tokens: 1120 },
  // Qwen: cells of 28, from the third generation on of 32.
  { model: 'qwen2.5-vl-72b-instruct', size: screenshot, detail: undefined, tokens: 69 * 39 },
  { model: 'qwen3-vl-plus', size: screenshot, detail: undefined, tokens: 60 * 34 },
])('$model: $size.0 by $size.1 (detail $detail) costs $tokens', ({ model, size, detail, tokens }) => {
  test.each(Object.entries(formats))('as %s', (type, encode) => {
    expect(tokensOf(imagePart(encode(size[0], size[1]), detail, type), model)).toBe(tokens)
  })
})

describe('an image is read in every spelling', () => {
  const bytes = png(...photo)
  const url = dataAddress(bytes)
  test.each([
    ['detail beside the address', { type: 'image_url', image_url: { url, detail: 'low' } }, 85],
    ['detail at the part', { type: 'image_url', image_url: url, detail: 'low' }, 85],
    ['an address without holder', { type: 'input_image', image_url: url, detail: 'high' }, 765],
    [
      'capital letters',
      {
        type: 'image_url',
        image_url: { url: url.replace('data:image/png;base64', 'DATA:IMAGE/PNG;BASE64') },
      },
      765,
    ],
    [
      'a charset',
      { type: 'image_url', image_url: { url: url.replace('image/png', 'image/png;charset=utf-8') } },
      765,
    ],
    ['a false media type', { type: 'image_url', image_url: { url: url.replace('png', 'jpeg') } }, 765],
    [
      'as Anthropic writes it',
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: url.slice(22) } },
      765,
    ],
    [
      'a drawing, whose size is not read',
      { type: 'image_url', image_url: { url: 'data:image/svg+xml;utf8,<svg/>' } },
      1600,
    ],
    ['a header cut off', { type: 'image_url', image_url: { url: url.slice(0, 22 + 20) } }, 1600],
    ['an address elsewhere', { type: 'image_url', image_url: { url: 'https://example.org/a.png' } }, 1600],
  ])('%s', (_, image, tokens) => {
    expect(tokensOf(image, 'gpt-4o')).toBe(tokens)
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
    fc.assert(
      fc.property(
        fc.string({ maxLength: 500 }),
        fc.constantFrom('gpt-4o', 'gpt-6', 'claude-opus-5'),
        (behind, model) => {
          const address = dataAddress(png(...photo))
          const url = address.slice(0, address.indexOf(',') + 1 + headerCharacters) + behind
          expect(tokensOf({ type: 'image_url', image_url: { url } }, model)).toBe(
            tokensOf(imagePart(png(...photo)), model),
          )
        },
      ),
    )
  })
})
