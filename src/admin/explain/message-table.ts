import { grouped } from '../../log/grouped.ts'
import type { ExplainedMessage } from './explanation.ts'
import { painted, shownName, type Paper, type Style } from './ink.ts'

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

/** Neighbouring messages that are told together. */
type MessageGroup = readonly [ExplainedMessage, ...ExplainedMessage[]]

/**
 * Messages for people to read: one by one while there are few, else in runs. A run is of one treatment; where treatments
 * change all the time, as with calls that stay and results that are cleared, the short runs are told together.
 *
 * @internal exported for tests
 */
export function messageGroups(messages: readonly ExplainedMessage[]): readonly MessageGroup[] {
  if (messages.length <= FEW) return messages.map((message) => [message])
  const runs = joined(
    messages.map((message): MessageGroup => [message]),
    (one, other) => isAlike(one[0], other[0]),
  )
  const mixed = joined(runs, (one, other) => isShort(one) && isShort(other))
  return mixed.flatMap((group) =>
    group.length < RUN_MIN ? group.map((each): MessageGroup => [each]) : [group],
  )
}

// --- internal ---

/** So many messages are read one by one. */
const FEW = 30

/** Fewer than this are no run. */
const RUN_MIN = 3

/** A run below this is told with its neighbours. */
const SHORT_MAX = 8

function joined(
  groups: readonly MessageGroup[],
  belongTogether: (last: MessageGroup, next: MessageGroup) => boolean,
): readonly MessageGroup[] {
  const result: MessageGroup[] = []
  let last: MessageGroup | undefined
  for (const next of groups) {
    // What is told together is judged by what came in last.
    const joins = last !== undefined && belongTogether(last, next)
    const standing = joins ? result.pop() : undefined
    result.push(standing === undefined ? next : [...standing, ...next])
    last = next
  }
  return result
}

function isAlike(one: ExplainedMessage, other: ExplainedMessage): boolean {
  const areTheClients = one.index !== null && other.index !== null
  return areTheClients && one.treatment === other.treatment && one.pinned === other.pinned
}

/** Nothing that is pinned or that Foldgate wrote is told with others. */
function isShort(group: MessageGroup): boolean {
  return group.length < SHORT_MAX && group.every(({ index, pinned }) => index !== null && pinned === null)
}

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
    group.length === 1 ? nameOf(first) : counted(group.map(nameOf)),
    toolsOf(group),
  ]
  return { cells, style: styleOf(group) }
}

function nameOf({ kind, role }: ExplainedMessage): string {
  return kind ?? role
}

function placeOf(group: MessageGroup): string {
  const { index: first } = group[0]
  const last = group.at(-1)?.index ?? null
  if (first === null || last === null) return '+'
  return first === last ? String(first) : `${first}–${last}`
}

const pins = {
  system: 'system message',
  'history-start': 'start of the history',
  'before-start': "before the server's compaction",
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

const styles = {
  kept: null,
  joined: null,
  folded: 'dim',
  outdated: 'dim',
  dropped: 'red',
  summary: 'green',
  recap: 'green',
  resolved: 'green',
  rendered: 'yellow',
  previewed: 'yellow',
  cleared: 'yellow',
  unloaded: 'yellow',
  clipped: 'yellow',
  unbound: 'dim',
} as const satisfies Record<ExplainedMessage['treatment'], Style | null>

function styleOf(group: MessageGroup): Style | null {
  const [{ treatment }] = group
  return group.some((message) => message.treatment !== treatment) ? 'yellow' : styles[treatment]
}
