import type { ExplainedMessage } from '../explanation.ts'
import { grouped } from '../../../log/grouped.ts'
import { painted, shownName, type Paper, type Style } from './ink.ts'
import { messageGroups, type MessageGroup } from './message-groups.ts'

/** Each message and what would become of it; long runs in one row. Names and figures only, nothing that was said. */
export function drawMessages(messages: readonly ExplainedMessage[], paper: Paper): readonly string[] {
  const rows = messageGroups(messages).map(cellsOf)
  const widths = header.map((title, at) =>
    Math.max(title.length, ...rows.map(({ cells }) => cells[at]?.length ?? 0)),
  )
  const lineOf = (cells: readonly string[]): string =>
    cells
      .map((cell, at) =>
        rightAligned.has(at) ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0),
      )
      .join('  ')
      .trimEnd()
  return [
    painted(paper, 'dim', lineOf(header)),
    ...rows.map(({ cells, style }) =>
      style === null ? lineOf(cells) : painted(paper, style, lineOf(cells)),
    ),
  ]
}

// --- internal ---

const header = ['#', 'came', 'sent', 'what happens', 'role', 'tool'] as const

const rightAligned: ReadonlySet<number> = new Set([0, 1, 2])

/** Tools that are named in one row. */
const TOOLS_MAX = 3

const TOOL_COLUMNS = 24

type Row = { readonly cells: readonly string[]; readonly style: Style | null }

function cellsOf(group: MessageGroup): Row {
  const [first] = group
  const tokens = (of: 'received_tokens' | 'sent_tokens'): string =>
    grouped(group.reduce((sum, message) => sum + (message[of] ?? 0), 0))
  const cells = [
    placeOf(group),
    first.index === null ? '' : tokens('received_tokens'),
    tokens('sent_tokens'),
    fateOf(group),
    group.length === 1 ? first.role : counted(group.map(({ role }) => role)),
    toolsOf(group),
  ]
  return { cells, style: styleOf(group) }
}

function placeOf(group: MessageGroup): string {
  const { index: first } = group[0]
  const last = group.at(-1)?.index ?? null
  if (first === null || last === null) return '+'
  return first === last ? String(first) : `${first}–${last}`
}

const pins = {
  system: 'system message',
  task: 'the task',
  'latest-user': 'latest user message',
  'kept-turn': 'of a kept turn',
  recent: 'recent',
} as const satisfies Record<NonNullable<ExplainedMessage['pinned']>, string>

function fateOf(group: MessageGroup): string {
  const [{ treatment, pinned, stands_for: range }] = group
  if (range !== null) return `${treatment} of ${range.start}–${range.end - 1}`
  if (group.some((message) => message.treatment !== treatment))
    return counted(group.map((message) => message.treatment))
  return pinned === null ? treatment : `${treatment}: ${pins[pinned]}`
}

function toolsOf(group: MessageGroup): string {
  const tools = [...new Set(group.flatMap(({ tool }) => tool ?? []))]
  const shown = tools.slice(0, TOOLS_MAX).map((tool) => shownName(tool, TOOL_COLUMNS))
  const more = tools.length - shown.length
  return more > 0 ? `${shown.join(', ')} +${more}` : shown.join(', ')
}

/** `12 assistant, 12 tool`, in the order of their first. */
function counted(words: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return [...counts].map(([word, count]) => `${count} ${word}`).join(', ')
}

function styleOf(group: MessageGroup): Style | null {
  const [{ treatment }] = group
  if (group.some((message) => message.treatment !== treatment)) return 'yellow'
  switch (treatment) {
    case 'kept':
    case 'joined':
      return null
    case 'folded':
      return 'dim'
    case 'dropped':
      return 'red'
    case 'summary':
    case 'recap':
      return 'green'
    case 'rendered':
    case 'previewed':
    case 'cleared':
    case 'unloaded':
    case 'clipped':
      return 'yellow'
  }
}
