import { styleText } from 'node:util'
import { aligned, cut, fitted, grouped, wrapped } from '../../telemetry/log/lines.ts'
import { escaped } from '../../telemetry/log/log.ts'
import { passOrder } from '../../compaction/passes/passes.ts'
import { compactionReason, pinWords, treatments } from '../told-words.ts'
import type { ExplainedMessage, Explanation } from './explanation.ts'

/** An explanation for people, as lines of text without a newline at the end. Nothing that a message says stands in it. */
export function drawExplanation(explanation: Explanation, paper: Paper): string {
  const sections = [
    drawHeadline(explanation, paper),
    drawBars(explanation.tokens, paper),
    drawMessages(explanation.messages, paper),
    ...explanation.warnings.map(({ message }) => labelled(paper, 'yellow', 'warning', escaped(message))),
  ]
  return sections.map((lines) => lines.map((line) => fitted(line, paper.columns)).join('\n')).join('\n\n')
}

/** Neighbouring messages that are told together. */
type MessageGroup = readonly [ExplainedMessage, ...ExplainedMessage[]]

/**
 * @internal exported for tests. Messages for people to read: one by one while there are few, else in runs. A run is of one
 * treatment; where treatments change all the time, as with calls that stay and results that are cleared, the short runs are
 * told together.
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

/** Each message and what would become of it; long runs in one row. Names and figures only, nothing that was said. */
function drawMessages(messages: readonly ExplainedMessage[], paper: Paper): readonly string[] {
  const groups = messageGroups(messages)
  const [head = '', ...lines] = aligned([header, ...groups.map(cellsOf)], (column) => column < FIGURES)
  const styles = groups.map((group) => (isMixed(group) ? 'yellow' : treatments[group[0].treatment]?.tone))
  return [painted(paper, 'dim', head), ...lines.map((line, at) => painted(paper, styles[at] ?? null, line))]
}

const LABEL_COLUMNS = 12

const NAME_COLUMNS = 64

/** What is asked about and what would be done, in a few lines. */
function drawHeadline(explanation: Explanation, paper: Paper): readonly string[] {
  const { profile, model, window, budget, ratio, pressure, tokens, message_counts, entry_name } = explanation
  const received = sizeOf(tokens.received.total, message_counts.received, entry_name)
  const rows = [
    ['model', model === '' ? '(none named)' : shownName(model, NAME_COLUMNS)],
    ['profile', `${shownName(profile.name, NAME_COLUMNS)}: ${shownName(profile.because, Infinity)}`],
    ['window', windowWords(window)],
    ['budget', `${grouped(budget)} tokens${ratio === 1 ? '' : ' by our count'}${keptFree(explanation)}`],
    ['ratio', `${ratio} of the model's tokens for one of ours: ${ratioSources[explanation.ratio_source]}`],
    ['begins', beginning(explanation)],
    ['thresholds', thresholdsOf(explanation)],
    ['came', `${received}: ${shareText(pressure)} the budget`],
    ['would', fate(explanation)],
  ] as const
  return rows.flatMap(([name, text]) =>
    labelled(paper, 'bold', name, text, name === 'would' ? 'green' : null),
  )
}

/** A label in front, and lines of text beside it. */
function labelled(
  paper: Paper,
  labelStyle: Style,
  label: string,
  text: string,
  style: Style | null = null,
): readonly string[] {
  return wrapped(text, Math.max(20, paper.columns - LABEL_COLUMNS)).map(
    (line, at) =>
      painted(paper, labelStyle, (at === 0 ? label : '').padEnd(LABEL_COLUMNS)) + painted(paper, style, line),
  )
}

const kinds = { total: 'for prompt and reply', input: 'for the prompt alone' } as const

const sources: Readonly<Record<string, string>> = {
  config: 'the profile',
  learnt: 'an overflow answer',
  server: 'the upstream',
  table: 'the built-in table',
  default: 'nowhere: a guess',
}

