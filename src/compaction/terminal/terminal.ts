import { COLUMNS_MAX, Line } from './line.ts'

/** How large a screen is taken to be. */
export type ScreenSize = { readonly rows: number; readonly columns: number }

/**
 * The screen that a text was written for. A log does not say, but whoever draws has asked the terminal for its
 * size and addresses only what is there: so it is the smallest screen, of at least 24 rows and 80 columns, that
 * holds every row, column and distance named in the text. Too large a guess would let "clear the screen" erase
 * lines that had scrolled off; too small a one would draw a program's lower rows over one another.
 */
export function screenSizeOf(text: string): ScreenSize {
  let { rows, columns } = { rows: 24, columns: 80 }
  for (const [, first = '1', second = '1', final = ''] of text.matchAll(addressed)) {
    const [row, column] = [Number(first), Number(second)]
    // The row and the column that must be there, counted from one: what a distance leads to is one further.
    if (final === 'H' || final === 'f') grow(row, column)
    else if (final === 'd') grow(row, 1)
    else if (final === 'A' || final === 'F') grow(row + 1, 1)
    else grow(1, final === 'C' ? row + 1 : row)
  }
  return { rows, columns }

  function grow(row: number, column: number): void {
    if (row <= ROWS_MAX) rows = Math.max(rows, row)
    if (column <= COLUMNS_MAX) columns = Math.max(columns, column)
  }
}

/**
 * A terminal at the end of a log: the last rows can be drawn on, the lines above them have scrolled off and stay. Rows are
 * counted from the beginning of the log, and come into being when something is written on them. There is no right edge for
 * what is printed (a log does not say where its lines would wrap), only for movement.
 */
export class Terminal {
  readonly #size: ScreenSize
  #screen: Screen
  /** The main screen, while a full-screen program draws on the alternate one. */
  #main: Screen | null = null

  constructor(size: ScreenSize) {
    this.#size = size
    this.#screen = emptyScreen()
  }

  /** The length of what has scrolled off: nothing makes it shorter. */
  get settledLength(): number {
    return this.#screen.settledLength
  }

