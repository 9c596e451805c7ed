import { LRUCache } from 'lru-cache'

export type LastingOptions<Value> = {
  /** Names remembered; the one unused for longest goes first. */
  readonly entriesMax: number
  /** How long a value holds, in milliseconds. */
  readonly lifetimeMs: (value: Value) => number
  readonly isValue: (value: unknown) => value is Value
  readonly nowMs: () => number
}

/** Values that hold for a while, by name. */
export type Lasting<Value> = {
  readonly get: (name: string) => Value | null
  readonly set: (name: string, value: Value) => void
  readonly forget: (name: string) => void
  /** A name's value and its end as plain JSON; null where there is none. */
  readonly snapshot: (name: string) => { readonly value: Value; readonly untilMs: number } | null
  /** Takes a snapshot over, `instead` of what is known or `beside` it. One that is damaged changes nothing. */
  readonly restore: (name: string, snapshot: unknown, how: 'instead' | 'beside') => void
}

/** Ends are times of the clock, so that they are the same in the next process and in another one. */
export function createLasting<Value>(options: LastingOptions<Value>): Lasting<Value> {
  const { lifetimeMs, isValue, nowMs } = options
  const entries = new LRUCache<string, { value: Value; untilMs: number }>({ max: options.entriesMax })

  function standing(name: string): { value: Value; untilMs: number } | null {
    const entry = entries.get(name)
    if (entry === undefined) return null
    const now = nowMs()
    if (entry.untilMs <= now) {
      entries.delete(name)
      return null
    }
    // Set before the clock went back: it must not last for as long as that went.
    const untilMsMax = now + lifetimeMs(entry.value)
    if (entry.untilMs <= untilMsMax) return entry
    const shortened = { value: entry.value, untilMs: untilMsMax }
    entries.set(name, shortened)
    return shortened
  }

  return {
    get: (name) => standing(name)?.value ?? null,
    set: (name, value) => {
      const now = nowMs()
      const known = entries.get(name)
      // What every answer says again is not written to the store for each of them.
      const isFresh = known?.value === value && known.untilMs > now + lifetimeMs(value) * FRESH_SHARE
      if (!isFresh) entries.set(name, { value, untilMs: now + lifetimeMs(value) })
    },
    forget: (name) => void entries.delete(name),
    snapshot: standing,
    restore: (name, snapshot, how) => {
      if (snapshot === null) {
        if (how === 'instead') entries.delete(name)
        return
      }
      if (typeof snapshot !== 'object' || !('value' in snapshot) || !('untilMs' in snapshot)) return
      const { value, untilMs } = snapshot
      if (!isValue(value) || typeof untilMs !== 'number' || Number.isNaN(untilMs)) return
      const known = how === 'beside' ? standing(name) : null
      // The longer it holds, the newer it is, or the surer.
      if (known !== null && known.untilMs >= untilMs) return
      // A clock that is ahead of this one must not make it last.
      const until = Math.min(untilMs, nowMs() + lifetimeMs(value))
      entries.set(name, { value, untilMs: until })
    },
  }
}

// --- internal ---

/** What still holds for this share of its lifetime is not renewed. */
const FRESH_SHARE = 0.75
