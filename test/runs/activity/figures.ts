import type { UsageRow } from '../../../src/telemetry/journal/rows.ts'
import { money } from '../../../src/admin/page/markup.ts'
import { isBeginning } from '../../support/is-beginning.ts'
import { sumOf } from '../harness/table.ts'
import { agreeing, figure, type Figure } from './figure.ts'
import { prices, walk, type Walk, type WalkedRequest, type WalkOptions } from './walk.ts'

/**
 * Makes every request of a conversation through a Foldgate and compares all that it tells of them in more than one place
 * with what the upstream has counted itself, and with what it would have made of the same requests without Foldgate.
 */
export async function agreementOf(options: WalkOptions): Promise<readonly Figure[]> {
  const walked = await walk(options)
  return [requestFigures, compactionFigures, sizeFigures, costFigures, messageFigures].flatMap((figures) =>
    figures(walked),
  )
}

/** Tokens and pressure of prompts, as they came and as they were sent. */
function sizeFigures({ requests, books, totals }: Walk): readonly Figure[] {
  const { metrics, details } = books
  const rows = details.flatMap((detail) => detail.rows)
  const stage = (name: string): number => metrics.sum('foldgate_prompt_tokens_total', { stage: name })
  const sent = sumOf(requests, (request) => request.sent.promptTokens)
  const received = stage('received')
  const wholeTokens = sumOf(requests, ({ whole }) => whole.promptTokens)
  const wasCompacted = rows.some(({ passes }) => passes.length > 0)
  const saved = sumOf(rows, (row) => row.saved_tokens)
  return [
    agreeing('prompt tokens sent', {
      upstream: sent,
      metrics: stage('sent'),
      journal: sumOf(rows, (row) => row.prompt_tokens ?? 0),
    }),
    agreeing('  cached', {
      upstream: sumOf(requests, (request) => request.sent.cachedTokens),
      metrics: stage('cached'),
      journal: sumOf(rows, (row) => row.cached_tokens ?? 0),
    }),
    figure(
      'prompt tokens received',
      { upstream: wholeTokens, metrics: received },
      wasCompacted ? received >= sent && isNear(received, wholeTokens) : received === sent,
    ),
    figure(
      'tokens saved',
      { upstream: wholeTokens - sent, journal: saved, pages: totals.saved_tokens },
      saved === totals.saved_tokens && isNear(wholeTokens - sent, saved, wholeTokens),
    ),
    ...ownCounts(requests, rows),
    ...pressures(requests, rows, books),
  ]
}

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
  // A prompt that does not begin with the one before it was changed in the middle.
  const upstream = requests.filter(
    ({ rawMessages }, number) => !isBeginning(requests[number - 1]?.rawMessages ?? [], rawMessages),
  ).length
  return [
    agreeing('compactions', { upstream, journal: compactions.length, pages: totals.compactions }),
    agreeing('  rows and cards', {
      journal: rows.filter(({ compaction }) => compaction !== null).length,
      pages: sumOf(cards, (card) => card.compactions),
      upstream,
    }),
    ...[...passes].toSorted().map((pass) =>
      agreeing(`  ${pass}`, {
        metrics: metrics.sum(name, { pass }),
        journal: compactions.filter((event) => event.passes.includes(pass)).length,
      }),
    ),
  ]
}

/** What prompts cost, and what they would have cost whole, by the upstream's own counts and by Foldgate's. */
function costFigures({ requests, books, totals }: Walk): readonly Figure[] {
  const rows = books.details.flatMap((detail) => detail.rows)
  const sent = sumOf(requests, (request) => costOf(request.sent))
  const whole = sumOf(requests, (request) => costOf(request.whole))
  const told = sumOf(rows, (row) => row.prompt_cost ?? 0)
  const toldWhole = sumOf(rows, (row) => row.whole_prompt_cost ?? 0)
  const saved = sumOf(rows, (row) =>
    row.passes.length === 0 ? 0 : (row.whole_prompt_cost ?? 0) - (row.prompt_cost ?? 0),
  )
  const savedMoney = totals.saved_money
  return [
    agreeing('cost of what was sent', { upstream: sent, journal: told }),
    figure(
      'cost of the whole prompts',
      { upstream: whole, journal: toldWhole },
      Math.abs(whole - toldWhole) <= whole * WHOLE_SHARE,
    ),
    agreeing('money saved', { journal: saved, pages: savedMoney }),
    figure(
      '  on the page',
      { journal: shownMoney(saved), pages: shownIn(books.page, saved) },
      isShown(books.page, saved),
    ),
  ]
}

const PER_TOKENS = 1_000_000

/** Of what was never sent, size and cache are reckoned: from own counts, and from the request point before. */
const WHOLE_SHARE = 0.05

const costOf = ({ promptTokens, cachedTokens }: { promptTokens: number; cachedTokens: number }): number =>
  ((promptTokens - cachedTokens) * prices.input + cachedTokens * prices.cached_input) / PER_TOKENS

const shownMoney = (amount: number): string => (amount === 0 ? '-' : money(Math.abs(amount)))

