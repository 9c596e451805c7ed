/** How large a screen is taken to be. Rows and columns count from zero everywhere else. */
export type ScreenSize = { readonly rows: number; readonly columns: number }

/** No terminal is larger: `CSI 999 ; 999 H` and `CSI 999 C` ask how large it is. Bounds what a count can do. */
export const COLUMNS_MAX = 500
const ROWS_MAX = 200

/**
 * The screen that a text was written for. A log does not say, but whoever draws has asked the terminal for its
 * size and addresses only what is there: so it is the smallest screen, of at least 24 rows and 80 columns, that
 * holds every row, column and distance named in the text. Too large a guess would let "clear the screen" erase
 * lines that had scrolled off; too small a one would draw a program's lower rows over one another.
 */
export function screenSizeOf(text: string): ScreenSize {
  let { rows, columns } = { rows: 24, columns: 80 }
  for (const [, first, second, final = ''] of text.matchAll(addressed)) {
    const { row, column } = reached(Number(first ?? 1), Number(second ?? 1), final)
    if (row <= ROWS_MAX) rows = Math.max(rows, row)
    if (column <= COLUMNS_MAX) columns = Math.max(columns, column)
  }
  return { rows, columns }
}

// --- internal ---

/** CUP, HVP, VPA, DECSTBM, CUU, CPL; CHA, HPA, CUF, HPR, REP. */
const addressed = new RegExp(
  String.raw`(?:\u001b\[|\u009b)(\d{1,3})?(?:;(\d{1,3}))?([HfdrAFG${'`'}Cab])`,
  'g',
)

/** The row and the column that must be there, counted from one. */
function reached(first: number, second: number, final: string): { row: number; column: number } {
  switch (final) {
    case 'H':
    case 'f':
      return { row: first, column: second }
    case 'd':
      return { row: first, column: 1 }
    case 'r':
      return { row: second, column: 1 }
    case 'A':
    case 'F':
      return { row: first + 1, column: 1 }
    case 'G':
    case '`':
      return { row: 1, column: first }
    default:
      return { row: 1, column: first + 1 }
  }
}
