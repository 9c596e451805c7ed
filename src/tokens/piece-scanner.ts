import { classCount, classOf, knownClasses } from './character-classes.ts'
import { blanksState, endsAfter, endsBefore, isWord, startState, type PieceGrammar } from './piece-grammar.ts'

/** Cuts a text into the pieces in which an encoding merges bytes. One scanner reads one text, piece by piece. */
export type PieceScanner = {
  /** Where the current piece starts and ends, in UTF-16 units. */
  start: number
  end: number
  /** False if the piece may hold a character above U+007F. */
  ascii: boolean
  /**
   * Moves to the next piece, or does a bounded part of that. `piece`: there is one; `more`: call again, the piece is long;
   * `end`: there is no further one.
   */
  readonly step: () => 'piece' | 'more' | 'end'
}

/** Characters read at most in one `step`; a bound on how long a piece can hold up others. */
const stepCharacters = 32_768

const apostrophe = 0x27

export function scanPieces(text: string, grammar: PieceGrammar): PieceScanner {
  const { next, ends } = grammar
  const length = text.length
  // Where reading goes on inside a piece, and in which state; `startState` where no piece is begun.
  let position = 0
  let state = startState
  let seenUnits = 0

  const scanner: PieceScanner = {
    start: 0,
    end: 0,
    ascii: true,
    step: () => {
      if (state === startState) {
        if (scanner.end >= length) return 'end'
        scanner.start = scanner.end
        position = scanner.end
        seenUnits = 0
        if (grammar.contractions === 'apart') {
          const contracted = contractionLength(text, position)
          if (contracted > 0) return pieceUpTo(position + contracted)
        }
      }
      const stop = Math.min(length, position + stepCharacters)
      let end = scanner.end
      while (position < stop) {
        const unit = text.charCodeAt(position)
        let width = 1
        let characterClass = knownClasses[unit] ?? 0
        // Surrogates are never entered in the table of code units: each is looked at with its neighbour.
        if (characterClass === 0) {
          const codePoint = text.codePointAt(position) ?? unit
          if (codePoint > 0xffff) width = 2
          characterClass = classOf(codePoint)
        }
        const following = next[state * classCount + characterClass] ?? 0
        if (following === 0) return pieceUpTo(end)
        state = following
        seenUnits |= unit
        const ending = ends[state]
        if (ending === endsAfter) end = position + width
        else if (ending === endsBefore) end = position
        position += width
      }
      scanner.end = end
      if (position < length) return 'more'
      return pieceUpTo(state === blanksState ? length : end)
    },
  }

  function pieceUpTo(end: number): 'piece' {
    const contracted = grammar.contractions === 'attached' && isWord(state) ? contractionLength(text, end) : 0
    scanner.end = end + contracted
    scanner.ascii = seenUnits < 0x80
    state = startState
    return 'piece'
  }

  return scanner
}

// --- internal ---

/** Length of the contraction that stands at `at` (`'s`, `'LL` …), 0 where there is none. ASCII only, as in the patterns. */
function contractionLength(text: string, at: number): number {
  if (text.charCodeAt(at) !== apostrophe) return 0
  const first = text[at + 1]?.toLowerCase() ?? ''
  if (first === 's' || first === 't' || first === 'm' || first === 'd') return 2
  const both = first + (text[at + 2]?.toLowerCase() ?? '')
  return both === 're' || both === 've' || both === 'll' ? 3 : 0
}
