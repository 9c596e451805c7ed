import { columnsOf } from './columns.ts'
import { lineDrawing } from './line-drawing.ts'
import { isWithinMojibake } from './mojibake.ts'
import type { ScreenSize } from './screen-size.ts'
import { Screen } from './screen.ts'

/** The main screen, the alternate one that full-screen programs draw on, and the character sets. */
export class Terminal {
  readonly #size: ScreenSize
  readonly #main: Screen
  #alternate: Screen | null = null
  #printed = ''
  /** G0 and G1, whether they draw lines; SO and SI choose between them. */
  readonly drawsLines: [boolean, boolean] = [false, false]
  characterSet: 0 | 1 = 0

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
    this.#printed = this.drawsLines[this.characterSet] ? lineDrawing(text) : text
    this.screen.print(this.#printed)
  }

  /** REP repeats a character that was printed just before it: ECMA-48, section 8.3.103. No tabs, marks, half ones. */
  repeat(count: number): void {
    const printed = this.#printed
    this.#printed = ''
    const last = Array.from(printed.slice(-2)).at(-1) ?? ''
    const isWhole = columnsOf(last, '') > 0 && !isWithinMojibake(printed, printed.length - 1)
    if (last === '' || last === '\t' || !isWhole) return
    this.screen.repeat(last, count)
  }

  forgetPrinted(): void {
    this.#printed = ''
  }

  enterAlternate(): void {
    if (this.#alternate !== null) return
    this.#main.save()
    this.#alternate = new Screen(this.#size)
  }

  leaveAlternate(): void {
    if (this.#alternate === null) return
    this.#alternate = null
    this.#main.restore()
  }

  /** RIS and DECSTR; RIS also clears the screen. */
  reset(clears: boolean): void {
    this.drawsLines.fill(false)
    this.characterSet = 0
    if (clears) this.leaveAlternate()
    this.screen.resetModes()
    if (!clears) return
    this.screen.eraseScreen()
    this.screen.moveToRow(0)
    this.screen.carriageReturn()
  }
}
