import {
  blank,
  classCount,
  digit,
  either,
  lower,
  mark,
  newline,
  otherSpace,
  sign,
  slash,
  upper,
} from './character-classes.ts'

/**
 * A split pattern as a table of states. Regular expressions would split the same way, but cannot pause, and keep one
 * backtracking entry a character: a long run of letters would stop the process or overflow the engine's stack.
 */
export type PieceGrammar = {
  /** `next[state * classCount + class]`; 0 ends the piece before that character. */
  readonly next: Uint8Array
  /** What being in a state says about the piece's end: one of the `ends…` values. */
  readonly ends: Uint8Array
  /** `'s`, `'ll` …: a piece of their own, the end of the word they follow, or a sign and a word like others. */
  readonly contractions: 'apart' | 'attached' | 'none'
}

/**
 * How text is cut before it is merged. `own`: as the rank file says; `digits`: the same with each digit a piece of its own;
 * `apart`: signs and line ends, too, stand apart from words and from each other, as in SentencePiece vocabularies.
 */
export type Cut = 'own' | 'digits' | 'apart'

export const startState = 1
/** Blanks without a newline: at the end of the text they belong together (`\s+(?!\S)`). */
export const blanksState = 12

/** The piece cannot end here; its end stays where it was. */
const endsNot = 0
/** The piece may end after the character just read. */
export const endsAfter = 1
/** The piece may end before it: the last blank belongs to what follows. */
export const endsBefore = 2

/** The grammar of a rank file's `pat_str`, cut otherwise where asked; null for a pattern that was not taken apart here. */
export function grammarOf(pattern: string, cut: Cut = 'own'): PieceGrammar | null {
  if (pattern === o200kPattern) return o200kGrammars[cut]
  if (pattern === cl100kPattern && cut === 'own') return cl100kGrammar
  return null
}

/** Whether a contraction may follow a piece that stopped in this state. */
export function isWord(state: number): boolean {
  return state >= capitals && state <= smallLetters
}

// --- internal ---

const anyContraction = "('s|'S|'t|'T|'re|'rE|'Re|'RE|'ve|'vE|'Ve|'VE|'m|'M|'ll|'lL|'Ll|'LL|'d|'D)"
const o200kPattern = [
  String.raw`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+${anyContraction}?`,
  String.raw`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*${anyContraction}?`,
  String.raw`\p{N}{1,3}`,
  String.raw` ?[^\s\p{L}\p{N}]+[\r\n/]*`,
  String.raw`\s*[\r\n]+`,
  String.raw`\s+(?!\S)`,
  String.raw`\s+`,
].join('|')
const cl100kPattern = [
  anyContraction,
  String.raw`[^\r\n\p{L}\p{N}]?\p{L}+`,
  String.raw`\p{N}{1,3}`,
  String.raw` ?[^\s\p{L}\p{N}]+[\r\n]*`,
  String.raw`\s*[\r\n]+`,
  String.raw`\s+(?!\S)`,
  String.raw`\s+`,
].join('|')

// States. Capitals so far; capitals after a letter of either case, where a piece that must end in a small letter may
// have to fall back to; small letters; digits; the first sign, which may still be the head of a word; signs; what
// follows signs; one blank; one other space; blanks; newlines; blanks after newlines.
const capitals = 2
const eitherCase = 3
const capitalsAfter = 4
const smallLetters = 5
const digit1 = 6
const digit2 = 7
const digit3 = 8
const firstSign = 9
const signs = 10
const afterSigns = 11
const blanks = blanksState
const oneBlank = 13
const oneSpace = 14
const newlines = 15
const blanksAfterNewline = 16
const stateCount = 17

type Row = readonly [state: number, ends: number, next: Readonly<Record<number, number>>]

// `X?[U]*[L]+` and `X?[U]+[L]*` in one pass. Marks count as letters of either case.
const cased = { [upper]: capitals, [lower]: smallLetters, [either]: eitherCase, [mark]: eitherCase }
const uncased = { [upper]: smallLetters, [lower]: smallLetters, [either]: smallLetters }
const moreBlanks = { [blank]: blanks, [otherSpace]: blanks, [newline]: newlines }

