import { percent } from './figures.ts'
import { html, type HtmlEscapedString } from './markup.ts'

/**
 * A pressure as a bar with its number: how full the conversation was as it came, and what was sent of it, with a marker. The
 * line in it is the budget; beyond it there is some room, and what exceeds that too is told by the number only.
 */
export function gauge(pressure: number | null, sentPressure: number | null): HtmlEscapedString {
  if (pressure === null) return html`<span class="gauge none">not measured</span>`
  const came = placeOf(pressure)
  const marker = sentPressure === null ? null : placeOf(sentPressure)
  const asSent = sentPressure === null ? '' : `, ${percent(sentPressure)} as sent`
  const level = pressure >= CRITICAL_FROM ? 'critical' : pressure >= HIGH_FROM ? 'high' : 'calm'
  return html`<span class="gauge ${level}">
    <svg
      viewBox="0 0 ${WIDTH} 14"
      width="${WIDTH}"
      height="14"
      role="img"
      aria-label="Pressure ${percent(pressure)} as it came${asSent}"
    >
      <rect class="track" x="0" y="4" width="${WIDTH}" height="6" rx="1" />
      <rect class="came" x="0" y="4" width="${came}" height="6" rx="1" />
      <rect class="sent" x="0" y="4" width="${Math.min(came, marker ?? came)}" height="6" rx="1" />
      <line class="budget" x1="${placeOf(1)}" x2="${placeOf(1)}" y1="2" y2="12" />
      ${marker === null ? null : html`<path class="marker" d="M${marker} 4 l4 -4 h-8 z M${marker} 3 V11" />`}
    </svg>
    <span class="number" aria-hidden="true">${percent(pressure)}</span>
  </span>`
}

// --- internal ---

/** Of the drawing, in its own units. */
const WIDTH = 120

/** The pressure at the end of the drawing. */
const PRESSURE_MAX = 1.25

const HIGH_FROM = 0.7
const CRITICAL_FROM = 0.9

function placeOf(pressure: number): number {
  return Math.round((Math.min(Math.max(pressure, 0), PRESSURE_MAX) / PRESSURE_MAX) * WIDTH * 10) / 10
}
