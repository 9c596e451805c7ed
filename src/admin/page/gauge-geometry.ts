/** Width of the drawing. */
export const gaugeWidth = 120

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

// --- internal ---

const highFrom = 0.7
const criticalFrom = 0.9

/** The pressure at the end of the drawing. */
const pressureMax = 1.25

function placeOf(pressure: number): number {
  return Math.round((Math.min(Math.max(pressure, 0), pressureMax) / pressureMax) * gaugeWidth * 10) / 10
}
