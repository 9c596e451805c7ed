/** A text that comes in pieces, however small: a list of a million pieces takes many times their characters. */
export type TextPieces = {
  readonly add: (piece: string) => void
  readonly joined: () => string
  readonly clear: () => void
}

export function createTextPieces(): TextPieces {
  const large: string[] = []
  let small: string[] = []
  return {
    add: (piece) => {
      small.push(piece)
      if (small.length < PIECES_MAX) return
      large.push(small.join(''))
      small = []
    },
    joined: () => [...large, ...small].join(''),
    clear: () => {
      large.length = 0
      small = []
    },
  }
}

// --- internal ---

/** So many are joined at a time. */
const PIECES_MAX = 1_024