const reserveSources = { request: "the request's own limit", profile: 'window.output_reserve' } as const

const ratioSources = {
  profile: 'window.ratio of the profile, until answers tell',
  family: "what is known of the model's family, until answers tell",
  unknown: 'a guess, since the name tells no family, until answers tell',
} as const satisfies Record<Explanation['ratio_source'], string>

function windowWords({ tokens, kind, source }: Explanation['window']): string {
  return `${grouped(tokens)} tokens ${kinds[kind]}, from ${sources[source] ?? source}`
}

function keptFree({ reserve, reserve_source }: Explanation): string {
  return reserve === 0
    ? ''
    : `; ${grouped(reserve)} are kept for the reply (${reserveSources[reserve_source]})`
}

function beginning({ compaction_begins_at: at, ratio, margin }: Explanation): string {
  if (at === null)
    return 'no compaction: the trigger is off, and only what the upstream refuses is made smaller'
  const byModel =
    ratio === 1 && margin === 0 ? '' : ` by our count, ${grouped(at.model_tokens)} by the model's`
  const held = margin === 0 ? '' : `; ${grouped(margin)} are held back for how tools may be shown`
  return `a compaction where the prompt exceeds ${grouped(at.tokens)} tokens${byModel}${held}`
}

/** Every threshold of its own in ascending order; a pass that begins with the trigger is not named. */
function thresholdsOf({ fixed, thresholds }: Explanation): string {
  return Object.entries({ fixed: fixed.tokens, ...thresholds })
    .flatMap(([name, at]) => (at === null ? [] : { name: name.replace('_at', ''), at }))
    .filter(({ name, at }) => !passNames.has(name) || at !== thresholds.trigger)
    .sort((one, other) => one.at - other.at)
    .map(({ name, at }) => `${name} ${grouped(at)}`)
    .join(', ')
}

const passNames: ReadonlySet<string> = new Set([...passOrder, 'summary'])

/** A share of something as people say it: `62% of`, `5.6 times`. From twice on nobody reads percents. */
function shareText(share: number): string {
  return share < 2 ? `${Math.round(share * 100)}% of` : `${share.toFixed(1)} times`
}

function sizeOf(
  tokens: number,
  { total = 0 }: Explanation['message_counts']['sent'],
  entry: Explanation['entry_name'],
): string {
  return `${grouped(tokens)} tokens in ${total === 1 ? `one ${entry}` : `${grouped(total)} ${entry}s`}`
}

function fate({ would, message_counts, entry_name }: Explanation): string {
  const sent = sizeOf(would.sent_tokens, message_counts.sent, entry_name)
  if (would.reason === 'observe') return 'go on as it came: the profile only observes'
  if (would.reason === 'billing-line') return 'go on as it came, but for its line for billing'
  if (would.action === 'relayed') return 'go on as it came, byte for byte'
  if (would.reason === 'repair') return `be repaired, and not compacted: ${sent}`
  const because = would.reason === null ? '' : `, since ${compactionReason(would.reason)}`
  return `be compacted to ${sent} by ${would.passes.join(', ')}${because}`
}

const CATEGORY_COLUMNS = 14
const FIGURE_COLUMNS_MIN = 7
const GAP = '  '
const BAR_COLUMNS_MAX = 40
/** A shorter bar says nothing. */
const BAR_COLUMNS_MIN = 6

/** What primes the reply is no row of its own. */
const OTHER_MIN_TOKENS = 8

const categories = [
  ['system', 'system'],
  ['tools', 'tools'],
  ['user', 'user'],
  ['assistant', 'assistant'],
  ['tool_results', 'tool results'],
  ['images', 'media'],
  ['summary', 'summaries'],
  ['other', 'other'],
] as const satisfies readonly (readonly [keyof Explanation['tokens']['sent'], string])[]

