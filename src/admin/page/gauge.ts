import { percent } from './figures.ts'
import { gaugeGeometry, gaugeWidth, levelOf } from './gauge-geometry.ts'
import { html, type HtmlEscapedString } from './markup.ts'

/**
 * A pressure as a bar with its number: how full the conversation was as it came, and what was sent of it, with a marker. The
 * line in it is the budget; beyond it there is some room, and what exceeds that too is told by the number only.
 */
export function gauge(pressure: number | null, sentPressure: number | null): HtmlEscapedString {
  if (pressure === null) return html`<span class="gauge none">not measured</span>`
  const { came, sent, budget, marker } = gaugeGeometry(pressure, sentPressure)
  const asSent = sentPressure === null ? '' : `, ${percent(sentPressure)} as sent`
  return html`<span class="gauge ${levelOf(pressure)}">
    <svg
      viewBox="0 0 ${gaugeWidth} 14"
      width="${gaugeWidth}"
      height="14"
      role="img"
      aria-label="Pressure ${percent(pressure)} as it came${asSent}"
    >
      <rect class="track" x="0" y="4" width="${gaugeWidth}" height="6" rx="1" />
      <rect class="came" x="0" y="4" width="${came}" height="6" rx="1" />
      <rect class="sent" x="0" y="4" width="${sent}" height="6" rx="1" />
      <line class="budget" x1="${budget}" x2="${budget}" y1="2" y2="12" />
      ${marker === null ? null : html`<path class="marker" d="M${marker} 4 l4 -4 h-8 z M${marker} 3 V11" />`}
    </svg>
    <span class="number" aria-hidden="true">${percent(pressure)}</span>
  </span>`
}
