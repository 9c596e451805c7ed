import { stripVTControlCharacters } from 'node:util'
import { escaped } from '../../log/log.ts'

/** What is drawn on. */
export type Paper = {
  /** Width of a line in characters. */
  readonly columns: number
  /** Whether colours may be used; without them the drawing is plain text. */
  readonly color: boolean
}

const styles = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const

export type Style = keyof typeof styles

export function painted(paper: Paper, style: Style, text: string): string {
  return paper.color && text !== '' ? `\u001B[${styles[style]}m${text}\u001B[0m` : text
}

/** A name of somebody else's as it may be shown, in at most so many characters. */
export function shownName(name: string, columns: number): string {
  return cut(escaped(name), columns)
}

/** A line within the paper's width: cut, without its colours, where it is too long. */
export function fitted(paper: Paper, line: string): string {
  const text = line.trimEnd()
  const plain = stripVTControlCharacters(text)
  return plain.length <= paper.columns ? text : cut(plain, paper.columns)
}

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

// --- internal ---

function cut(text: string, columns: number): string {
  return text.length <= columns ? text : `${text.slice(0, Math.max(0, columns - 1))}…`
}
