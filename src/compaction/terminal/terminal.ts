import { columnsOf } from './line.ts'
import { isWithinMojibake, type Sequence } from './sequence.ts'
import type { ScreenSize } from './screen-size.ts'
import { Screen } from './screen.ts'

/**
 * The main screen, the alternate one that full-screen programs draw on, and the character sets. Tab stops are every eight
 * columns; origin mode, left and right margins and double-width lines are not followed.
 */
export class Terminal {
  readonly #size: ScreenSize
  readonly #main: Screen
  #alternate: Screen | null = null
  #printed = ''
  /** G0 and G1, whether they draw lines; SO and SI choose between them. */
  readonly #drawsLines: [boolean, boolean] = [false, false]
  #characterSet: 0 | 1 = 0

  constructor(size: ScreenSize) {
    this.#size = size
    this.#main = new Screen(size)
  }

  get screen(): Screen {
    return this.#alternate ?? this.#main
  }

  /**
   * What a full-screen program drew is gone when it leaves. Where the text ends while one is running (it was
   * cut off or killed), its screen stands below the main one: nothing that followed it may be lost.
   */
  toString(): string {
    if (this.#alternate === null) return this.#main.toString()
    const shown = this.#alternate.toString().trimEnd()
    const above = this.#main.toString()
    return above === '' || above.endsWith('\n') || shown === '' ? above + shown : `${above}\n${shown}`
  }

  print(text: string): void {
    this.#printed = this.#drawsLines[this.#characterSet]
      ? text.replaceAll(/[_-~]/g, (letter) => graphics[letter.charCodeAt(0) - FIRST_GRAPHIC] ?? letter)
      : text
    this.screen.print(this.#printed)
  }

  /**
   * C0 controls (ECMA-48, section 8.3), escapes, and control sequences by the names of ECMA-48 and xterm's ctlseqs. What is
   * not listed shows nothing: colours, modes, questions.
   */
  perform({ name, parameters }: Pick<Sequence, 'name' | 'parameters'>): void {
    const { screen } = this
    const [part = 0, second = 0] = parameters
    // A parameter that is missing or zero is one: ctlseqs, "default = 1".
    const count = Math.max(1, part)
    if (name === '[b') return this.#repeat(count) // REP
    this.#printed = ''
    switch (name) {
      case '\b':
        return screen.backspace()
      case '\n':
      case '\v': // VT and FF go down like LF: ctlseqs, "Single-character functions".
      case '\f':
      case 'E': // NEL
        return screen.lineFeed()
      case '\r':
        return screen.carriageReturn()
      case '\u000e': // SO
      case '\u000f': // SI
        this.#characterSet = name === '\u000e' ? 1 : 0
        return
      case '7': // DECSC
      case '[s': // SCOSC
        return screen.save()
      case '8': // DECRC
      case '[u': // SCORC
        return screen.restore()
      case 'D': // IND
        return screen.index()
      case 'M': // RI
        return screen.reverseIndex()
      case 'c': // RIS
        return this.#reset(true)
      case '(0': // SCS: VT100's line drawing, or another set.
      case ')0':
      case '(B':
      case ')B':
        this.#drawsLines[name.startsWith('(') ? 0 : 1] = name.endsWith('0')
        return
      case '[A': // CUU
        return screen.moveByRows(-count)
      case '[B': // CUD
        return screen.moveByRows(count)
      case '[C': // CUF
      case '[a': // HPR
        return screen.moveByColumns(count)
      case '[D': // CUB
        return screen.moveByColumns(-count)
      case '[E': // CNL
        screen.moveByRows(count)
        return screen.carriageReturn()
      case '[F': // CPL
        screen.moveByRows(-count)
        return screen.carriageReturn()
      case '[e': // VPR
        return screen.moveToRow(screen.row + count)
      case '[G': // CHA
      case '[`': // HPA
        return screen.moveToColumn(count - 1)
      case '[d': // VPA
        return screen.moveToRow(count - 1)
      case '[H': // CUP
      case '[f': // HVP
        screen.moveToRow(count - 1)
        return screen.moveToColumn(Math.max(1, second) - 1)
      case '[I': // CHT
        return screen.moveByTabs(count)
      case '[Z': // CBT
        return screen.moveBackByTabs(count)
      case '[J': // ED. "3" would erase what has scrolled off: that is the log, and it stays.
        if (part === 0) screen.eraseBelow()
        else if (part === 1) screen.eraseAbove()
        else if (part === 2) screen.eraseScreen()
        return
      case '[K': // EL
        if (part === 0) screen.eraseCharacters(Infinity)
        else if (part === 1) screen.eraseLineStart()
        else if (part === 2) screen.eraseLine()
        return
      case '[X': // ECH
        return screen.eraseCharacters(count)
      case '[@': // ICH
        return screen.insertBlanks(count)
      case '[P': // DCH
        return screen.deleteCharacters(count)
      case '[L': // IL
        return screen.insertLines(count)
      case '[M': // DL
        return screen.deleteLines(count)
      case '[S': // SU
        return screen.scrollUp(count)
      case '[T': // SD. With five parameters it is a question about the mouse.
        if (parameters.length === 1) screen.scrollDown(count)
        return
      case '[r': // DECSTBM
        return screen.setMargins(count - 1, second - 1)
      case '[h': // SM
      case '[l': // RM
        if (parameters.includes(4)) screen.insertMode = name === '[h'
        return
      case '[!p': // DECSTR
        return this.#reset(false)
      case '[?h': // DECSET
        if (parameters.includes(1048)) screen.save()
        if (parameters.some(isAlternateScreen)) this.#enterAlternate()
        return
      case '[?l': // DECRST
        if (parameters.some(isAlternateScreen)) this.#leaveAlternate()
        if (parameters.includes(1048)) this.screen.restore()
    }
  }

  /** REP repeats a character that was printed just before it: ECMA-48, section 8.3.103. No tabs, marks, half ones. */
  #repeat(count: number): void {
    const printed = this.#printed
    this.#printed = ''
    const last = Array.from(printed.slice(-2)).at(-1) ?? ''
    const isWhole = columnsOf(last, '') > 0 && !isWithinMojibake(printed, printed.length - 1)
    if (last === '' || last === '\t' || !isWhole) return
    this.screen.repeat(last, count)
  }

  #enterAlternate(): void {
    if (this.#alternate !== null) return
    this.#main.save()
    this.#alternate = new Screen(this.#size)
  }

  #leaveAlternate(): void {
    if (this.#alternate === null) return
    this.#alternate = null
    this.#main.restore()
  }

  /** RIS and DECSTR; RIS also clears the screen. */
  #reset(clears: boolean): void {
    this.#drawsLines.fill(false)
    this.#characterSet = 0
    if (clears) this.#leaveAlternate()
    this.screen.resetModes()
    if (!clears) return
    this.screen.eraseScreen()
    this.screen.moveToRow(0)
    this.screen.carriageReturn()
  }
}

// --- internal ---

/** VT100's special graphics, `_` to `~`: what boxes were made of before Unicode, and ncurses still sends. */
const graphics = '\u00a0◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·'
const FIRST_GRAPHIC = '_'.charCodeAt(0)

/** The alternate screen, with and without saving the cursor: ctlseqs, DECSET 47, 1047, 1049; 1048 only saves. */
function isAlternateScreen(mode: number): boolean {
  return mode === 47 || mode === 1047 || mode === 1049
}
