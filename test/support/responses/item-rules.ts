import { isObject, textOf } from '../strict-upstream/wire-message.ts'
import { shapeBreak } from './item-shapes.ts'
import { callIdOf, outputTypeOf, typeOf, type WireItem } from './wire-item.ts'

export type ItemRule =
  | 'item-shape'
  | 'call-unanswered'
  | 'output-orphan'
  | 'reasoning-alone'
  | 'reasoning-missing'
  | 'update-repeated'
  | 'trigger-not-last'

/** A rule that a list of items breaks, in OpenAI's words. */
export type ItemBreak = {
  readonly rule: ItemRule
  /** Index of the item at which it shows. */
  readonly index: number
  readonly message: string
  readonly param: string
  readonly code: string | null
}

/** What an upstream knows of an item that it has made. */
export type IssuedItem = {
  /** Names the reply that it was part of. */
  readonly reply: string
  /** The reasoning that led to it; null where there was none. */
  readonly reasoningId: string | null
}

/** What an upstream knows of the items that it has made, by their ids. */
export type Issued = { get(id: string): IssuedItem | undefined }

/** Every rule that the items break, in their order; none for a valid conversation. */
export function itemBreaks(items: readonly unknown[], issued: Issued): readonly ItemBreak[] {
  const breaks: ItemBreak[] = []
  const read = items.map((item, index): WireItem => {
    const broken = shapeBreak(item, index)
    if (broken !== null) breaks.push({ rule: 'item-shape', index, ...broken })
    return isObject(item) ? item : {}
  })
  breaks.push(...pairBreaks(read), ...groupBreaks(read, issued), ...placeBreaks(read))
  return breaks.toSorted((left, right) => left.index - right.index)
}

// --- internal ---

/** What ends a group of reasoning and what followed from it. */
const closing: ReadonlySet<string> = new Set([
  ...outputTypeOf.values(),
  'reasoning',
  'configuration_update',
  'additional_tools',
  'compaction',
  'compaction_trigger',
])

/** Whether an item is the model's own: what reasoning leads to. An unknown one belongs to what came before it. */
function isOfModel(item: WireItem): boolean {
  const type = typeOf(item)
  return type === 'message' ? item['role'] === 'assistant' : !closing.has(type)
}

/** The type of the call that an output of a type answers. */
const callTypeOf: ReadonlyMap<string, string> = new Map(
  [...outputTypeOf].map(([call, output]) => [output, call]),
)

const wordsOf = (callType: string): string =>
  callType === 'mcp_approval_request' ? 'MCP approval request' : callType.replaceAll('_', ' ')

/** Every call is answered later, every output answers an earlier call; ids repeat in the wild, so places count. */
function pairBreaks(items: readonly WireItem[]): readonly ItemBreak[] {
  const breaks: ItemBreak[] = []
  const open = new Map<string, number[]>()
  const broken = (rule: ItemRule, index: number, message: string) =>
    breaks.push({ rule, index, message, param: 'input', code: null })
  for (const [index, item] of items.entries()) {
    const type = typeOf(item)
    if (type.startsWith('tool_search') && item['call_id'] == null) continue
    if (outputTypeOf.has(type)) {
      const key = `${type} ${callIdOf(item)}`
      open.set(key, [...(open.get(key) ?? []), index])
    }
    const callType = callTypeOf.get(type)
    if (callType === undefined) continue
    const asked = open.get(`${callType} ${callIdOf(item)}`)?.shift()
    const named = `${wordsOf(callType)} output with call_id ${callIdOf(item)}`
    if (asked === undefined) broken('output-orphan', index, `No tool call found for ${named}.`)
  }
  for (const index of [...open.values()].flat()) {
    const item = items[index] ?? {}
    const named = `${wordsOf(typeOf(item))} ${callIdOf(item)}`
    broken('call-unanswered', index, `No tool output found for ${named}.`)
  }
  return breaks
}

/** Reasoning goes with what followed from it, and the other way round. */
function groupBreaks(items: readonly WireItem[], issued: Issued): readonly ItemBreak[] {
  const breaks: ItemBreak[] = []
  const ids = new Set<string>()
  let unfollowed: { readonly item: WireItem; readonly index: number } | null = null
  const broken = (rule: ItemRule, index: number, message: string) =>
    breaks.push({ rule, index, message, param: 'input', code: null })
  const leaveUnfollowed = () => {
    if (unfollowed === null) return
    const id = textOf(unfollowed.item['id'])
    const alone = `Item '${id}' of type 'reasoning' was provided without its required following item.`
    broken('reasoning-alone', unfollowed.index, alone)
    unfollowed = null
  }
  for (const [index, item] of items.entries()) {
    const id = textOf(item['id'])
    if (typeOf(item) === 'reasoning') {
      const before = unfollowed === null ? undefined : issued.get(textOf(unfollowed.item['id']))
      const reply = issued.get(id)?.reply
      if (before !== undefined && reply !== undefined && before.reply !== reply) leaveUnfollowed()
      unfollowed = { item, index }
      ids.add(id)
    } else if (isOfModel(item)) {
      unfollowed = null
      const required = issued.get(id)?.reasoningId ?? null
      const named = `Item '${id}' of type '${typeOf(item)}' was provided without its required 'reasoning' item: '${required}'.`
      if (required !== null && !ids.has(required)) broken('reasoning-missing', index, named)
    } else {
      leaveUnfollowed()
      ids.clear()
    }
  }
  leaveUnfollowed()
  return breaks
}

function placeBreaks(items: readonly WireItem[]): readonly ItemBreak[] {
  return items.flatMap((item, index): readonly ItemBreak[] => {
    const broken = (rule: ItemRule, message: string) => [
      { rule, index, message, param: `input[${index}]`, code: 'invalid_value' },
    ]
    const type = typeOf(item)
    if (type === 'compaction_trigger' && index < items.length - 1) {
      return broken(
        'trigger-not-last',
        `Invalid 'input[${index}]': 'compaction_trigger' must be the last item.`,
      )
    }
    const previous = items[index - 1]
    if (type !== 'configuration_update' || previous === undefined || typeOf(previous) !== type) return []
    const repeated = `Invalid 'input[${index}]': a 'configuration_update' may not follow another.`
    return broken('update-repeated', repeated)
  })
}
