import { type History, toolNameOf } from '../history/history.ts'
import type { Pausable } from '../../json/source.ts'

/** What the parts of a recap begin with. */
export const headings = {
  kept: 'Kept word for word, as it was asked for:',
  users: 'The user said:',
  system: 'System message:',
  work: 'Open work, as it was last written:',
  someWork: 'Open work, as far as there is room for it:',
  failure: 'Failed last:',
  files: 'Files:',
  diary: 'What was said and done, oldest first:',
  names: 'Also named there:',
} as const

/** Who speaks in a quote. A name may be anything: it stands in one line, cut where it is long. */
export const labels = {
  user: (name: string | null): string => (name === null ? '[user]' : `[user ${inLabel(name)}]`),
  assistant: '[assistant]',
  call: (tool: string): string => `[to ${inLabel(tool)}]`,
  result: (tool: string): string => `[from ${inLabel(tool)}]`,
} as const

/** Who speaks in a message. */
export function speakerLabel(history: History, index: number): string {
  const { role = 'other', name = null } = history.messages[index]?.facts ?? {}
  if (role === 'user') return labels.user(name)
  if (role === 'assistant') return labels.assistant
  return role === 'tool' ? labels.result(toolNameOf(history, index)) : `[${role}]`
}

/**
 * Quoted text as it may stand in a recap: a line that looks like a label or a heading is marked as none. `areNamed`: whether
 * labels name messages there.
 */
export function unforged(text: string, areNamed: boolean): string {
  return text.replace(areNamed ? namedHeadingLike : headingLike, '\\')
}

/**
 * Text of a conversation as it may stand in a recap or a summary: it holds no half of a character, and then can
 * neither end the tag that it stands in nor open another.
 */
export function harmless(text: string): string {
  // Nearly every text is whole, which the engine knows at once.
  const whole = text.isWellFormed() ? text : text.replace(halfCharacter, '')
  return whole.replace(/<(?=\/?conversation-)/gi, '<\\')
}

/** Writes a recap line by line within its cap. */
export type Writer = ReturnType<typeof createWriter>

/** `around`: the words before and behind everything else, which may exceed the cap by themselves. */
export function createWriter(
  { count, countSteps }: Pick<History, 'count' | 'countSteps'>,
  tokensMax: number,
  around: readonly [opening: string, closing: string] | null = null,
) {
  const lines = around === null ? [] : [around[0]]
  const closing = around?.[1] ?? ''
  let spent = around === null ? 0 : count(around.join('\n')) + 1

  /** Adds a line, made harmless, if it fits under the cap; false where it does not. */
  function* writeLine(text: string): Pausable<boolean> {
    const line = harmless(text)
    const tokens = yield* countSteps(`\n${line}`)
    if (spent + tokens > tokensMax) return false
    spent += tokens
    lines.push(line)
    return true
  }

  return {
    line: writeLine,
    /** A heading with its lines, as many as fit; nothing where there are none. */
    section: function* writeSection(heading: string, ofSection: readonly string[]) {
      if (ofSection.length > 0 && (yield* writeLine(heading)))
        for (const line of ofSection) yield* writeLine(line)
    },
    /** What was written so far. */
    written: () => lines.join('\n'),
    /** Tokens of what was written, closing words included. */
    spentTokens: () => spent,
    /** All of it, and its tokens. */
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

// --- internal ---

/** A unit of a surrogate pair without the other: what a cut may leave, and what some servers refuse. */
const halfCharacter = /\p{Surrogate}/gu

const NAME_CHARS_MAX = 64

/** A name may be megabytes long. */
const LOOKED_AT_CHARS = 1_024

/** A name in one line. */
export function inLabel(name: string): string {
  const beginning = name.trimStart().slice(0, LOOKED_AT_CHARS)
  return beginning.replace(/\s+/g, ' ').trim().slice(0, NAME_CHARS_MAX) || 'a tool'
}

/** No label holds a character that means something in a pattern but its bracket. */
const beginnings = [...Object.values(headings), '[user]', '[user ', labels.assistant, '[to ', '[from ']

const headingLike = lineThatBegins(beginnings)
const namedHeadingLike = lineThatBegins([...beginnings, '[assistant #'])

function lineThatBegins(any: readonly string[]): RegExp {
  const patterns = any.map((beginning) => beginning.replace('[', String.raw`\[`))
  return new RegExp(String.raw`^(?=\s*(?:${patterns.join('|')}))`, 'gim')
}
