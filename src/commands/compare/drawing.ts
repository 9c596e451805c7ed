import { aligned, grouped } from '../../telemetry/log/lines.ts'
import { CONVERSATIONS_MIN, type Harm, kinds, PAIRS_MIN, type Plan, type Result } from './pairs.ts'

export function drawPlan(plan: Plan & { readonly window: number | null; readonly state: string }): string {
  const compacted =
    plan.window === null ? 'the window of the profile' : `a window of ${grouped(plan.window)} tokens`
  return [
    `sends    ${plan.requests} requests to ${names(plan.upstreams)}, model ${names(plan.models)}`,
    `pairs    ${plan.pairs}, from ${plan.conversations} conversations`,
    `each     one request in full, the same again, and compacted for ${compacted} (profile ${names(plan.profiles)})`,
    `prompts  about ${grouped(plan.prompt_tokens)} tokens, and up to ${grouped(plan.reply_tokens_max)} of replies`,
    `state    ${plan.state}: hashes and counts, no content; what is answered there is not asked again`,
    plan.is_full_window_guessed ? GUESSED : '',
    plan.pairs < PAIRS_MIN ? `warning  from fewer than ${PAIRS_MIN} pairs no harm is told, only counts` : '',
    'Nothing was sent: with --yes it is.',
  ]
    .filter((line) => line !== '')
    .join('\n')
}

export function drawResult({
  moments,
  pairs,
  conversations,
  harm,
  is_telling: isTelling,
  answers,
}: Result): string {
  const row = (name: string, of: Harm): readonly string[] => [
    name,
    `${of.again} of ${pairs}`,
    `${of.compacted} of ${pairs}`,
    harmText(of),
  ]
  const why = !isTelling
    ? 'Most replies in full only say something, and what they say is not compared: these are counts and nothing more.'
    : pairs < PAIRS_MIN
      ? `Below ${PAIRS_MIN} pairs these are counts and nothing more.`
      : conversations < CONVERSATIONS_MIN
        ? `Below ${CONVERSATIONS_MIN} conversations these are counts and nothing more.`
        : 'Harm: what differs compacted less what differs anyway, in % of the pairs; in brackets the 95 % interval.'
  return [
    `${pairs} pairs of ${conversations} conversations${pairs < moments ? `; ${moments - pairs} more moments were refused` : ''}`,
    '',
    ...table([
      ['the next step differs in', 'asked again', 'compacted', 'harm'],
      row('anything', harm.any),
      row('the tools', harm.tools),
      row('their paths', harm.paths),
      row('the kind of command', harm.commands),
    ]),
    '',
    why,
    '',
    ...table([
      ['replies', 'call a tool', 'prompt tokens', 'of them cached', 'reply tokens'],
      ...kinds.map((kind) => {
        const { calling, tokens: used } = answers[kind]
        return [kind, String(calling), tokens(used.prompt), tokens(used.cached), tokens(used.reply)]
      }),
    ]),
  ].join('\n')
}

// --- internal ---

const GUESSED =
  'warning  the model’s window is a guess: requests in full may not fit it (window.tokens of a profile says it)'

const names = (list: readonly string[]): string => list.join(', ')

const tokens = (count: number | null): string => (count === null ? 'not stated' : grouped(count))

const percent = (share: number): string => `${share < 0 ? '−' : '+'}${Math.abs(share * 100).toFixed(1)}`

function harmText({ harm }: Harm): string {
  if (harm === null) return ''
  return `${percent(harm.share)} (${percent(harm.low)} to ${percent(harm.high)})`
}

function table(rows: readonly (readonly string[])[]): readonly string[] {
  return aligned(rows, (column) => column > 0)
}
