import type { Figure } from './agreement.ts'
import { costFigures } from './cost-figures.ts'
import { agreeing, sumOf, type Told } from './figure.ts'
import { messageFigures } from './message-figures.ts'
import { sizeFigures } from './size-figures.ts'
import type { Walk } from './walk.ts'
import { isBeginning } from '../../support/is-beginning.ts'

/** Everything that is told in more than one place. */
export function figuresOf(walk: Walk): readonly Figure[] {
  return [
    ...requestFigures(walk),
    ...compactionFigures(walk),
    ...sizeFigures(walk),
    ...costFigures(walk),
    ...messageFigures(walk),
  ]
}

// --- internal ---

function requestFigures({ requests, books, totals }: Walk): readonly Figure[] {
  const { metrics, events, details, cards } = books
  const rows = details.flatMap((detail) => detail.rows)
  const name = 'foldgate_requests_total'
  const said = requests.map(({ header }) => header('x-foldgate-action').split(';')[0] ?? '')
  const actions = new Set([
    ...metrics.by(name, 'action').keys(),
    ...rows.map(({ action }) => action),
    ...said,
  ])
  const troubles = (types: readonly string[]): number =>
    events.filter(({ type }) => types.includes(type)).length
  const recoveries = 'foldgate_recoveries_total'
  return [
    agreeing('requests', {
      upstream: sumOf(requests, ({ attempts }) => attempts),
      metrics: metrics.sum(name, { endpoint: 'chat_completions' }),
      journal: rows.length,
      headers: requests.length,
      pages: totals.requests,
    }),
    ...[...actions].toSorted().map((action) =>
      agreeing(`  ${action}`, {
        metrics: metrics.sum(name, { action }),
        journal: rows.filter((row) => row.action === action).length,
        headers: said.filter((one) => one === action).length,
      }),
    ),
    agreeing('answered with 200', {
      upstream: requests.length,
      journal: rows.filter(({ status, outcome }) => status === 200 && outcome === 'finished').length,
      headers: requests.filter(({ status }) => status === 200).length,
    }),
    agreeing('beyond the window', {
      upstream: requests.filter(({ whole }) => whole.isRefused).length,
      metrics: metrics.sum('foldgate_requests_beyond_window_total'),
      journal: rows.filter(({ beyond_window: isBeyond }) => isBeyond === true).length,
      pages: sumOf(cards, (card) => card.beyond_window),
    }),
    agreeing('  in the headline', {
      journal: rows.filter(({ beyond_window: isBeyond }) => isBeyond === true).length,
      pages: totals.beyond_window,
    }),
    agreeing('  not known', {
      journal: rows.filter(({ beyond_window: isBeyond }) => isBeyond === null).length,
      pages: totals.beyond_unknown,
    }),
    agreeing('refusals', {
      upstream: sumOf(requests, ({ refusals }) => refusals),
      metrics: metrics.sum(recoveries, { outcome: 'failed' }),
      journal: troubles(['refusal', 'recovery', 'error', 'restored']),
      headers: requests.filter(({ status }) => status >= 400).length,
    }),
    agreeing('recoveries', {
      upstream: 0,
      metrics: metrics.sum(recoveries, { outcome: 'recovered' }),
      journal: rows.filter(({ action }) => action === 'recovered').length,
      pages: totals.recoveries,
    }),
    agreeing('failures of its own', {
      upstream: 0,
      metrics: metrics.sum('foldgate_failures_total'),
      journal: troubles(['failure']),
    }),
  ]
}

function compactionFigures({ requests, books, totals }: Walk): readonly Figure[] {
  const { metrics, events, details, cards } = books
  const rows = details.flatMap((detail) => detail.rows)
  const compactions = events.filter(({ type }) => type === 'compaction')
  const name = 'foldgate_compactions_total'
  const passes = new Set([
    ...metrics.by(name, 'pass').keys(),
    ...compactions.flatMap((event) => event.passes),
  ])
  const whole: Told = {
    // A prompt that does not begin with the one before it was changed in the middle.
    upstream: requests.filter(
      ({ rawMessages }, number) => !isBeginning(requests[number - 1]?.rawMessages ?? [], rawMessages),
    ).length,
    journal: compactions.length,
    pages: totals.compactions,
  }
  return [
    agreeing('compactions', whole),
    agreeing('  rows and cards', {
      journal: rows.filter(({ compaction }) => compaction !== null).length,
      pages: sumOf(cards, (card) => card.compactions),
      upstream: whole.upstream ?? null,
    }),
    ...[...passes].toSorted().map((pass) =>
      agreeing(`  ${pass}`, {
        metrics: metrics.sum(name, { pass }),
        journal: compactions.filter((event) => event.passes.includes(pass)).length,
      }),
    ),
  ]
}
