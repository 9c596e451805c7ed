import { isObject } from '../strict-upstream/wire-message.ts'
import type { Step } from './items.ts'
import type { ScriptedItem } from './script.ts'
import type { WireItem } from './wire-item.ts'

/** A request of a lived conversation. */
export type LivedRequest = {
  /** Of the step that answers it. */
  readonly index: number
  /** All items so far. */
  readonly items: readonly LivedItem[]
  /** What the upstream is to answer. */
  readonly script: readonly ScriptedItem[]
}

export type LivedItem = {
  /** Its JSON, the same in every request. */
  readonly text: string
  /** The step of the reply that it came with; null if the client said it or was only told it. */
  readonly reply: number | null
}

/** A conversation of a client with `store: false`, lived reply by reply. */
export type Life = {
  /** All items before a step. A reply before it that was not taken is told. */
  readonly before: (step: number) => readonly LivedItem[]
  /** Takes the reply of the step whose items were asked for last, for all later requests. */
  readonly reply: (items: readonly WireItem[]) => void
}

type LifeOptions = {
  readonly steps: readonly Step[]
  /** How the client writes an item. Default `JSON.stringify`. */
  readonly spell?: (item: WireItem) => string
}

type LivingOptions = LifeOptions & {
  /** The items of the reply; null where there was none, or where that reply is not asked for. */
  readonly ask: (request: LivedRequest) => Promise<readonly WireItem[] | null>
}

export function openLife({ steps, spell = JSON.stringify }: LifeOptions): Life {
  const items: LivedItem[] = []
  let next = 0
  const take = (taken: readonly WireItem[], reply: number | null) => {
    for (const item of taken) items.push({ text: spell(item), reply })
    next += 1
  }
  return {
    before: (step) => {
      for (const each of steps.slice(next, step)) take(each.kind === 'input' ? each.items : each.told, null)
      return items
    },
    reply: (taken) => take(taken, next),
  }
}

/**
 * Lives a conversation as a client with `store: false` does: makes each request in turn, and takes the reply's items, with
 * the ids and the encrypted content that the upstream gave them, into all later ones. Returns the whole history.
 */
export async function live({ ask, ...options }: LivingOptions): Promise<readonly LivedItem[]> {
  const { steps } = options
  const life = openLife(options)
  for (const [index, step] of steps.entries()) {
    if (step.kind === 'input') continue
    const reply = await ask({ index, items: life.before(index), script: step.script })
    if (reply !== null) life.reply(reply)
  }
  return life.before(steps.length)
}

/** What a client reads of an answer. */
export type ReadReply = {
  readonly items: readonly WireItem[]
  readonly status: string
  /** The ids of reasoning that the model was not shown. */
  readonly removed: readonly unknown[]
}

/** The reply in an answer, plain or streamed; null where there is none that has ended. */
export function readReply(text: string): ReadReply | null {
  if (!text.startsWith('event:')) return ended(parsed(text), null)
  const events = text.split('\n\n').map((event) => parsed(event.slice(event.indexOf('data: ') + 6)))
  const done = events.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item)
  const { response } = events.findLast((event) => isObject(event['response'])) ?? {}
  return isObject(response) ? ended(response, done.filter(isObject)) : null
}

// --- internal ---

/** Items that came one by one are taken as they came. */
function ended(response: WireItem, items: readonly WireItem[] | null): ReadReply | null {
  const { status, output, input_transformations: transformations } = response
  if ((status !== 'completed' && status !== 'incomplete') || !Array.isArray(output)) return null
  const removed = Array.isArray(transformations) ? transformations.filter(isObject).map(({ id }) => id) : []
  return { items: items ?? output.filter(isObject), status, removed }
}

function parsed(text: string): WireItem {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}
