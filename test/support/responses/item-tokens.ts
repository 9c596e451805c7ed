import {
  CALL_TOKENS,
  countingOnce,
  countTexts,
  MEDIA_TOKENS,
  MESSAGE_TOKENS,
  openPromptCounter,
} from '../strict-upstream/prompt-tokens.ts'
import { sealedTokens } from '../strict-upstream/sealed-text.ts'
import { isObject, textOf } from '../strict-upstream/wire-message.ts'
import { BOOKKEEPING, meaningOf, seenDigest, outputTypeOf, typeOf, type WireItem } from './wire-item.ts'

/** Counts prompts as the strict Responses upstream does. Each item is counted once and known by its meaning thereafter. */
export type ItemCounter = {
  item(item: WireItem): number
  /** Nought where there are no tools. */
  tools(tools: unknown): number
}

export function openItemCounter(count: (text: string) => number): ItemCounter {
  const once = countingOnce()
  const counter = openPromptCounter(count)
  return {
    item: (item) => once(meaningOf(item), () => countItem(count, item)),
    // A tool is described here as it is for chat completions, without the object around it.
    tools: (tools) =>
      counter.tools(
        seenDigest(tools),
        flat(tools).map((tool) => ({ function: tool })),
      ),
  }
}

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
  const hasResult = typeOf(item) === 'image_generation_call'
  const texts = countTexts(count, item, (name) => {
    if (UNCOUNTED.has(name)) return 0
    return MEDIA.has(name) && (name !== 'result' || hasResult) ? MEDIA_TOKENS : null
  })
  return frame + sealed + texts
}

/** The tools of a namespace stand beside the others. */
function flat(tools: unknown): readonly WireItem[] {
  if (!Array.isArray(tools)) return []
  return tools.filter(isObject).flatMap((tool) => [tool, ...flat(tool['tools'])])
}
