/** Something that may be had so often a second; what was not taken is saved up, as much as a second brings. */
export type Allowance = {
  /** Takes one; false if none is left. */
  readonly take: () => boolean
}

/** `perSecond` null: as often as it is wanted. */
export function createAllowance(
  perSecond: number | null,
  nowMs: () => number = () => performance.now(),
): Allowance {
  if (perSecond === null) return { take: () => true }
  const perMs = perSecond / 1000
  let left = perSecond
  let atMs = nowMs()
  return {
    take: () => {
      const now = nowMs()
      left = Math.min(perSecond, left + (now - atMs) * perMs)
      atMs = now
      if (left < 1) return false
      left -= 1
      return true
    },
  }
}
