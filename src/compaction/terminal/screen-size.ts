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
  for (const [, first = '1', second = '1', final = ''] of text.matchAll(addressed)) {
    const [row, column] = [Number(first), Number(second)]
    // The row and the column that must be there, counted from one: what a distance leads to is one further.
    if (final === 'H' || final === 'f') grow(row, column)
    else if (final === 'd') grow(row, 1)
    else if (final === 'r') grow(column, 1)
    else if (final === 'A' || final === 'F') grow(row + 1, 1)
    else grow(1, final === 'G' || final === '`' ? row : row + 1)
  }
  return { rows, columns }

  function grow(row: number, column: number): void {
    if (row <= ROWS_MAX) rows = Math.max(rows, row)
    if (column <= COLUMNS_MAX) columns = Math.max(columns, column)
  }
}

// --- internal ---

/** CUP, HVP, VPA, DECSTBM, CUU, CPL; CHA, HPA, CUF, HPR, REP. */
const addressed = new RegExp(
  String.raw`(?:\u001b\[|\u009b)(\d{1,3})?(?:;(\d{1,3}))?([HfdrAFG${'`'}Cab])`,
  'g',
)
