import { isObject, parseObject } from '../strict-upstream/wire-message.ts'
import type { Step } from './items.ts'
import type { ScriptedItem } from './script.ts'
import type { WireItem } from './wire-item.ts'

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

/** What a client reads of an answer. */
export type ReadReply = {
  readonly items: readonly WireItem[]
}

/** The reply in an answer, plain or streamed; null where there is none that has ended. */
export function readReply(text: string): ReadReply | null {
  if (!text.startsWith('event:')) return ended(parsed(text), null)
  const events = text.split('\n\n').map((event) => parsed(event.slice(event.indexOf('data: ') + 6)))
  const done = events.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item)
  const { response } = events.findLast((event) => isObject(event['response'])) ?? {}
  return isObject(response) ? ended(response, done.filter(isObject)) : null
}

/** A number below another one. */
export type Dice = (below: number) => number

/** The same throws for the same seed. */
export function diceOf(seed: number): Dice {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const words = (count: number): string => 'quick brown fox jumps '.repeat(Math.ceil(count / 4))

/** What a model may do in one reply: think twice, comment, call several tools at once under ids that repeat, have the server search. */
export function replyOf(roll: Dice, made: number): readonly ScriptedItem[] {
  const output: ScriptedItem[] = []
  if (roll(8) > 0) output.push({ type: 'reasoning', tokens: 20 + roll(200) })
  if (roll(3) === 0) output.push({ type: 'message', text: words(4 + roll(60)), phase: 'commentary' })
  const search = { status: 'completed', action: { type: 'search', query: words(20) } }
  if (roll(6) === 0)
    output.push({
      type: 'verbatim',
      item: { type: 'web_search_call', id: `ws_${made}`, ...search },
    })
  if (roll(10) === 0)
    output.push({
      type: 'verbatim',
      item: { type: 'telepathy', id: `tp_${made}`, thought: words(30) },
    })
  if (roll(8) === 0) output.push({ type: 'reasoning', tokens: 30 })
  const calls = roll(4)
  for (let call = 0; call < calls; call += 1) {
    const callId = roll(5) === 0 ? `call_same_${call}` : `call_${made}_${call}`
    output.push(
      roll(3) === 0
        ? { type: 'custom_tool_call', callId, name: 'patch', input: words(roll(200)) }
        : {
            type: 'function_call',
            callId,
            name: 'read',
            arguments: JSON.stringify({ part: words(roll(60)) }),
          },
    )
  }
  if (calls === 0) output.push({ type: 'message', text: words(4 + roll(300)) })
  return output
}

/** What a client sends behind a reply: outputs in any order, a word in between, settings, rules, the next question. */
export function behind(output: readonly WireItem[], roll: Dice, round: number): readonly WireItem[] {
  const items: WireItem[] = []
  const calls = output.filter(({ type }) => type === 'function_call' || type === 'custom_tool_call')
  if (calls.length > 0 && roll(6) === 0) items.push(user(`Wait ${round}: ${words(roll(80))}`))
  for (const { type, call_id } of roll(2) === 0 ? calls : calls.toReversed()) {
    const said = `${round} ${words(roll(900))}`
    const parts = roll(4) === 0 ? [{ type: 'input_text', text: said }] : said
    items.push({ type: `${String(type)}_output`, call_id, output: parts })
  }
  if (roll(9) === 0)
    items.push({
      type: 'configuration_update',
      reasoning: { effort: roll(2) === 0 ? 'low' : 'high' },
    })
  const added = [{ type: 'function', name: `tool_${round}`, parameters: {} }]
  if (roll(14) === 0) items.push({ type: 'additional_tools', role: 'developer', tools: added })
  if (roll(14) === 0) items.push({ type: 'message', role: 'developer', content: `Rule ${round}.` })
  if (calls.length === 0 || roll(7) === 0) items.push(user(`Then ${round}: ${words(roll(400))}`))
  return items
}

/** Items that came one by one are taken as they came. */
function ended(response: WireItem, items: readonly WireItem[] | null): ReadReply | null {
  const { status, output } = response
  if ((status !== 'completed' && status !== 'incomplete') || !Array.isArray(output)) return null
  return { items: items ?? output.filter(isObject) }
}

const parsed = (text: string): WireItem => parseObject(text) ?? {}

const user = (text: string): WireItem => ({
  type: 'message',
  role: 'user',
  content: [{ type: 'input_text', text }],
})
