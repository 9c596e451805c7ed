import { dayBefore, type Savings, savingsBy, savingsSchema } from '../../telemetry/conversations/savings.ts'
import { clientName } from './conversation-table.ts'
import { layout, type PageSetting } from './page-frame.ts'
import {
  figure,
  foreignOr,
  html,
  type HtmlEscapedString,
  money,
  plural,
  shortFigure,
  table,
} from './markup.ts'

/** By what savings are summed up. */
export const savingsKinds = ['day', 'client', 'model', 'profile'] as const

export type SavingsKind = (typeof savingsKinds)[number]

export type SavingsPageOptions = PageSetting & {
  /** The latest day first. */
  readonly savings: readonly Savings[]
  readonly by: SavingsKind
  /** How many days they are of. */
  readonly days: number
  /** Whether money is by the settings' `prices`; else it is by what makers list, in US dollars. */
  readonly hasPrices: boolean
}

/** The page at `/savings`: what was left out, day by day, and by who asked for what. */
export function savingsPage(options: SavingsPageOptions): HtmlEscapedString {
  const { savings, by, days, hasPrices, ...setting } = options
  const rows = [...savingsBy(savings, (part) => nameOf(part, by))].slice(0, ROWS_SHOWN)
  return layout({
    ...setting,
    title: 'Savings · Foldgate',
    conversation: null,
    main: html`<section id="savings" data-live aria-labelledby="savings-title">
      <h1 id="savings-title">What was left out in ${plural(days, 'day')}</h1>
      ${barChart(savings, days, setting.now)}
      <p class="soft">
        Tokens that came and were not sent on, in the provider’s tokens where it says how many it got, in UTC
        days. A request that goes on as it came saves nothing. Most of what is left out would have come from
        the provider’s cache, at a tenth of the price or so, and a compaction makes the cache begin anew:
        ${hasPrices ? 'money counts' : 'money, at list prices, counts'} both; tokens do not.
      </p>
      <p class="facts">
        ${savingsKinds.map((kind) => html`<span>${kind === by ? html`by ${kind}` : html`<a href="/savings?by=${kind}&amp;days=${days}">by ${kind}</a>`}</span> `)}
        <span><a href="/savings.csv?days=${days}">as CSV</a></span>
      </p>
      ${
        rows.length === 0
          ? html`<p class="soft">No request is on record of these days.</p>`
          : table(rows, [
              [titles[by], 'text', ([name]) => foreignOr(name, 'without a name'), 'name'],
              ['Requests', 'right', ([, sum]) => figure(sum.requests)],
              ['Changed', 'right', ([, sum]) => figure(sum.changed)],
              ['Tokens left out', 'right', ([, sum]) => figure(sum.saved_tokens)],
              ['Prompt tokens', 'right', ([, sum]) => figure(sum.prompt_tokens)],
              ['From its cache', 'right', ([, sum]) => figure(sum.cached_tokens)],
              ['Money', 'right', ([, sum]) => moneyWords(sum, hasPrices)],
            ])
      }
    </section>`,
  })
}

/** The same as comma-separated values, a line for each day, client, model and profile (RFC 4180). */
export function savingsCsv(savings: readonly Savings[]): string {
  const names = savingsSchema.keyof().options
  const lines = savings.map((part) => names.map((each) => csvCell(part[each])).join(','))
  return [names.join(','), ...lines].map((line) => `${line}\r\n`).join('')
}

// --- internal ---

const titles = { day: 'Day', client: 'Client', model: 'Model', profile: 'Profile' } as const

function nameOf(part: Savings, by: SavingsKind): string | null {
  return by === 'client' ? clientName(part.client) : part[by]
}

function moneyWords({ saved_money: saved }: Savings, hasPrices: boolean): string {
  return saved === null ? '' : `${hasPrices ? '' : '$'}${money(saved)}`
}

/** A spreadsheet takes what begins like a formula for one, and clients name themselves. */
function csvCell(value: string | number | null): string {
  if (typeof value === 'number') return String(value)
  const text = value ?? ''
  const plain = /^[=+\-@\t\r\n]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}

/** Clients may name as many models as they like. */
const ROWS_SHOWN = 500

const CHART_HEIGHT = 120
const CHART_WIDTH = 1_000

/** A bar for each day, the latest to the right. Days on which more was sent than came have none. */
function barChart(savings: readonly Savings[], days: number, now: Date): HtmlEscapedString {
  const sums = savingsBy(savings, ({ day }) => day)
  const bars = Array.from({ length: days }, (_, place) => {
    const day = dayBefore(now, days - 1 - place)
    return { day, tokens: Math.max(0, sums.get(day)?.saved_tokens ?? 0) }
  })
  const most = Math.max(1, ...bars.map(({ tokens }) => tokens))
  const width = CHART_WIDTH / days
  const total = savings.reduce((sum, { saved_tokens: tokens }) => sum + tokens, 0)
  return html`<figure class="chart">
    <svg
      class="bars"
      viewBox="0 0 ${CHART_WIDTH} ${CHART_HEIGHT}"
      width="100%"
      height="${CHART_HEIGHT}"
      preserveAspectRatio="none"
      role="img"
      aria-label="${figure(total)} tokens left out in ${plural(days, 'day')}; the most in one day ${figure(most)}"
    >
      ${bars.map(({ day, tokens }, place) => {
        const height = (tokens / most) * CHART_HEIGHT
        return html`<rect
          x="${place * width + width * 0.1}"
          y="${CHART_HEIGHT - height}"
          width="${width * 0.8}"
          height="${height}"
          ><title>${day}: ${plural(tokens, 'token')}</title></rect
        >`
      })}
    </svg>
    <figcaption class="soft facts">
      <span>${bars[0]?.day ?? ''}</span> <span>at most ${shortFigure(most)} a day</span>
      <span>${bars.at(-1)?.day ?? ''}</span>
    </figcaption>
  </figure>`
}
