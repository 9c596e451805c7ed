import { money } from '../../../src/admin/page/figures.ts'
import type { Figure } from './agreement.ts'
import { agreeing, figure, sumOf } from './figure.ts'
import { prices, type Walk } from './walk.ts'

/** What prompts cost, and what they would have cost whole, by the upstream's own counts and by Foldgate's. */
export function costFigures({ requests, books, totals }: Walk): readonly Figure[] {
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

// --- internal ---

const PER_TOKENS = 1_000_000

/** Of what was never sent, size and cache are reckoned: from own counts, and from the request point before. */
const WHOLE_SHARE = 0.05

function costOf({ promptTokens, cachedTokens }: { promptTokens: number; cachedTokens: number }): number {
  return ((promptTokens - cachedTokens) * prices.input + cachedTokens * prices.cached_input) / PER_TOKENS
}

function shownMoney(amount: number): string {
  return amount === 0 ? '-' : money(Math.abs(amount))
}

function isShown(page: string, amount: number): boolean {
  return amount === 0 || page.includes(`${shownMoney(amount)} in money`)
}

function shownIn(page: string, amount: number): string {
  return isShown(page, amount) ? shownMoney(amount) : (/\S+ in money/.exec(page)?.[0] ?? 'nothing')
}
