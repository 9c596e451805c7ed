import { hasFailed, type ToldRequest } from './request-words.ts'
import { percent } from './figures.ts'
import { html, type HtmlEscapedString } from './markup.ts'

export type Gauged = ToldRequest & {
  readonly pressure: number | null
  readonly sent_pressure: number | null
}

/**
 * How much of the budget was sent, as a bar with its number, and behind it in grey how much had come. The line in it is the
 * budget; what exceeds the drawing is told by the number only. What was sent gives it its colour: a conversation of many
 * times the window that was compacted and answered is well.
 */
export function gauge(of: Gauged): HtmlEscapedString {
  const { pressure, sent_pressure: sentPressure } = of
  if (pressure === null) return html`<span class="gauge none">not measured</span>`
  const sent = sentPressure ?? pressure
  const asCame = sent === pressure ? '' : `, of ${percent(pressure)} that came`
  return html`<span class="gauge ${levelOf(of, sent)}">
    <svg
      viewBox="0 0 ${WIDTH} 14"
      width="${WIDTH}"
      height="14"
      role="img"
      aria-label="${percent(sent)} of the budget sent${asCame}"
    >
      <rect class="track" x="0" y="4" width="${WIDTH}" height="6" rx="1" />
      <rect class="came" x="0" y="4" width="${placeOf(pressure)}" height="6" rx="1" />
      <rect class="sent" x="0" y="4" width="${placeOf(sent)}" height="6" rx="1" />
      <line class="budget" x1="${placeOf(1)}" x2="${placeOf(1)}" y1="1" y2="13" />
    </svg>
    <span class="number" aria-hidden="true">${percent(sent)}</span>
  </span>`
}

// --- internal ---

/** Of the drawing, in its own units. */
const WIDTH = 120

/** The pressure at the end of the drawing. */
const PRESSURE_MAX = 1.25

/** More than the budget that was answered all the same shows a budget that is too small; else it cannot fit. */
function levelOf(of: Gauged, sent: number): 'calm' | 'high' | 'critical' {
  if (sent <= 1) return 'calm'
  return hasFailed(of) ? 'critical' : 'high'
}

function placeOf(pressure: number): number {
  return Math.round((Math.min(Math.max(pressure, 0), PRESSURE_MAX) / PRESSURE_MAX) * WIDTH * 10) / 10
}
