import type { Media } from '../conversation/message.ts'
import { familyFinder, modelName } from './families.ts'
import rows from './model-families.json' with { type: 'json' }

/**
 * What a part that is no text costs, in tokens of the model's own provider. Goes by pixels and bytes, never by the length of
 * the base64 text; where a size is unknown it errs on the side of too much.
 */
export function mediaTokens(media: Media, model: string): number {
  switch (media.kind) {
    case 'image':
      return imageTokens(media, imageRuleOf(model))
    case 'audio':
      return media.dataBytes === 0
        ? unknownSizeTokens
        : Math.ceil((media.seconds || media.dataBytes / audioBytesPerSecond) * audioTokensPerSecond(model))
    case 'video':
      return media.dataBytes === 0
        ? unknownSizeTokens
        : Math.ceil((media.dataBytes / videoBytesPerSecond) * videoTokensPerSecond)
    case 'file':
      if (media.isText === true) return Math.ceil(media.dataBytes / textBytesPerToken)
      return media.dataBytes === 0
        ? unknownSizeTokens
        : Math.ceil(media.dataBytes / fileBytesPerPage) * fileTokensPerPage
    case 'other':
      return media.dataBytes === 0 ? unknownPartTokens : Math.ceil(media.dataBytes / textBytesPerToken)
  }
}

// --- internal ---

/** A medium known by address or id only. Most photos cost between 250 and 1,600, whoever counts them. */
const unknownSizeTokens = 1600

/** What an image of unknown size is taken for, where its rule makes that dearer than `unknownSizeTokens`. */
const unknownEdgePixels = 1024

/** Sound whose header says nothing: compressed speech at 128 kbit/s. Raw samples (48 kB/s for 16 bits, mono, 24 kHz) come out three times too long. */
const audioBytesPerSecond = 16_000

/** Gemini documents 32 tokens a second; OpenAI's audio models take about 10. */
function audioTokensPerSecond(model: string): number {
  return /gemini|gemma/.test(modelName(model)) ? 32 : 10
}

/** 2 Mbit/s, and Gemini's frame a second of 258 tokens with 32 of sound, rounded up. */
const videoBytesPerSecond = 250_000
const videoTokensPerSecond = 300

/** A page of a PDF: the text and the picture of it, 1.5 to 3 thousand tokens with Claude. Scans take more bytes a page. */
const fileBytesPerPage = 65_536
const fileTokensPerPage = 2000

/** Files that are text, and the JSON of a kind of part that nobody described to us: prose. */
const textBytesPerToken = 4
const unknownPartTokens = 256

function imageTokens(media: Media, rule: ImageRule): number {
  const known = media.widthPixels > 0 && media.heightPixels > 0
  if (known) return roundedUp(rule.tokens(media.widthPixels, media.heightPixels, media.detail))
  const guess = roundedUp(rule.tokens(unknownEdgePixels, unknownEdgePixels, media.detail))
  if (media.detail === 'low' && rule.lowIsFixed) return guess
  return Math.max(unknownSizeTokens, guess, roundedUp(rule.unknownTokens ?? 0))
}

/** Rounded up; 4,050.0000001, which 2,500 times 1.62 is to the machine, is 4,050. */
function roundedUp(tokens: number): number {
  return Math.ceil(tokens - 1e-6)
}

/** How a family of models counts an image. */
type ImageRule = {
  /** Tokens of an image of this size in pixels; may be fractional. */
  readonly tokens: (width: number, height: number, detail: Media['detail']) => number
  /** Whether `detail: low` bounds the cost whatever the size. */
  readonly lowIsFixed: boolean
  /** What an image of unknown size is taken for at least, where large ones are not shrunk. */
  readonly unknownTokens?: number
}

/** The rule for a model; for one that is not known, the dearer of the common ways with a bound. */
function imageRuleOf(model: string): ImageRule {
  const { tiles, patches, pixels, grid, times } = familyOf(model) ?? unknown
  if (tiles !== undefined) return inTiles(tiles)
  if (patches !== undefined) return inPatches(patches, times)
  return pixels === undefined ? inGrid(grid) : byPixels(pixels)
}

/** The numbers of the way in which a family counts. */
type Row = {
  readonly pattern: string
  readonly tiles?: readonly number[]
  readonly patches?: readonly number[]
  readonly times?: number
  readonly pixels?: readonly number[]
  readonly grid?: readonly number[]
}

const familyOf = familyFinder<Row>(rows.images)

const unknown: Row = { pattern: '', grid: [28, 1, 1600] }

/** OpenAI's tiles: fitted into 2,048 square, the short side to 768, then so much a tile of 512 square. Low is the base alone. */
function inTiles([baseTokens = 0, tileTokens = 0]: readonly number[]): ImageRule {
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

/**
 * OpenAI's patches of 32 square, so many at most by `detail`: high, none, original. From gpt-5.6 on, an image without a
 * `detail` is not shrunk; above 30,000 patches it is refused.
 */
function inPatches([high = 0, auto = 0, original = 0]: readonly number[], multiplier = 1): ImageRule {
  const caps = { high, auto, original }
  return {
    lowIsFixed: true,
    tokens: (width, height, detail) =>
      multiplier *
      (detail === 'low'
        ? Math.min(lowPatches, cells(width, height, patchPixels))
        : patchesWithin(width, height, caps[detail])),
    ...(auto > shrunkPatches ? { unknownTokens: multiplier * shrunkPatches } : {}),
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
function byPixels([pixelsPerToken = 1, longEdgeMax = 0, tokensMax = 0]: readonly number[]): ImageRule {
  return {
    lowIsFixed: false,
    tokens: (width, height) => {
      const shrink = Math.min(1, longEdgeMax / Math.max(width, height))
      return Math.min(tokensMax, (width * shrink * (height * shrink)) / pixelsPerToken)
    },
  }
}

/** So much a cell of the image as it is, up to a number of cells. */
function inGrid([cellPixels = 1, tokensPerCell = 0, cellsMax = 0]: readonly number[] = []): ImageRule {
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

function cells(width: number, height: number, edge: number): number {
  // A shrunk edge of 1,024.0000001 pixels is 1,024.
  return along(width, edge) * along(height, edge)
}

/** Even a shred of an edge fills a cell. */
function along(pixelCount: number, edge: number): number {
  return Math.max(1, Math.ceil(pixelCount / edge - 1e-6))
}
