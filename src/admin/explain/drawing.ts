import { grouped } from '../../log/grouped.ts'
import { escaped } from '../../log/log.ts'
import { compactionReason } from '../compaction-reason.ts'
import type { CountsByRole, Explanation, TokensByCategory } from './explanation.ts'
import { fitted, painted, shownName, wrapped, type Paper } from './ink.ts'
import { drawMessages } from './message-table.ts'

/** An explanation for people, as lines of text without a newline at the end. Nothing that a message says stands in it. */
export function drawExplanation(explanation: Explanation, paper: Paper): string {
  const sections = [
    drawHeadline(explanation, paper),
    drawBars(explanation.tokens, paper),
    drawMessages(explanation.messages, paper),
    ...explanation.warnings.map(({ message }) =>
      wrapped(escaped(message), Math.max(20, paper.columns - LABEL_COLUMNS)).map(
        (line, at) => painted(paper, 'yellow', (at === 0 ? 'warning' : '').padEnd(LABEL_COLUMNS)) + line,
      ),
    ),
  ]
  return sections.map((lines) => lines.map((line) => fitted(paper, line)).join('\n')).join('\n\n')
}

// --- internal ---

const LABEL_COLUMNS = 12

const NAME_COLUMNS = 64

/** What is asked about and what would be done, in a few lines. */
function drawHeadline(explanation: Explanation, paper: Paper): readonly string[] {
  const { profile, model, window, budget, ratio, pressure, tokens, message_counts, entry_name } = explanation
  const received = sizeOf(tokens.received.total, message_counts.received, entry_name)
  const rows = [
    ['model', model === '' ? '(none named)' : shownName(model, NAME_COLUMNS)],
    ['profile', `${shownName(profile.name, NAME_COLUMNS)}: ${shownName(profile.because, Infinity)}`],
    [
      'window',
      `${grouped(window.tokens)} tokens ${kinds[window.kind]}, from ${sources[window.source] ?? window.source}`,
    ],
    ['budget', `${grouped(budget)} tokens${ratio === 1 ? '' : ' by our count'}${keptFree(explanation)}`],
    ['ratio', `${ratio} of the model's tokens for one of ours: ${ratioSources[explanation.ratio_source]}`],
    ['begins', beginning(explanation)],
    ['thresholds', thresholdsOf(explanation)],
    ['came', `${received}: ${shareText(pressure)} the budget`],
    ['would', fate(explanation)],
  ] as const
  return rows.flatMap(([name, text]) =>
    wrapped(text, Math.max(20, paper.columns - LABEL_COLUMNS)).map((line, at) => {
      const label = painted(paper, 'bold', (at === 0 ? name : '').padEnd(LABEL_COLUMNS))
      return `${label}${name === 'would' ? painted(paper, 'green', line) : line}`
    }),
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
  const { trigger, target, ...passes } = thresholds
  const named = Object.entries(passes).map(([name, at]) => [name.replace('_at', ''), at] as const)
  const all = [
    ['fixed', fixed.tokens] as const,
    ['target', target] as const,
    ...named.filter(([, at]) => at !== trigger),
    ['trigger', trigger] as const,
  ]
  return all
    .flatMap(([name, at]) => (at === null ? [] : { name, at }))
    .sort((one, other) => one.at - other.at)
    .map(({ name, at }) => `${name} ${grouped(at)}`)
    .join(', ')
}

/** A share of something as people say it: `62% of`, `5.6 times`. From twice on nobody reads percents. */
function shareText(share: number): string {
  return share < 2 ? `${Math.round(share * 100)}% of` : `${share.toFixed(1)} times`
}

function sizeOf(tokens: number, { total = 0 }: CountsByRole, entry: Explanation['entry_name']): string {
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
] as const satisfies readonly (readonly [keyof TokensByCategory, string])[]

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
