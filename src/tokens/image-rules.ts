import type { Media } from '../conversation/message.ts'
import { modelName } from './families.ts'

/** How a family of models counts an image. */
export type ImageRule = {
  readonly family: string
  readonly pattern: RegExp
  /** A name that this rule is for; the tests hold it against the whole table. */
  readonly sample: string
  /** Tokens of an image of this size in pixels; may be fractional. */
  readonly tokens: (width: number, height: number, detail: Media['detail']) => number
  /** Whether `detail: low` bounds the cost whatever the size. */
  readonly lowIsFixed: boolean
  /** What an image of unknown size is taken for at least, where large ones are not shrunk. */
  readonly unknownTokens?: number
}

type Way = Pick<ImageRule, 'tokens' | 'lowIsFixed' | 'unknownTokens'>

/** The rule for a model; for one that is not known, the dearer of the common ways with a bound. */
export function imageRuleOf(model: string): ImageRule {
  const name = modelName(model)
  return imageRules.find((rule) => rule.pattern.test(name)) ?? unknownRule
}

/** OpenAI's tiles: fitted into 2,048 square, the short side to 768, then so much a tile of 512 square. Low is the base alone. */
function tiles(baseTokens: number, tileTokens: number): Way {
  return {
    lowIsFixed: true,
    tokens: (width, height, detail) => {
      if (detail === 'low') return baseTokens
      const fit = Math.min(1, 2048 / Math.max(width, height))
      const shrink = fit * Math.min(1, 768 / (fit * Math.min(width, height)))
      return baseTokens + tileTokens * cells(width * shrink, height * shrink, 512)
    },
  }
}

type PatchCaps = { readonly high: number; readonly auto: number; readonly original: number }

/** OpenAI's patches of 32 square. */
function patches(caps: PatchCaps, multiplier = 1): Way {
  return {
    lowIsFixed: true,
    tokens: (width, height, detail) =>
      multiplier *
      (detail === 'low'
        ? Math.min(lowPatches, cells(width, height, patchPixels))
        : patchesWithin(width, height, caps[detail])),
    ...(caps.auto > shrunkPatches ? { unknownTokens: multiplier * shrunkPatches } : {}),
  }
}

/**
 * The patches of an image that is shrunk if it has more than the cap, keeping its proportions: to the cap's area, and then until
 * its edges are whole patches. So it comes out a little below the cap.
 */
function patchesWithin(width: number, height: number, cap: number): number {
  if (cells(width, height, patchPixels) <= cap) return cells(width, height, patchPixels)
  const fit = Math.sqrt((cap * patchPixels ** 2) / (width * height))
  const [across, down] = [(width * fit) / patchPixels, (height * fit) / patchPixels]
  const whole = fit * Math.min(wholeShare(across), wholeShare(down))
  return Math.min(cap, cells(width * whole, height * whole, patchPixels))
}

/** What shrinks a number to a whole one; 1 where less than one would be left. */
function wholeShare(count: number): number {
  return count < 1 ? 1 : Math.floor(count) / count
}

/** A price by the pixel, after fitting the long edge and shrinking what would cost more than the most. */
function pixels(pixelsPerToken: number, longEdgeMax: number, tokensMax: number): Way {
  return {
    lowIsFixed: false,
    tokens: (width, height) => {
      const shrink = Math.min(1, longEdgeMax / Math.max(width, height))
      return Math.min(tokensMax, (width * shrink * (height * shrink)) / pixelsPerToken)
    },
  }
}

/** So much a cell of the image as it is, up to a number of cells. */
function grid(cellPixels: number, tokensPerCell: number, cellsMax: number): Way {
  return {
    lowIsFixed: false,
    tokens: (width, height) => tokensPerCell * Math.min(cellsMax, cells(width, height, cellPixels)),
  }
}

const patchPixels = 32

/** 512 square. */
const lowPatches = 256

/** What larger images are shrunk to without `original`; more than a screenshot in full HD has (2,040). */
const shrunkPatches = 2500

const smallCap: PatchCaps = { high: 1536, auto: 1536, original: 1536 }
const largeCap: PatchCaps = { high: shrunkPatches, auto: shrunkPatches, original: 10_000 }
// From gpt-5.6 on, an image without a `detail` is not shrunk; above 30,000 patches it is refused.
const uncapped: PatchCaps = { high: shrunkPatches, auto: 30_000, original: 30_000 }

