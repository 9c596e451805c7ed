import { BEHIND, Line, nextTabStop, TAB_COLUMNS } from './line.ts'
import { COLUMNS_MAX, type ScreenSize } from './screen-size.ts'

/**
 * A screen at the end of a log: the last rows can be drawn on, the lines above it have scrolled off and stay.
 * Rows are counted from the beginning of the log. They come into being when something is written on them. There
 * is no right edge for what is printed (a log does not say where its lines would wrap), only for movement.
 */
export class Screen {
  readonly #size: ScreenSize
  /** A row on which nothing stands is undefined: scrolling a screen a million times makes no million screens. */
  #lines: (Line | undefined)[] = []
  #top = 0
  #row = 0
  #column = 0
  #saved: { readonly row: number; readonly column: number } | null = null
  /** The rows that scroll, counted from the top. DECSTBM. */
  #margins: { readonly first: number; readonly last: number }
  #settledLength = 0
  insertMode = false

  constructor(size: ScreenSize) {
    this.#size = size
    this.#margins = { first: 0, last: size.rows - 1 }
  }

  /** The length of what has scrolled off: nothing makes it shorter. */
  get settledLength(): number {
    return this.#settledLength
  }

  toString(): string {
    return this.#lines.join('\n')
  }

  print(text: string): void {
    if (!this.insertMode) {
      this.#column = this.#line(this.#row).write(this.#column, text)
      return
    }
    // What is inserted moves the rest to the right; a tab only moves the cursor.
    for (const [index, piece] of text.split('\t').entries()) {
      if (index > 0) this.moveByTabs(1)
      if (piece !== '') this.#insert(piece)
    }
  }

