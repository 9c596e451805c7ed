import { percent } from './figures.ts'
import { html, type HtmlEscapedString } from './markup.ts'

/** How near a conversation is to what fits, by its pressure as it came. */
export type Level = 'calm' | 'high' | 'critical'

export function levelOf(pressure: number): Level {
  if (pressure >= criticalFrom) return 'critical'
  return pressure >= highFrom ? 'high' : 'calm'
}

/**
 * Where the bar ends, how far it is what was sent, and where the budget and the marker stand, in units of the drawing.
 * Null for a marker that there is none of.
 */
export function gaugeGeometry(pressure: number, sentPressure: number | null) {
  const came = placeOf(pressure)
  const marker = sentPressure === null ? null : placeOf(sentPressure)
  return { came, sent: Math.min(came, marker ?? came), budget: placeOf(1), marker }
}

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
      viewBox="0 0 ${width} 14"
      width="${width}"
      height="14"
      role="img"
      aria-label="Pressure ${percent(pressure)} as it came${asSent}"
    >
      <rect class="track" x="0" y="4" width="${width}" height="6" rx="1" />
      <rect class="came" x="0" y="4" width="${came}" height="6" rx="1" />
      <rect class="sent" x="0" y="4" width="${sent}" height="6" rx="1" />
      <line class="budget" x1="${budget}" x2="${budget}" y1="2" y2="12" />
      ${marker === null ? null : html`<path class="marker" d="M${marker} 4 l4 -4 h-8 z M${marker} 3 V11" />`}
    </svg>
    <span class="number" aria-hidden="true">${percent(pressure)}</span>
  </span>`
}

// --- internal ---

const highFrom = 0.7
const criticalFrom = 0.9

/** Width of the drawing, and the pressure at its end. */
const width = 120
const pressureMax = 1.25

function placeOf(pressure: number): number {
  return Math.round((Math.min(Math.max(pressure, 0), pressureMax) / pressureMax) * width * 10) / 10
}
