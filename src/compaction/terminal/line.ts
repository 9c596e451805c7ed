import { eastAsianWidth } from 'get-east-asian-width'

/** No terminal is wider. Longer lines are not edited in their middle, or one sequence could cost as much as a text. */
export const COLUMNS_MAX = 500

/**
 * One line. As long as it is only written to at its end it is a text, kept to the byte; drawn over, it becomes cells, one
 * for each column. A character of two columns stands in the first of them, with nothing in the other; a tab becomes blanks.
 */
export class Line {
  #text = ''
  #cells: string[] | null = null
  #textColumns = 0

  toString(): string {
    return this.#cells === null ? this.#text : this.#cells.join('').trimEnd()
  }

  /** Nothing will be drawn here any more: the cells, eight bytes a column, become a text. Its length. */
  settle(): number {
    this.#text = this.toString()
    this.#cells = null
    return this.#text.length
  }

  get columns(): number {
    return this.#cells?.length ?? this.#textColumns
  }

  /** Writes over what stands there; the column behind it. */
  write(column: number, text: string): number {
    if (this.#cells === null && column === this.#textColumns) {
      this.#text += text
      this.#textColumns = columnBehind(column, text)
      return this.#textColumns
    }
    return this.#draw(this.#measured(), column, text)
  }

  erase(from: number, to: number): void {
    if (from >= this.columns || from >= to) return
    if (from === 0 && to >= this.columns) {
      this.#text = ''
      this.#cells = null
      this.#textColumns = 0
      return
    }
    const cells = this.#measured()
    makeRoom(cells, from)
    if (to < cells.length) {
      makeRoom(cells, to - 1)
      cells.fill(' ', from, to)
    } else cells.length = from
  }

  /** Blanks that move the rest to the right. */
  insert(column: number, count: number): void {
    if (column >= this.columns || this.columns > COLUMNS_MAX) return
    const cells = this.#measured()
    if (cells[column] === '') makeRoom(cells, column)
    cells.splice(column, 0, ...Array.from({ length: Math.min(count, COLUMNS_MAX) }, () => ' '))
  }

  /** Takes characters out; the rest moves to the left. */
  delete(column: number, count: number): void {
    if (column >= this.columns || this.columns > COLUMNS_MAX) return
    const cells = this.#measured()
    for (const end of [column, column + count]) if (cells[end] === '') makeRoom(cells, end)
    cells.splice(column, count)
  }

  #measured(): string[] {
    if (this.#cells === null) {
      this.#cells = []
      this.#draw(this.#cells, 0, this.#text)
    }
    return this.#cells
  }

  #draw(cells: string[], start: number, text: string): number {
    let column = start
    while (cells.length < column) cells.push(' ')
    for (const character of text) {
      const behind = columnBehind(column, character)
      if (character === '\t') {
        while (cells.length < behind) cells.push(' ')
      } else if (behind === column) {
        let head = Math.max(0, column - 1)
        while (head > 0 && cells[head] === '') head -= 1
        cells[head] = (cells[head] ?? '') + character
      } else {
        for (let taken = column; taken < behind; taken += 1) {
          makeRoom(cells, taken)
          cells[taken] = taken === column ? character : ''
        }
      }
      column = behind
    }
    return column
  }
}

// --- internal ---

/** Tab stops are every eight columns: terminfo's `it#8`. */
const TAB_COLUMNS = 8

/** The column behind a text that is written at a column. */
function columnBehind(start: number, text: string): number {
  if (/^[ -~]*$/.test(text)) return start + text.length
  let column = start
  for (const character of text)
    column += character === '\t' ? TAB_COLUMNS - (column % TAB_COLUMNS) : columnsOf(character)
  return column
}

/** How many columns a character takes: two for CJK and emoji, none for what joins the one before, as wcwidth has it. */
function columnsOf(character: string): number {
  const code = character.codePointAt(0) ?? 0
  if (code < 0x300) return 1
  const known = columnsKnown[code] ?? UNKNOWN
  if (known !== UNKNOWN) return known
  const columns = joins.test(character) ? 0 : eastAsianWidth(code)
  columnsKnown[code] = columns
  return columns
}

/** The columns of the characters that were met so far: two tables for each letter of a text are slow. */
const columnsKnown = new Uint8Array(0x11_0000).fill(0xff)
const UNKNOWN = 0xff

/**
 * Marks drawn over the character before (Mn, Me), joiners and direction marks that show nothing, variation
 * selectors, and the vowels and finals of Hangul syllables.
 */
const joins = /^[\p{Mn}\p{Me}\u{200b}-\u{200f}\u{202a}-\u{202e}\u{2060}-\u{2064}\u{feff}\u{1160}-\u{11ff}]/u

/** A character of two columns that loses one of them is gone: the other is blank. */
function makeRoom(cells: string[], column: number): void {
  if (column >= cells.length || (cells[column] !== '' && cells[column + 1] !== '')) return
  const head = cells[column] === '' ? column - 1 : column
  cells.fill(' ', head, head + 2)
}
