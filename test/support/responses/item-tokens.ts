import { lruCache } from '../../../src/lru-cache.ts'
import {
  CALL_TOKENS,
  MEDIA_TOKENS,
  MESSAGE_TOKENS,
  openPromptCounter,
} from '../strict-upstream/prompt-tokens.ts'
import { sealedTokens } from '../strict-upstream/sealed-text.ts'
import { isObject, textOf } from '../strict-upstream/wire-message.ts'
import { BOOKKEEPING, meaningOf, valueDigest, outputTypeOf, typeOf, type WireItem } from './wire-item.ts'

/** Counts prompts as the strict Responses upstream does. Each item is counted once and known by its meaning thereafter. */
export type ItemCounter = {
  item(item: WireItem): number
  /** Nought where there are no tools. */
  tools(tools: unknown): number
}

export function openItemCounter(count: (text: string) => number): ItemCounter {
  const counts = lruCache<number>(COUNTS_MAX)
  const counter = openPromptCounter(count)
  return {
    item: (item) => {
      const key = meaningOf(item)
      const tokens = counts.get(key) ?? countItem(count, item)
      counts.set(key, tokens)
      return tokens
    },
    // A tool is described here as it is for chat completions, without the object around it.
    tools: (tools) =>
      counter.tools(
        valueDigest(tools),
        flat(tools).map((tool) => ({ function: tool })),
      ),
  }
}

// --- internal ---

// A number an item; 100,000 of them are the conversations of a long replay, in about 10 MB.
const COUNTS_MAX = 100_000

/** Members that tell the model nothing, or that are counted apart. */
const UNCOUNTED = new Set([
  BOOKKEEPING,
  'type',
  'id',
  'call_id',
  'status',
  'role',
  'phase',
  'detail',
  'encrypted_content',
  'summary',
])
const MEDIA = new Set(['image_url', 'file_id', 'file_data', 'input_audio', 'result'])

/** The same tokens around a call as in a chat. */
function countItem(count: (text: string) => number, item: WireItem): number {
  const sealed = sealedTokens(textOf(item['encrypted_content']))
  const frame = MESSAGE_TOKENS + (outputTypeOf.has(typeOf(item)) ? CALL_TOKENS : 0)
  return frame + sealed + countTexts(count, item, typeOf(item) === 'image_generation_call')
}

/** All texts of an item, wherever they stand: that counts an unknown one too. */
function countTexts(count: (text: string) => number, value: unknown, hasResult: boolean): number {
  if (typeof value === 'string') return count(value)
  if (Array.isArray(value))
    return value.reduce((sum: number, one) => sum + countTexts(count, one, hasResult), 0)
  if (!isObject(value)) return 0
  return Object.entries(value).reduce((sum, [name, member]) => {
    if (UNCOUNTED.has(name) || member === null) return sum
    if (MEDIA.has(name) && (name !== 'result' || hasResult)) return sum + MEDIA_TOKENS
    return sum + countTexts(count, member, hasResult)
  }, 0)
}

/** The tools of a namespace stand beside the others. */
function flat(tools: unknown): readonly WireItem[] {
  if (!Array.isArray(tools)) return []
  return tools.filter(isObject).flatMap((tool) => [tool, ...flat(tool['tools'])])
}