  /**
   * What a full-screen program drew is gone when it leaves. Where the text ends while one is running (it was
   * cut off or killed), its screen stands below the main one: nothing that followed it may be lost.
   */
  toString(): string {
    const shown = this.#screen.lines.join('\n')
    const above = this.#main?.lines.join('\n') ?? ''
    if (this.#main === null) return shown
    return above === '' || above.endsWith('\n') ? above + shown.trimEnd() : `${above}\n${shown}`.trimEnd()
  }

  print(text: string): void {
    const screen = this.#screen
    this.#reach(screen.row)
    const line = screen.lines[screen.row] ?? new Line()
    screen.lines[screen.row] = line
    screen.column = line.write(screen.column, text)
  }

  /**
   * A control character, an escape by what follows it, or a control sequence by its marker and its final character, such as
   * `[?h`: ECMA-48, and xterm's ctlseqs. What is not listed shows nothing: colours, modes, questions.
   */
  perform(name: string, parameters: readonly number[]): void {
    const screen = this.#screen
    const { row, column } = screen
    const line = screen.lines[row]
    const [part = 0, second = 0] = parameters
    // A parameter that is missing or zero is one: ctlseqs, "default = 1".
    const count = Math.max(1, part)
    switch (name) {
      case '\b':
        screen.column = Math.max(0, column - 1)
        break
      case '\r':
        screen.column = 0
        break
      case '\n': // It comes without a carriage return in a log.
      case '\v': // VT and FF go down like LF: ctlseqs, "Single-character functions".
      case '\f':
        this.#lineFeed()
        break
      case '7': // DECSC
      case '[s': // SCOSC
        screen.saved = { row, column }
        break
      case '8': // DECRC
      case '[u': // SCORC
        this.#restore()
        break
      case '[A': // CUU
      case '[B': // CUD
        this.#moveByRows(name === '[B' ? count : -count)
        break
      case '[C': // CUF
      case '[D': // CUB
        this.#moveToColumn(column + (name === '[C' ? count : -count))
        break
      case '[E': // CNL
      case '[F': // CPL
        this.#moveByRows(name === '[E' ? count : -count)
        screen.column = 0
        break
      case '[G': // CHA
      case '[`': // HPA
        this.#moveToColumn(count - 1)
        break
      case '[d': // VPA
        this.#moveToRow(count - 1)
        break
      case '[H': // CUP
      case '[f': // HVP
        this.#moveToRow(count - 1)
        this.#moveToColumn(Math.max(1, second) - 1)
        break
      case '[J': // ED. "3" would erase what has scrolled off: that is the log, and it stays.
        if (part === 0) line?.erase(column, Infinity)
        if (part === 0) screen.lines.length = Math.min(screen.lines.length, row + 1)
        else if (part === 1) this.#eraseAbove()
        else if (part === 2) screen.lines.length = Math.min(screen.lines.length, screen.top)
        break
      case '[K': // EL. Of a line longer than any terminal "1" erases what would be its last row.
        if (part === 0) line?.erase(column, Infinity)
        else if (part === 1) line?.erase(Math.max(0, column + 1 - COLUMNS_MAX), column + 1)
        else if (part === 2) line?.erase(0, Infinity)
        break
      case '[X': // ECH
        line?.erase(column, count > COLUMNS_MAX ? Infinity : column + count)
        break
      case '[@': // ICH
        line?.insert(column, count)
        break
      case '[P': // DCH
        line?.delete(column, count)
        break
      case '[?h': // DECSET
        if (this.#main !== null || !parameters.some(isAlternateScreen)) break
        screen.saved = { row, column }
        this.#main = screen
        this.#screen = emptyScreen()
        break
      case '[?l': // DECRST
        if (this.#main === null || !parameters.some(isAlternateScreen)) break
        this.#screen = this.#main
        this.#main = null
        this.#restore()
    }
  }

  /** To a row of the screen. */
  #moveToRow(row: number): void {
    this.#screen.row = this.#screen.top + Math.min(row, this.#size.rows - 1)
  }

  #moveByRows(count: number): void {
    this.#moveToRow(Math.max(0, this.#screen.row - this.#screen.top + count))
  }

  /** Text is written behind the right edge, and the cursor may stand there; it is only not moved there. */
  #moveToColumn(column: number): void {
    const edge = Math.max(this.#screen.column, this.#size.columns - 1)
    this.#screen.column = Math.max(0, Math.min(column, edge))
  }

  /** Where nothing was saved it stays, for a log may be the rest of a longer one. */
  #restore(): void {
    const { saved, top } = this.#screen
    if (saved === null) return
    this.#screen.row = Math.max(top, saved.row)
    this.#screen.column = saved.column
  }

  /** One down; what leaves the screen at its top stays. */
  #lineFeed(): void {
    const screen = this.#screen
    screen.row += 1
    screen.column = 0
    this.#reach(screen.row)
    if (screen.row < screen.top + this.#size.rows) return
    screen.settledLength += 1 + (screen.lines[screen.top]?.settle() ?? 0)
    screen.top += 1
  }

  #eraseAbove(): void {
    const { lines, top, row, column } = this.#screen
    for (let above = top; above < row && above < lines.length; above += 1) lines[above] = undefined
    lines[row]?.erase(Math.max(0, column + 1 - COLUMNS_MAX), column + 1)
  }

  /** The row is there, with all above it. */
  #reach(row: number): void {
    while (this.#screen.lines.length <= row) this.#screen.lines.push(undefined)
  }
}

// --- internal ---

type Screen = {
  /** A row on which nothing stands is undefined. */
  readonly lines: (Line | undefined)[]
  /** The first row of the screen: those above it have scrolled off. */
  top: number
  row: number
  column: number
  saved: { readonly row: number; readonly column: number } | null
  settledLength: number
}

function emptyScreen(): Screen {
  return { lines: [], top: 0, row: 0, column: 0, saved: null, settledLength: 0 }
}

/** No terminal is higher: `CSI 999 ; 999 H` asks how large it is. Bounds what a count can do. */
const ROWS_MAX = 200

/** CUP, HVP, VPA, CUU, CPL; CHA, HPA, CUF. */
const addressed = new RegExp(String.raw`\u001b\[(\d{1,3})?(?:;(\d{1,3}))?([HfdAFGC${'`'}])`, 'g')

/** The alternate screen, with and without saving the cursor: ctlseqs, DECSET 47, 1047, 1049. */
function isAlternateScreen(mode: number): boolean {
  return mode === 47 || mode === 1047 || mode === 1049
}
