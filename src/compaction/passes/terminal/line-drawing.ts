/** VT100's special graphics, `_` to `~`: what boxes were made of before Unicode, and ncurses still sends. */
const graphics = '\u00a0◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·'

const FIRST = '_'.charCodeAt(0)

/** The text in the set that `ESC ( 0` selects. */
export function lineDrawing(text: string): string {
  return text.replaceAll(/[_-~]/g, (letter) => graphics[letter.charCodeAt(0) - FIRST] ?? letter)
}
