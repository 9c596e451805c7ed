import type { Steps } from '../../conversation/source.ts'
import type { Subject } from '../subject.ts'
import { harmless } from './headings.ts'

/** Writes a recap line by line within its cap. */
export type Writer = {
  /** The tags and the words around everything else; false where not even they fit. */
  readonly open: (opening: string, closing: string) => boolean
  /** Adds a line, made harmless, if it fits under the cap; false where it does not. */
  readonly line: (text: string) => Steps<boolean>
  /** What was written so far. */
  readonly written: () => string
  /** Tokens of what was written, closing words included. */
  readonly spentTokens: () => number
  /** All of it, and its tokens. */
  readonly close: () => Steps<{ readonly text: string; readonly tokens: number }>
}

export function createWriter(
  { count, countSteps }: Pick<Subject, 'count' | 'countSteps'>,
  tokensMax: number,
): Writer {
  const lines: string[] = []
  let closing = ''
  let spent = 0
  return {
    open: (openingLine, closingLine) => {
      closing = closingLine
      spent = count(`${openingLine}\n${closingLine}`) + 1
      lines.push(openingLine)
      return spent <= tokensMax
    },
    line: function* writeLine(text) {
      const line = harmless(text)
      const tokens = yield* countSteps(`\n${line}`)
      if (spent + tokens > tokensMax) return false
      spent += tokens
      lines.push(line)
      return true
    },
    written: () => lines.join('\n'),
    spentTokens: () => spent,
    close: function* close() {
      // Byte-pair merges across a line's end could make the whole larger than its lines: then it loses its last ones.
      for (;;) {
        const text = `${lines.join('\n')}\n${closing}`
        const tokens = yield* countSteps(text)
        if (lines.length <= 1 || tokens <= tokensMax) return { text, tokens }
        lines.pop()
      }
    },
  }
}
