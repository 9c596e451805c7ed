import type { Steps } from '../../conversation/source.ts'
import type { Subject } from '../../subject/subject.ts'
import { harmless } from './headings.ts'

/** Writes a recap line by line within its cap. */
export type Writer = {
  /** Adds a line, made harmless, if it fits under the cap; false where it does not. */
  readonly line: (text: string) => Steps<boolean>
  /** What was written so far. */
  readonly written: () => string
  /** Tokens of what was written, closing words included. */
  readonly spentTokens: () => number
  /** All of it, and its tokens. */
  readonly close: () => Steps<{ readonly text: string; readonly tokens: number }>
}

/** `around`: the words before and behind everything else, which may exceed the cap by themselves. */
export function createWriter(
  { count, countSteps }: Pick<Subject, 'count' | 'countSteps'>,
  tokensMax: number,
  around: readonly [opening: string, closing: string] | null = null,
): Writer {
  const lines = around === null ? [] : [around[0]]
  const closing = around?.[1] ?? ''
  let spent = around === null ? 0 : count(around.join('\n')) + 1
  return {
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
