/**
 * The sections that a summary is asked for, in their order: the heading, what belongs there, and its worth if not all
 * of them fit. The attempts that failed go first: they save a repetition, while the work cannot go on without the goal,
 * the open items or the facts.
 */
export const sections = [
  { heading: 'Goal and constraints', holds: 'what the user wants, rules, preferences', worth: 7 },
  { heading: 'Decisions', holds: 'what was decided, and why', worth: 3 },
  { heading: 'Facts', holds: 'exact values: names, ids, numbers, commands, errors, results', worth: 4 },
  { heading: 'Files and artifacts', holds: 'paths; what each is, its state', worth: 2.5 },
  { heading: 'Tried and failed', holds: 'and why it failed', worth: 1 },
  { heading: 'Open items and next steps', holds: 'what is unfinished, what comes next', worth: 5 },
  { heading: 'Latest request', holds: "the user's last request, word for word", worth: 6 },
] as const

/** The heading of the list that Foldgate itself adds below a summary: things of the one before that the new one lost. */
export const KEPT_HEADING = 'Also named before'

/** A piece of a summary: a heading with what stands under it, or the text before the first heading. */
export type Section = {
  /** Without its marks; '' for text under no heading. */
  readonly heading: string
  /** All of it, heading included, without blank lines around it. */
  readonly text: string
}

/** The sections of a summary, in order. */
export function sectionsOf(summary: string): Section[] {
  const found: Section[] = []
  let lines: string[] = []
  let heading = ''
  let isCode = false
  function end(): void {
    const text = lines.join('\n').trim()
    if (text !== '') found.push({ heading, text })
    lines = []
  }
  for (const line of summary.split('\n')) {
    // In a block of code a `#` begins a comment.
    if (line.startsWith('```')) isCode = !isCode
    const named = isCode ? null : headingIn(line)
    if (named !== null) {
      end()
      heading = named
    }
    lines.push(line)
  }
  end()
  return found
}

/** The worth of a section if not all fit. One that was not asked for is worth more than the failed attempts, and less than the rest. */
export function worthOf({ heading }: Section): number {
  const lower = heading.toLowerCase()
  return sections.find((section) => lower.startsWith(section.heading.toLowerCase()))?.worth ?? UNASKED_WORTH
}

// --- internal ---

const UNASKED_WORTH = 2

/** The name in a heading of markdown, or in a line that is bold as a whole; null if a line is none. */
function headingIn(line: string): string | null {
  const match = /^(?:#{1,4}[ \t]+(.{1,120})|\*\*([^*]{1,120})\*\*:?[ \t]*)$/.exec(line.trimEnd())
  const name = match?.[1] ?? match?.[2]
  return name === undefined ? null : name.replace(/[*#:\s]+$/, '').replace(/^\*+/, '')
}
