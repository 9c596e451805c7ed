import type { Media } from '../conversation/message.ts'
import { familyFinder, modelName } from './tokenizer-families.ts'
import rows from './model-families.json' with { type: 'json' }

/**
 * What a part that is no text costs, in tokens of the model's own provider. Goes by pixels and bytes, never by the length of
 * the base64 text; where a size is unknown it errs on the side of too much.
 */
export function mediaTokens(media: Media, model: string): number {
  const { kind, dataBytes, seconds, isText } = media
  if (kind === 'image') return imageTokens(media, familyOf(model) ?? unknown)
  if (kind === 'file' && isText === true) return Math.ceil(dataBytes / textBytesPerToken)
  if (dataBytes === 0) return kind === 'other' ? unknownPartTokens : unknownSizeTokens
  switch (kind) {
    case 'audio':
      return Math.ceil((seconds || dataBytes / audioBytesPerSecond) * audioTokensPerSecond(model))
    case 'video':
      return Math.ceil((dataBytes / videoBytesPerSecond) * videoTokensPerSecond)
    case 'file':
      return Math.ceil(dataBytes / fileBytesPerPage) * fileTokensPerPage
    case 'other':
      return Math.ceil(dataBytes / textBytesPerToken)
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

function imageTokens({ widthPixels, heightPixels, detail }: Media, rule: Row): number {
  if (widthPixels > 0 && heightPixels > 0)
    return roundedUp(tokensOfSize(rule, widthPixels, heightPixels, detail))
  const guess = roundedUp(tokensOfSize(rule, unknownEdgePixels, unknownEdgePixels, detail))
  const { tiles, patches, times = 1 } = rule
  // OpenAI's `low` bounds the cost whatever the size.
  if (detail === 'low' && (tiles ?? patches) !== undefined) return guess
  // From gpt-5.6 on, an image without a `detail` is not shrunk; above 30,000 patches it is refused.
  const isUnbounded = (patches?.[1] ?? 0) > shrunkPatches
  return Math.max(unknownSizeTokens, guess, isUnbounded ? roundedUp(times * shrunkPatches) : 0)
}

/** Rounded up; 4,050.0000001, which 2,500 times 1.62 is to the machine, is 4,050. */
function roundedUp(tokens: number): number {
  return Math.ceil(tokens - 1e-6)
}

/** How a family of models counts an image: the numbers of one of four ways. */
type Row = {
  readonly pattern: string
  /** OpenAI's tiles: what every image costs, and what each tile does. */
  readonly tiles?: readonly number[]
  /** OpenAI's patches: so many at most by `detail` (high, none, original), each so many `times` a token. */
  readonly patches?: readonly number[]
  readonly times?: number
  /** A price by the pixel: pixels a token, after the long edge was fitted to so many; and the most that an image costs. */
  readonly pixels?: readonly number[]
  /** So much a cell of the image as it is: the cell's edge in pixels, its tokens, and a number of cells at most. */
  readonly grid?: readonly number[]
}

const familyOf = familyFinder<Row>(rows.images)

/** For a model that is not known, the dearer of the common ways with a bound. */
const unknown: Row = { pattern: '', grid: [28, 1, 1600] }

/** Tokens of an image of this size in pixels; may be fractional. */
function tokensOfSize(
  { tiles, patches, times = 1, pixels, grid = [] }: Row,
  width: number,
  height: number,
  detail: Media['detail'],
): number {
  if (tiles !== undefined) return tileTokens(tiles, width, height, detail)
  if (patches !== undefined) {
    const [high = 0, auto = 0, original = 0] = patches
    if (detail === 'low') return times * Math.min(lowPatches, cells(width, height, patchPixels))
    return times * patchesWithin(width, height, { high, auto, original }[detail])
  }
  if (pixels !== undefined) {
    const [pixelsPerToken = 1, longEdgeMax = 0, tokensMax = 0] = pixels
    const shrink = Math.min(1, longEdgeMax / Math.max(width, height))
    return Math.min(tokensMax, (width * shrink * (height * shrink)) / pixelsPerToken)
  }
  const [cellPixels = 1, tokensPerCell = 0, cellsMax = 0] = grid
  return tokensPerCell * Math.min(cellsMax, cells(width, height, cellPixels))
}

/** Fitted into 2,048 square, the short side to 768, then so much a tile of 512 square. Low is the base alone. */
function tileTokens(
  [baseTokens = 0, tokensPerTile = 0]: readonly number[],
  width: number,
  height: number,
  detail: Media['detail'],
): number {
  if (detail === 'low') return baseTokens
  const fit = Math.min(1, 2048 / Math.max(width, height))
  const shrink = fit * Math.min(1, 768 / (fit * Math.min(width, height)))
  return baseTokens + tokensPerTile * cells(width * shrink, height * shrink, 512)
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
