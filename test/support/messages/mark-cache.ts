import { hash } from 'node:crypto'
import { lruCache } from '../../../src/lru-cache.ts'
import type { MarkTtl } from './cache-marks.ts'

/** One piece of a prompt: a tool, a block of the system prompt or of a message. */
export type CachePart = {
  /** Equal for pieces that say the same. */
  readonly digest: string
  readonly tokens: number
  /** Null where no mark stands on it. */
  readonly mark: MarkTtl | null
}

/** What the cache had to do with a prompt, in tokens. The rest of the prompt was neither read from it nor written to it. */
export type CacheUse = { readonly read: number; readonly written: Readonly<Record<MarkTtl, number>> }

export const unused: CacheUse = { read: 0, written: { '5m': 0, '1h': 0 } }

export type MarkCache = {
  /** Serves a prompt from what was written for the same owner, and writes down what its marks ask for. */
  serve(owner: string, parts: readonly CachePart[]): CacheUse
}

/**
 * The model of a prompt cache that is told where to write: what stands up to a mark is an entry. A mark finds the longest
 * entry that ends at it or at most 20 blocks before it.
 */
export function openMarkCache({ minimumTokens = 1024 }: { readonly minimumTokens?: number }): MarkCache {
  const entries = lruCache<boolean>(ENTRIES_MAX)

  /** Up to where the prompt is known; -1: nothing of it is. */
  function knownEnd(links: readonly string[], marks: readonly number[]): number {
    let end = -1
    for (const mark of marks) {
      const nearest = Math.max(0, mark - LOOK_BACK_BLOCKS)
      for (let at = mark; at >= nearest && at > end; at -= 1) if (entries.has(links[at] ?? '')) end = at
    }
    return end
  }

  return {
    serve(owner, parts) {
      let link = hash('sha1', owner)
      const links = parts.map(({ digest }) => (link = hash('sha1', `${link} ${digest}`)))
      let sum = 0
      const tokensTo = parts.map(({ tokens }) => (sum += tokens))
      const marks = parts.flatMap(({ mark }, at) =>
        mark !== null && (tokensTo[at] ?? 0) >= minimumTokens ? [at] : [],
      )
      const end = knownEnd(links, marks)
      const read = tokensTo[end] ?? 0
      const written = { '5m': 0, '1h': 0 }
      let from = read
      for (const at of marks) {
        entries.set(links[at] ?? '', true)
        if (at <= end) continue
        const to = tokensTo[at] ?? 0
        written[parts[at]?.mark ?? '5m'] += to - from
        from = to
      }
      return { read, written }
    },
  }
}

// --- internal ---

const LOOK_BACK_BLOCKS = 20
const ENTRIES_MAX = 100_000