const isShown = (page: string, amount: number): boolean =>
  amount === 0 || page.includes(`${shownMoney(amount)} in money`)

const shownIn = (page: string, amount: number): string =>
  isShown(page, amount) ? shownMoney(amount) : (/\S+ in money/.exec(page)?.[0] ?? 'nothing')

/** The messages of the last request as the page shows them, and as the upstream received them. */
function messageFigures({ requests, books }: Walk): readonly Figure[] {
  const latest = books.details.toSorted((one, other) => (one.last_seen < other.last_seen ? 1 : -1))[0]
  const shown = (latest?.messages ?? []).flatMap(({ sent }) => (sent === null ? [] : [sent]))
  const received = requests.at(-1)?.rawMessages ?? []
  const same = shown.filter((text, place) => isWholeOrCut(text, received[place] ?? '')).length
  const treated = (latest?.messages ?? []).filter(({ index }) => index !== null).length
  const row = latest?.rows.at(-1)
  return [
    figure(
      'messages of the last request',
      { upstream: received.length, journal: row?.messages_sent ?? 'none', pages: shown.length },
      shown.length === received.length && row?.messages_sent === received.length,
    ),
    figure('  with the same text', { upstream: received.length, pages: same }, same === received.length),
    figure(
      '  received',
      { journal: row?.messages_received ?? 'none', pages: treated },
      row?.messages_received === treated,
    ),
  ]
}

/** Whether the page shows this text, all of it or its beginning with the length of the rest. */
function isWholeOrCut(shown: string, text: string): boolean {
  if (shown === text) return true
  const [, beginning = '', rest = ''] = /^(.*)… \((\d+) more characters\)$/s.exec(shown) ?? []
  return rest !== '' && text.startsWith(beginning) && text.length === beginning.length + Number(rest)
}

/** What was never sent nobody has counted but Foldgate: its count and the upstream's may differ by this share. */
const NEAR_SHARE = 0.03

const isNear = (one: number, other: number, of = Math.max(one, other)): boolean =>
  Math.abs(one - other) <= of * NEAR_SHARE

/** Own counts: in headers and rows the same, and beside the upstream's counts of the same prompts. */
function ownCounts(requests: readonly WalkedRequest[], rows: readonly UsageRow[]): readonly Figure[] {
  const told = rows.map((row) => {
    const bound = row.tokens_are_bounds ? '<' : ''
    return `${bound}${row.tokens_received};sent=${bound}${row.tokens_sent}`
  })
  const differences = rows.flatMap((row, number) => {
    const counted = requests[number]?.sent.promptTokens ?? 0
    return row.tokens_are_bounds || row.tokens_sent === null ? [] : [Math.abs(row.tokens_sent - counted)]
  })
  const bounds = rows.filter(
    (row, number) =>
      row.tokens_are_bounds && (row.tokens_sent ?? 0) < (requests[number]?.sent.promptTokens ?? 0),
  )
  const isEverySame = requests.every(({ header }, number) => header('x-foldgate-tokens') === told[number])
  return [
    figure(
      'own counts (x-foldgate-tokens)',
      {
        journal: told.length,
        headers: requests.filter(({ header }, at) => header('x-foldgate-tokens') === told[at]).length,
      },
      isEverySame && told.length === requests.length,
    ),
    figure('  bounds that are none', { journal: bounds.length }, bounds.length === 0),
    figure('  largest difference from the upstream', { journal: Math.max(0, ...differences) }, true),
  ]
}

function pressures(
  requests: readonly WalkedRequest[],
  rows: readonly UsageRow[],
  { metrics, cards }: Walk['books'],
): readonly Figure[] {
  const known = rows.flatMap(({ pressure }) => pressure ?? [])
  const sum = sumOf(known, (pressure) => pressure)
  const histogramSum = metrics.sum('foldgate_pressure_sum')
  const isSame = ({ header }: WalkedRequest, row: UsageRow | undefined): boolean => {
    const told = Number(header('x-foldgate-pressure').replace('<', ''))
    // Two digits, and a bound is rounded up.
    const allowed = (row?.tokens_are_bounds ? 0.01 : 0.005) + ROUNDED
    return Math.abs(told - (row?.pressure ?? -1)) <= allowed
  }
  const latest = rows.at(-1)
  const card = cards.find(({ last_seen: seen }) => seen === latest?.time)
  return [
    agreeing('pressures', {
      metrics: metrics.sum('foldgate_pressure_count'),
      journal: known.length,
      headers: requests.filter((request, number) => isSame(request, rows[number])).length,
    }),
    figure(
      '  their sum',
      { metrics: histogramSum.toFixed(3), journal: sum.toFixed(3) },
      Math.abs(histogramSum - sum) <= rows.length * ROUNDED,
    ),
    agreeing('  the latest (gauge)', {
      journal: `${latest?.pressure} > ${latest?.sent_pressure}`,
      pages: `${card?.pressure} > ${card?.sent_pressure}`,
    }),
  ]
}

/** Rows have three digits. */
const ROUNDED = 0.0005 + 1e-9
