import { createHmac } from 'node:crypto'

/**
 * Tells the key that Foldgate holds for an upstream from the one before it, without showing either; empty where it holds
 * none. What an upstream said of one key is not true of the next: that it was accepted, denied or asked to wait.
 */
export type HeldKeyMark = (upstream: string) => string

/** `secret` belongs to the installation, so that a mark says nothing elsewhere. */
export function createHeldKeyMarks(options: {
  readonly secret: Buffer
  /** The key as it is now; null for none. */
  readonly keyOf: (upstream: string) => string | null
}): HeldKeyMark {
  const marks = new Map<string, { readonly key: string; readonly mark: string }>()
  return function markOf(upstream) {
    const key = options.keyOf(upstream)
    if (key === null) return ''
    const known = marks.get(upstream)
    if (known?.key === key) return known.mark
    const mark = createHmac('sha256', options.secret)
      .update(`held key\n${key}`)
      .digest('base64url')
      .slice(0, MARK_CHARS)
    marks.set(upstream, { key, mark })
    return mark
  }
}

/** Where no key is held, or none that could change. */
export const noMarks: HeldKeyMark = () => ''

// --- internal ---

/** 132 bits: no two keys meet. */
const MARK_CHARS = 22
