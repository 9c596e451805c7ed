import type { UsageRow } from '../../../src/activity/journal/rows.ts'
import { sumOf } from '../harness/table.ts'
import { agreeing, figure, type Figure } from './figure.ts'
import type { Walk, WalkedRequest } from './walk.ts'

/** Tokens and pressure of prompts, as they came and as they were sent. */
export function sizeFigures({ requests, books, totals }: Walk): readonly Figure[] {
  const { metrics, details } = books
  const rows = details.flatMap((detail) => detail.rows)
  const stage = (name: string): number => metrics.sum('foldgate_prompt_tokens_total', { stage: name })
  const sent = sumOf(requests, (request) => request.sent.promptTokens)
  const received = stage('received')
  const wholeTokens = sumOf(requests, ({ whole }) => whole.promptTokens)
  const wasCompacted = rows.some(({ passes }) => passes.length > 0)
  const saved = sumOf(rows, savedTokens)
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

// --- internal ---

/** What was never sent nobody has counted but Foldgate: its count and the upstream's may differ by this share. */
const NEAR_SHARE = 0.03

function isNear(one: number, other: number, of = Math.max(one, other)): boolean {
  return Math.abs(one - other) <= of * NEAR_SHARE
}

function savedTokens(row: UsageRow): number {
  const { tokens_received: received, tokens_sent: sent, tokens_are_bounds: areBounds } = row
  return received === null || sent === null || areBounds ? 0 : received - sent
}

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