/**
 * Most specific first. OpenAI's page on images as of November 2026, and each vendor's own.
 *
 * @internal exported for tests
 */
export const imageRules: readonly ImageRule[] = [
  { family: 'gpt-4o-mini', pattern: /\bgpt-4o-mini/, sample: 'gpt-4o-mini-2024-07-18', ...tiles(2833, 5667) },
  { family: 'computer-use', pattern: /\bcomputer-use/, sample: 'computer-use-preview', ...tiles(65, 129) },
  { family: 'o4-mini', pattern: /\bo4-mini/, sample: 'o4-mini', ...patches(smallCap, 1.72) },
  { family: 'o1, o3', pattern: /\bo[13]\b/, sample: 'o3-2025-04-16', ...tiles(75, 150) },
  {
    family: 'gpt-5.6+ mini',
    pattern: /\bgpt-(?:5\.[6-9]|[6-9]).*mini/,
    sample: 'gpt-6-mini',
    ...patches(uncapped, 1.62),
  },
  {
    family: 'gpt-5.6+ nano',
    pattern: /\bgpt-(?:5\.[6-9]|[6-9]).*nano/,
    sample: 'gpt-5.6-nano',
    ...patches(uncapped, 2.46),
  },
  { family: 'gpt-5.6+', pattern: /\bgpt-(?:5\.[6-9]|[6-9])/, sample: 'openai/gpt-6.1', ...patches(uncapped) },
  {
    family: 'OpenAI mini',
    pattern: /\bgpt-(?:4\.1|5).*mini/,
    sample: 'gpt-4.1-mini',
    ...patches(smallCap, 1.62),
  },
  {
    family: 'OpenAI nano',
    pattern: /\bgpt-(?:4\.1|5).*nano/,
    sample: 'gpt-5-nano',
    ...patches(smallCap, 2.46),
  },
  { family: 'gpt-5.4, 5.5', pattern: /\bgpt-5\.[45]/, sample: 'gpt-5.4', ...patches(largeCap) },
  { family: 'gpt-5.2, codex', pattern: /\bgpt-5(?:\.[23]|.*codex)/, sample: 'gpt-5.2', ...patches(smallCap) },
  { family: 'gpt-5', pattern: /\bgpt-5/, sample: 'gpt-5-chat-latest', ...tiles(70, 140) },
  { family: 'gpt-4', pattern: /gpt-4/, sample: 'chatgpt-4o-latest', ...tiles(85, 170) },
  // Anthropic's page on vision: about 1,600 tokens at most, from 4.7 on 4,784.
  {
    family: 'Claude up to 4.6',
    pattern: /claude-(?:[a-z]+-)?v?(?:[1-3]|4(?![-.](?:[7-9]|\d\d)(?!\d)))(?!\d)/,
    sample: 'us.anthropic.claude-sonnet-4-5',
    ...pixels(750, 1568, 1600),
  },
  { family: 'Claude from 4.7 on', pattern: /claude/, sample: 'claude-opus-5', ...pixels(750, 2576, 4784) },
  // `media_resolution` decides; this is what it comes to unless the client lowers it.
  { family: 'Gemini 3+', pattern: /gemini-(?:[3-9]|\d\d)/, sample: 'gemini-4-argon', ...grid(768, 1120, 1) },
  { family: 'Gemini', pattern: /gemini/, sample: 'gemini-2.5-pro', ...grid(768, 258, 100) },
  { family: 'Gemma', pattern: /gemma/, sample: 'gemma-3-27b-it', ...grid(896, 256, 1) },
  {
    family: 'Qwen-VL from 3 on',
    pattern: /qwen-?[3-9]/,
    sample: 'qwen3-vl-235b-a22b-instruct',
    ...grid(32, 1, 16_384),
  },
  { family: 'Qwen-VL', pattern: /qwen|qvq/, sample: 'qwen2.5-vl-72b-instruct', ...grid(28, 1, 16_384) },
]

// --- internal ---

const unknownRule: ImageRule = { family: 'unknown', pattern: /^/, sample: '', ...grid(28, 1, 1600) }

function cells(width: number, height: number, edge: number): number {
  // A shrunk edge of 1,024.0000001 pixels is 1,024.
  return along(width, edge) * along(height, edge)
}

/** Even a shred of an edge fills a cell. */
function along(pixelCount: number, edge: number): number {
  return Math.max(1, Math.ceil(pixelCount / edge - 1e-6))
}
