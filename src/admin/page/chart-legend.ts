import type { UsageRow } from '../../activity/journal/rows.ts'
import type { ChartGeometry, LevelLine } from './chart-geometry.ts'
import { figure } from './figures.ts'
import { html, type HtmlEscapedString } from './markup.ts'

/** What the lines and marks of the chart stand for; a level that is too far above it to be drawn is told here. */
export function chartLegend(
  rows: readonly UsageRow[],
  { window, budget, compactions, cached }: ChartGeometry,
): HtmlEscapedString {
  const latest = rows.at(-1)
  return html`<figcaption>
    <ul class="legend">
      <li>${swatch('received')}tokens in</li>
      <li>${swatch('sent')}tokens sent</li>
      ${cached.length > 0 && html`<li>${swatch('cached')}read from the provider's cache</li>`}
      ${compactions.length > 0 && html`<li>${swatch('compaction')}compaction</li>`}
      ${levelKey('budget', latest?.budget_tokens ?? null, budget)}
      ${levelKey('window', latest?.window_tokens ?? null, window)}
    </ul>
  </figcaption>`
}

// --- internal ---

function levelKey(name: string, latest: number | null, line: LevelLine | null): HtmlEscapedString | null {
  if (line !== null) return html`<li>${swatch(name)}${name} ${figure(line.tokens)}</li>`
  return latest === null ? null : html`<li class="away">${name} ${figure(latest)}, above the chart</li>`
}

function swatch(name: string): HtmlEscapedString {
  return html`<svg class="swatch" width="18" height="10" aria-hidden="true">
    ${
      name === 'cached'
        ? html`<rect class="cached" x="5" y="0" width="8" height="10" />`
        : name === 'compaction'
          ? html`<path class="fold" d="M4 1 h10 l-5 6 z" />`
          : html`<line class="${name}" x1="0" x2="18" y1="5" y2="5" />`
    }
  </svg>`
}
