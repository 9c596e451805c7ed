import type { Media } from '../conversation/message.ts'
import { familyFinder } from './families.ts'
import rows from './model-families.json' with { type: 'json' }

/** How a family of models counts an image. */
export type ImageRule = {
  /** Tokens of an image of this size in pixels; may be fractional. */
  readonly tokens: (width: number, height: number, detail: Media['detail']) => number
  /** Whether `detail: low` bounds the cost whatever the size. */
  readonly lowIsFixed: boolean
  /** What an image of unknown size is taken for at least, where large ones are not shrunk. */
  readonly unknownTokens?: number
}

/** The rule for a model; for one that is not known, the dearer of the common ways with a bound. */
export function imageRuleOf(model: string): ImageRule {
  const { tiles, patches, pixels, grid, times } = familyOf(model) ?? unknown
  if (tiles !== undefined) return inTiles(tiles)
  if (patches !== undefined) return inPatches(patches, times)
  return pixels === undefined ? inGrid(grid) : byPixels(pixels)
}

// --- internal ---

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
