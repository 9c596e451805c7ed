import { hash } from 'node:crypto'
import { lruCache } from '../../../src/caches.ts'
import { isObject } from '../strict-upstream/wire-message.ts'
import { blocksOf, typeOf, type SentMessage, type WireBlock } from './wire-block.ts'

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

/** How long what stands up to a mark is kept. */
export type MarkTtl = '5m' | '1h'

/** The mark of a block, its own or that of something in it; null without. */
export const markOf = (block: WireBlock): MarkTtl | null => marksIn(block).at(-1) ?? null

/** The mark that a request sets on the last block that can have one; null without. */
export const automaticMarkOf = (body: WireBlock): MarkTtl | null => ttlOf(body['cache_control'])

/** What is wrong with the marks of a request; null if nothing is. */
export function marksProblem(body: WireBlock, messages: readonly SentMessage[]): string | null {
  const automatic = automaticMarkOf(body)
  const marks = [
    ...blocksOf(body['tools']).flatMap(marksIn),
    ...blocksOf(body['system']).flatMap(marksIn),
    ...messages.flatMap(({ blocks }) => blocks.flatMap(marksIn)),
    ...(automatic === null ? [] : [automatic]),
  ]
  if (marks.length > MARKS_MAX)
    return `A maximum of ${MARKS_MAX} blocks with cache_control may be provided. Found ${marks.length}.`
  const isMixedUp = marks.some((mark, place) => mark === '1h' && marks.slice(0, place).includes('5m'))
  return isMixedUp
    ? "messages: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`."
    : null
}

const LOOK_BACK_BLOCKS = 20
const ENTRIES_MAX = 100_000

const MARKS_MAX = 4

function marksIn(block: WireBlock): readonly MarkTtl[] {
  const within = typeOf(block) === 'tool_result' ? blocksOf(block['content']).flatMap(marksIn) : []
  const own = ttlOf(block['cache_control'])
  return own === null ? within : [...within, own]
}

function ttlOf(control: unknown): MarkTtl | null {
  if (!isObject(control)) return null
  return control['ttl'] === '1h' ? '1h' : '5m'
}
