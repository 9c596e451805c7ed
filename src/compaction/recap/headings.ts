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