const upToThreeDigits: readonly Row[] = [
  [digit1, endsAfter, { [digit]: digit2 }],
  [digit2, endsAfter, { [digit]: digit3 }],
  [digit3, endsAfter, {}],
]
const oneDigit: readonly Row[] = [[digit1, endsAfter, {}]]
const moreSigns = { [sign]: signs, [slash]: signs, [mark]: signs }
const signsAndLineEnds: Row = [signs, endsAfter, { ...moreSigns, [newline]: afterSigns }]
const blankRuns: readonly Row[] = [
  [blanks, endsBefore, moreBlanks],
  [
    newlines,
    endsAfter,
    { [newline]: newlines, [blank]: blanksAfterNewline, [otherSpace]: blanksAfterNewline },
  ],
  [
    blanksAfterNewline,
    endsNot,
    { [newline]: newlines, [blank]: blanksAfterNewline, [otherSpace]: blanksAfterNewline },
  ],
]
const starts = {
  [digit]: digit1,
  [newline]: newlines,
  [blank]: oneBlank,
  [otherSpace]: oneSpace,
  [slash]: firstSign,
  [sign]: firstSign,
}

const casedWords: readonly Row[] = [
  [startState, endsNot, { ...starts, ...cased }],
  [capitals, endsAfter, cased],
  [eitherCase, endsAfter, { ...cased, [upper]: capitalsAfter }],
  [capitalsAfter, endsNot, { ...cased, [upper]: capitalsAfter }],
  [smallLetters, endsAfter, { [lower]: smallLetters, [either]: smallLetters, [mark]: smallLetters }],
  [oneBlank, endsAfter, { ...cased, ...moreBlanks, [sign]: signs, [slash]: signs }],
]
const o200kRows: readonly Row[] = [
  ...blankRuns,
  ...casedWords,
  signsAndLineEnds,
  [firstSign, endsAfter, { ...cased, [sign]: signs, [slash]: signs, [newline]: afterSigns }],
  [afterSigns, endsAfter, { [newline]: afterSigns, [slash]: afterSigns }],
  [oneSpace, endsAfter, { ...cased, ...moreBlanks }],
]

const o200kGrammars: Readonly<Record<Cut, PieceGrammar>> = {
  own: grammar('attached', [...upToThreeDigits, ...o200kRows]),
  digits: grammar('attached', [...oneDigit, ...o200kRows]),
  apart: grammar('none', [
    ...oneDigit,
    ...blankRuns,
    ...casedWords,
    [signs, endsAfter, moreSigns],
    [firstSign, endsAfter, moreSigns],
    [oneSpace, endsAfter, moreBlanks],
  ]),
}

const cl100kGrammar = grammar('apart', [
  ...upToThreeDigits,
  ...blankRuns,
  signsAndLineEnds,
  [startState, endsNot, { ...starts, ...uncased, [mark]: firstSign }],
  [smallLetters, endsAfter, uncased],
  [firstSign, endsAfter, { ...uncased, [sign]: signs, [slash]: signs, [mark]: signs, [newline]: afterSigns }],
  [afterSigns, endsAfter, { [newline]: afterSigns }],
  [oneBlank, endsAfter, { ...uncased, ...moreBlanks, [sign]: signs, [slash]: signs, [mark]: signs }],
  [oneSpace, endsAfter, { ...uncased, ...moreBlanks }],
])

function grammar(contractions: PieceGrammar['contractions'], rows: readonly Row[]): PieceGrammar {
  const next = new Uint8Array(stateCount * classCount)
  const ends = new Uint8Array(stateCount)
  for (const [state, end, targets] of rows) {
    ends[state] = end
    for (const [characterClass, target] of Object.entries(targets))
      next[state * classCount + Number(characterClass)] = target
  }
  return { next, ends, contractions }
}