  /** Up to the right edge: what a terminal does with the rest depends on its width. */
  repeat(character: string, count: number): void {
    const room = Math.max(0, this.#size.columns - this.column)
    if (room > 0) this.print(character.repeat(Math.min(count, room)))
  }

  /** Of the screen. */
  get row(): number {
    return this.#row - this.#top
  }

  get column(): number {
    return this.#column === BEHIND ? (this.#existing()?.columns ?? 0) : this.#column
  }

  carriageReturn(): void {
    this.#column = 0
  }

  backspace(): void {
    this.#column = Math.max(0, this.column - 1)
  }

  /** Text is written behind the right edge, and the cursor may stand there; it is only not moved there. */
  moveToColumn(column: number): void {
    const now = this.column
    this.#column = Math.max(0, Math.min(column, Math.max(now, this.#size.columns - 1)))
  }

  moveByColumns(count: number): void {
    this.moveToColumn(this.column + count)
  }

  moveByTabs(count: number): void {
    let column = this.column
    for (let left = Math.min(count, this.#size.columns); left > 0; left -= 1) column = nextTabStop(column)
    this.moveToColumn(column)
  }

  moveBackByTabs(count: number): void {
    const stops = Math.ceil(this.column / TAB_COLUMNS)
    this.#column = Math.max(0, stops - count) * TAB_COLUMNS
  }

  /** To a row of the screen. */
  moveToRow(row: number): void {
    this.#moveTo(this.#top + Math.min(row, this.#size.rows - 1))
  }

  /** Within the margins, if it stands within them: xterm's CUU and CUD. */
  moveByRows(count: number): void {
    const first = this.#row >= this.#first ? this.#first : this.#top
    const last = this.#row <= this.#last ? this.#last : this.#bottom
    this.#moveTo(Math.max(first, Math.min(last, this.#row + count)))
  }

  save(): void {
    this.#saved = { row: this.#row, column: this.column }
  }

  /** Where nothing was saved it stays, for a log may be the rest of a longer one. */
  restore(): void {
    if (this.#saved === null) return
    this.#moveTo(Math.max(this.#top, this.#saved.row))
    this.#column = this.#saved.column
  }

  /** A new line: one more at the end, or scrolling between the margins. `\n` comes without `\r` in a log. */
  lineFeed(): void {
    this.carriageReturn()
    this.index()
  }

  /** One down, scrolling where there is no further down: IND. */
  index(): void {
    const { column } = this
    if (this.#row === this.#last && this.#first > this.#top) this.#scrollUp(this.#first, this.#last, 1)
    else if (this.#row === this.#last) {
      this.#reach(this.#row)
      if (this.#lines.length > this.#row + 1) this.#lines.splice(this.#row + 1, 0, undefined)
      this.#row += 1
      this.#settledLength += 1 + (this.#lines[this.#top]?.settle() ?? 0)
      this.#top += 1
    } else if (this.#row < this.#bottom) this.#row += 1
    this.#reach(this.#row)
    this.#column = column
  }

  /** One up, scrolling down at the upper margin: RI. */
  reverseIndex(): void {
    if (this.#row === this.#first) this.#scrollDown(this.#first, this.#last, 1)
    else this.moveByRows(-1)
  }

  setMargins(first: number, last: number): void {
    const bottom = this.#size.rows - 1
    const end = last < 0 || last > bottom ? bottom : last
    if (first >= end) return
    this.#margins = { first, last: end }
    this.moveToRow(0)
    this.carriageReturn()
  }

  resetModes(): void {
    this.#saved = { row: this.#top, column: 0 }
    this.#margins = { first: 0, last: this.#size.rows - 1 }
    this.insertMode = false
  }

  scrollUp(count: number): void {
    this.#scrollUp(this.#first, this.#last, count)
  }

  scrollDown(count: number): void {
    this.#scrollDown(this.#first, this.#last, count)
  }

  insertLines(count: number): void {
    if (this.#row < this.#first || this.#row > this.#last) return
    this.#scrollDown(this.#row, this.#last, count)
    this.carriageReturn()
  }

  deleteLines(count: number): void {
    if (this.#row < this.#first || this.#row > this.#last) return
    this.#scrollUp(this.#row, this.#last, count)
    this.carriageReturn()
  }

  insertBlanks(count: number): void {
    this.#column = this.column
    this.#existing()?.insert(this.#column, count)
  }

  deleteCharacters(count: number): void {
    this.#column = this.column
    this.#existing()?.delete(this.#column, count)
  }

  /** So many characters from the cursor on: ECH, and EL 0. */
  eraseCharacters(count: number): void {
    if (this.#column === BEHIND) return
    const end = count > COLUMNS_MAX ? Infinity : this.#column + count
    if (this.#column === 0 && end === Infinity) this.#existing()?.clear()
    else this.#existing()?.erase(this.#column, end)
  }

  /** Up to the cursor and with it: EL 1. Of a line longer than any terminal only what would be its last row. */
  eraseLineStart(): void {
    const { column } = this
    this.#existing()?.erase(Math.max(0, column + 1 - COLUMNS_MAX), column + 1)
    this.#column = column
  }

  eraseLine(): void {
    const { column } = this
    this.#existing()?.clear()
    this.#column = column
  }

  /** Everything below: ED 0. */
  eraseBelow(): void {
    this.eraseCharacters(Infinity)
    this.#lines.length = Math.min(this.#lines.length, this.#row + 1)
  }

  /** Everything above: ED 1. */
  eraseAbove(): void {
    for (let row = this.#top; row < this.#row && row < this.#lines.length; row += 1)
      this.#lines[row] = undefined
    this.eraseLineStart()
  }

  /** The screen; what has scrolled off stays. ED 2. */
  eraseScreen(): void {
    const { column } = this
    this.#lines.length = Math.min(this.#lines.length, this.#top)
    this.#column = column
  }

  get #bottom(): number {
    return this.#top + this.#size.rows - 1
  }

  get #first(): number {
    return this.#top + this.#margins.first
  }

  get #last(): number {
    return this.#top + this.#margins.last
  }

  #moveTo(row: number): void {
    if (row === this.#row) return
    this.#column = this.column
    this.#row = row
  }

  #existing(): Line | undefined {
    return this.#lines[this.#row]
  }

  #line(row: number): Line {
    this.#reach(row)
    const line = this.#lines[row] ?? new Line()
    this.#lines[row] = line
    return line
  }

  #insert(text: string): void {
    const line = this.#line(this.#row)
    if (this.column < line.columns) {
      const inserted = new Line()
      inserted.write(0, text)
      line.insert(this.column, inserted.columns)
    }
    this.#column = line.write(this.#column, text)
  }

  /** The row is there, with all above it. */
  #reach(row: number): void {
    while (this.#lines.length <= row) this.#lines.push(undefined)
  }

  /** Lines go at `first`, blank ones come at `last`; what stands below stays. */
  #scrollUp(first: number, last: number, count: number): void {
    this.#column = this.column
    const lines = this.#lines
    const end = Math.min(lines.length, last + 1)
    for (let row = first; row < end; row += 1) lines[row] = row + count < end ? lines[row + count] : undefined
    if (lines.length === end) lines.length = Math.min(end, Math.max(first, end - count))
  }

  /** Blank lines come at `first`, lines go at `last`. */
  #scrollDown(first: number, last: number, count: number): void {
    if (first >= this.#lines.length) return
    this.#column = this.column
    const lines = this.#lines
    this.#reach(Math.min(last, lines.length - 1 + count))
    for (let row = Math.min(last, lines.length - 1); row >= first; row -= 1)
      lines[row] = row - count >= first ? lines[row - count] : undefined
  }
}
