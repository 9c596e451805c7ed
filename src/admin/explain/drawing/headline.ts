import type { CountsByRole, Explanation } from '../explanation.ts'
import { grouped } from '../../../log/grouped.ts'
import { shareText } from '../figures.ts'
import { painted, shownName, wrapped, type Paper } from './ink.ts'

/** What is asked about and what would be done, in a few lines. */
export function drawHeadline(explanation: Explanation, paper: Paper): readonly string[] {
  const { profile, model, window, budget, ratio, pressure, tokens, message_counts } = explanation
  const received = sizeOf(tokens.received.total, message_counts.received)
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

// --- internal ---

const LABEL_COLUMNS = 10

const NAME_COLUMNS = 64

const kinds = { total: 'for prompt and reply', input: 'for the prompt alone' } as const

const sources: Readonly<Record<string, string>> = {
  config: 'the profile',
  learnt: 'an overflow answer',
  server: 'the upstream',
  table: 'the built-in table',
  default: 'nowhere: a guess',
}

const reasons: Readonly<Record<string, string>> = {
  trigger: 'the trigger is reached',
  every: 'it is due after so many turns or calls',
  limit: 'there are too many turns or messages',
  forced: 'it is asked for',
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

function sizeOf(tokens: number, { total = 0 }: CountsByRole): string {
  return `${grouped(tokens)} tokens in ${total === 1 ? 'one message' : `${grouped(total)} messages`}`
}

function fate({ would, message_counts }: Explanation): string {
  const sent = sizeOf(would.sent_tokens, message_counts.sent)
  if (would.reason === 'observe') return 'go on as it came: the profile only observes'
  if (would.action === 'relayed') return 'go on as it came, byte for byte'
  if (would.reason === 'repair') return `be repaired, and not compacted: ${sent}`
  const because = would.reason === null ? '' : `, since ${reasons[would.reason] ?? would.reason}`
  return `be compacted to ${sent} by ${would.passes.join(', ')}${because}`
}
