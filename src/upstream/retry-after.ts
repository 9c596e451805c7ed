/** The `retry-after` header in milliseconds, in seconds or as a date (RFC 9110, 10.2.3); null where it says neither. */
export function retryAfterMs(header: string | null, nowMs: number): number | null {
  if (header === null) return null
  const text = header.trim()
  if (/^\d{1,9}(?:\.\d{1,9})?$/.test(text)) return Math.round(Number(text) * 1000)
  // `Date.parse` finds a date in "-1", too: one that is meant names its month.
  const waitMs = /[a-z]{3}/i.test(text) ? Date.parse(text) - nowMs : Number.NaN
  return Number.isFinite(waitMs) ? Math.max(0, Math.round(waitMs)) : null
}
