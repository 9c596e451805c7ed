import { hash } from 'node:crypto'
import { isObject } from '../strict-upstream/wire-message.ts'
import { blocksOf, typeOf, type WireBlock } from './wire-block.ts'

/**
 * A digest of what a block says: the same for every spelling of the JSON and with any mark for the cache. The input of a
 * call is data, and all of it counts.
 */
export function meaningOf(block: WireBlock): string {
  const known = meanings.get(block) ?? valueDigest(withoutMark(block))
  meanings.set(block, known)
  return known
}

/** A digest of a value, the same for every spelling and order of its members. */
export function valueDigest(value: unknown): string {
  return hash('sha1', JSON.stringify(value, inOrder) ?? '')
}

/** The text or the blocks of `system`, or the tools, without marks. */
export function unmarked(list: unknown): readonly WireBlock[] {
  return blocksOf(list).map(withoutMark)
}

// --- internal ---

/** Each block of a request is asked for several times. */
const meanings = new WeakMap<WireBlock, string>()

function withoutMark(block: WireBlock): WireBlock {
  const { cache_control: _, ...rest } = block
  if (typeOf(block) !== 'tool_result' || rest['content'] === undefined) return rest
  return { ...rest, content: unmarked(rest['content']) }
}

function inOrder(_: string, value: unknown): unknown {
  if (!isObject(value)) return value
  const names = Object.keys(value).filter((name) => value[name] !== null && value[name] !== undefined)
  return Object.fromEntries(names.toSorted().map((name) => [name, value[name]]))
}
