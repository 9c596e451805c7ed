/** A share of something as people say it: `62% of`, `5.6 times`. */
export function shareText(share: number): string {
  return share < TIMES_MIN ? `${Math.round(share * 100)}% of` : `${share.toFixed(1)} times`
}

// --- internal ---

/** From here on nobody reads percents. */
const TIMES_MIN = 2
