import { isObject } from '../strict-upstream/wire-message.ts'
import { blocksOf, typeOf, type SentMessage, type WireBlock } from './wire-block.ts'

/** How long what stands up to a mark is kept. */
export type MarkTtl = '5m' | '1h'

/** The mark of a block, its own or that of something in it; null without. */
export function markOf(block: WireBlock): MarkTtl | null {
  return marksIn(block).at(-1) ?? null
}

/** The mark that a request sets on the last block that can have one; null without. */
export function automaticMarkOf(body: WireBlock): MarkTtl | null {
  return ttlOf(body['cache_control'])
}

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

// --- internal ---

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
