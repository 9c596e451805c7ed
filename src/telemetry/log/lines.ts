import { stripVTControlCharacters } from 'node:util'

/** Text in lines of at most so many characters; a word that is longer stands alone. */
export function wrapped(text: string, columns: number): readonly string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last === undefined || last.length + 1 + word.length > columns) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines
}

/** A line of at most so many columns: cut, without its colours, where it is too long. */
export function fitted(line: string, columns: number): string {
  const text = line.trimEnd()
  const plain = stripVTControlCharacters(text)
  return plain.length <= columns ? text : cut(plain, columns)
}

/** The beginning of a text where it has more characters than this. */
export function cut(text: string, columns: number): string {
  return text.length <= columns ? text : `${text.slice(0, Math.max(0, columns - 1))}…`
}

/** The rows of a table, the first of which has all columns, as lines; those columns are set to the right. */
export function aligned(
  rows: readonly (readonly string[])[],
  isRight: (column: number) => boolean,
): readonly string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)))
  const set = (cell: string, at: number): string =>
    isRight(at) ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0)
  return rows.map((row) => row.map(set).join('  ').trimEnd())
}

/** A number with its thousands apart. By hand: the first use of `Intl` holds the loop for ten milliseconds. */
export function grouped(value: number): string {
  return String(Math.round(value)).replaceAll(/\B(?=(?:\d{3})+$)/g, ',')
}
