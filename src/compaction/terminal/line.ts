import { mojibakeLength } from './sequence.ts'
import { COLUMNS_MAX } from './screen-size.ts'
import { eastAsianWidth } from 'get-east-asian-width'

/** The column behind the last character, wherever that is: nobody needs to measure a text that only grows. */
export const BEHIND = -1

/** Where nothing sets others, tab stops are every eight columns: terminfo's `it#8`. */
export const TAB_COLUMNS = 8

/**
 * One line. As long as it is only written to at its end it is a text, kept to the byte; drawn over, it becomes
 * cells, one for each column. A character of several columns stands in its first, with nothing in the others;
 * so does a tab, which remains one until something is drawn into its place.
 */
export class Line {
  #text = ''
  #cells: string[] | null = null

  toString(): string {
    return this.#cells === null ? this.#text : this.#cells.join('').trimEnd()
  }

  /** Nothing will be drawn here any more: the cells, eight bytes a column, become a text. */
  settle(): number {
    this.#text = this.toString()
    this.#cells = null
    return this.#text.length
  }

  get columns(): number {
    return this.#measured().length
  }

  clear(): void {
    this.#text = ''
    this.#cells = null
  }

  /** Writes over what stands there; the column behind it. */
  write(column: number, text: string): number {
    if (this.#cells === null && (column === BEHIND || (column === 0 && this.#text === ''))) {
      this.#text += text
      return BEHIND
    }
    const cells = this.#measured()
    return place(cells, column === BEHIND ? cells.length : column, text)
  }

  erase(from: number, to: number): void {
    const cells = this.#measured()
    if (from >= cells.length || from >= to) return
    makeRoom(cells, from)
    if (to >= cells.length) {
      cells.length = from
      return
    }
    makeRoom(cells, to - 1)
    cells.fill(' ', from, to)
  }

  /** Blanks that move the rest to the right. A line longer than any terminal is none that a program edits. */
  insert(column: number, count: number): void {
    const cells = this.#measured()
    if (column >= cells.length || cells.length > COLUMNS_MAX) return
    if (cells[column] === '') makeRoom(cells, column)
    loseTabs(cells, column)
    cells.splice(column, 0, ...Array.from({ length: Math.min(count, COLUMNS_MAX) }, () => ' '))
    if (cells.length <= COLUMNS_MAX) return
    if (cells[COLUMNS_MAX] === '') makeRoom(cells, COLUMNS_MAX)
    cells.length = COLUMNS_MAX
  }

  /** Takes characters out; the rest moves to the left. */
  delete(column: number, count: number): void {
    const cells = this.#measured()
    if (column >= cells.length || cells.length > COLUMNS_MAX) return
    if (cells[column] === '') makeRoom(cells, column)
    if (cells[column + count] === '') makeRoom(cells, column + count)
    loseTabs(cells, column)
    cells.splice(column, count)
  }

  #measured(): string[] {
    if (this.#cells === null) {
      const cells: string[] = []
      place(cells, 0, this.#text)
      this.#cells = cells
      this.#text = ''
    }
    return this.#cells
  }
}

/** How many columns a character takes behind `before`: two for CJK and emoji, none for what joins it. */
export function columnsOf(character: string, before: string): 0 | 1 | 2 {
  const code = character.codePointAt(0) ?? 0
  if (code < 0x300) return 1
  if (joinsEmoji(character, code, before)) return 0
  const known = columnsKnown[code]
  if (known !== undefined && known !== UNKNOWN) return known === 0 || known === 2 ? known : 1
  const columns = joins.test(character) ? 0 : eastAsianWidth(code)
  columnsKnown[code] = columns
  return columns
}

// --- internal ---

/** Writes a text into the cells from `start` on; the column behind it. */
function place(cells: string[], start: number, text: string): number {
  let column = start
  let before = ''
  for (let index = 0; index < text.length;) {
    const character = characterAt(text, index)
    index += character.length
    if (character === '\t') column = placeTab(cells, column)
    else column = placeCharacter(cells, column, character, columnsOf(character, before))
    before = character
  }
  return column
}

/** One character: a code point, or a whole one in the wrong encoding, so that drawing does not tear it apart. */
function characterAt(text: string, index: number): string {
  const code = text.charCodeAt(index)
  if (code >= 0xc2 && code <= 0xf4) return text.slice(index, index + (mojibakeLength(text, index) || 1))
  const isHighSurrogate = code >= 0xd800 && code <= 0xdbff
  return isHighSurrogate ? String.fromCodePoint(text.codePointAt(index) ?? code) : text.charAt(index)
}

function placeCharacter(cells: string[], column: number, character: string, columns: 0 | 1 | 2): number {
  while (cells.length < column) cells.push(' ')
  if (columns === 0 && column > 0) {
    let head = column - 1
    while (cells[head] === '') head -= 1
    cells[head] += character
    return column
  }
  makeRoom(cells, column)
  cells[column] = character
  if (columns !== 2) return column + 1
  makeRoom(cells, column + 1)
  cells[column + 1] = ''
  return column + 2
}

/** Behind the end a tab is written as such; over what stands there it only moves the cursor. */
function placeTab(cells: string[], column: number): number {
  const stop = nextTabStop(column)
  if (column < cells.length) return stop
  while (cells.length < column) cells.push(' ')
  cells.push('\t')
  while (cells.length < stop) cells.push('')
  return stop
}

export function nextTabStop(column: number): number {
  return column - (column % TAB_COLUMNS) + TAB_COLUMNS
}

/** A tab that is moved would end at another column than its blanks do. */
function loseTabs(cells: string[], from: number): void {
  for (let tab = cells.indexOf('\t', from); tab !== -1; tab = cells.indexOf('\t', tab)) {
    makeRoom(cells, tab)
    cells[tab] = ' '
  }
}

/** A character of several columns that loses one of them is gone: the others are blank. */
function makeRoom(cells: string[], column: number): void {
  if (column >= cells.length || (cells[column] !== '' && cells[column + 1] !== '')) return
  let head = column
  while (cells[head] === '') head -= 1
  let end = head + 1
  while (cells[end] === '') end += 1
  cells.fill(' ', head, end)
}

/** The columns of the characters below U+10000 that were met so far: two tables for each letter of a text are slow. */
const columnsKnown = new Uint8Array(0x1_0000).fill(0xff)
const UNKNOWN = 0xff

/**
 * Marks drawn over the character before (Mn, Me), joiners and direction marks that show nothing, variation
 * selectors, and the vowels and finals of Hangul syllables: what wcwidth counts as zero. The soft hyphen is
 * not among them: terminals show it.
 */
const joins = /^[\p{Mn}\p{Me}\u{200b}-\u{200f}\u{202a}-\u{202e}\u{2060}-\u{2064}\u{feff}\u{1160}-\u{11ff}]/u

const ZERO_WIDTH_JOINER = '\u200d'

/** A family is several emoji with joiners between them, a skin tone follows its hand: one picture of two columns. */
function joinsEmoji(character: string, code: number, before: string): boolean {
  if (before === ZERO_WIDTH_JOINER) return /^\p{Extended_Pictographic}/u.test(character)
  return code >= 0x1f3fb && code <= 0x1f3ff && /^\p{Emoji_Modifier_Base}/u.test(before)
}