/** What the tokens stand for: what came and what would be sent, side by side on one scale. */
function drawBars({ received, sent }: Explanation['tokens'], paper: Paper): readonly string[] {
  const shown = categories.filter(
    ([name]) => Math.max(received[name], sent[name]) > (name === 'other' ? OTHER_MIN_TOKENS : 0),
  )
  const most = Math.max(1, ...shown.flatMap(([name]) => [received[name], sent[name]]))
  const figureColumns = Math.max(FIGURE_COLUMNS_MIN, grouped(received.total).length)
  const besideColumns = CATEGORY_COLUMNS + 2 * figureColumns + 4 * GAP.length
  const room = Math.min(BAR_COLUMNS_MAX, Math.floor((paper.columns - besideColumns) / 2))
  const columns = room < BAR_COLUMNS_MIN ? 0 : room
  const row = (label: string, came: string, cameBar: string, left: string, leftBar: string): string =>
    [
      label.padEnd(CATEGORY_COLUMNS) + came.padStart(figureColumns),
      painted(paper, 'yellow', cameBar.padEnd(columns)),
      left.padStart(figureColumns),
      painted(paper, 'green', leftBar),
    ].join(GAP)
  const bar = (tokens: number): string => barOf(tokens / most, columns)
  return [
    painted(paper, 'dim', row('tokens', 'came', '', 'sent', '').trimEnd()),
    ...shown.map(([name, label]) =>
      row(label, grouped(received[name]), bar(received[name]), grouped(sent[name]), bar(sent[name])),
    ),
    painted(paper, 'bold', row('total', grouped(received.total), '', grouped(sent.total), '').trimEnd()),
  ]
}

/** Block characters, an eighth of a column to seven eighths. */
const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'] as const

/** A share above 0 is always seen. */
function barOf(share: number, columns: number): string {
  if (share <= 0 || columns === 0) return ''
  const parts = Math.max(1, Math.round(Math.min(1, share) * columns * eighths.length))
  return '█'.repeat(Math.floor(parts / eighths.length)) + (eighths[parts % eighths.length] ?? '')
}

/** What is drawn on. */
type Paper = {
  /** Width of a line in characters. */
  readonly columns: number
  /** Whether colours may be used; without them the drawing is plain text. */
  readonly color: boolean
}

type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow'

function painted({ color }: Paper, style: Style | null, text: string): string {
  return color && style !== null && text !== '' ? styleText(style, text, { validateStream: false }) : text
}

/** A name of somebody else's as it may be shown, in at most so many characters. */
function shownName(name: string, columns: number): string {
  return cut(escaped(name), columns)
}

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

/** Its first columns, which are set to the right. */
const FIGURES = 3

/** Tools that are named in one row. */
const TOOLS_MAX = 3

const TOOL_COLUMNS = 24

function isMixed([{ treatment }, ...others]: MessageGroup): boolean {
  return others.some((message) => message.treatment !== treatment)
}

function cellsOf(group: MessageGroup): readonly string[] {
  const [first] = group
  const tokens = (of: 'received_tokens' | 'sent_tokens'): string =>
    grouped(group.reduce((sum, message) => sum + (message[of] ?? 0), 0))
  return [
    placeOf(group),
    first.index === null ? '' : tokens('received_tokens'),
    tokens('sent_tokens'),
    fateOf(group),
    group.length === 1 ? (first.kind ?? first.role) : counted(group.map(({ kind, role }) => kind ?? role)),
    toolsOf(group),
  ]
}

function placeOf(group: MessageGroup): string {
  const { index: first } = group[0]
  const last = group.at(-1)?.index ?? null
  if (first === null || last === null) return '+'
  return first === last ? String(first) : `${first}–${last}`
}

function fateOf(group: MessageGroup): string {
  const [{ treatment, pinned, stands_for: range }] = group
  if (range !== null) return `${treatment} of ${range.start}–${range.end - 1}`
  if (isMixed(group)) return counted(group.map((message) => message.treatment))
  return pinned === null ? treatment : `${treatment}: ${pinWords[pinned]}`
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
