import type { ScriptedItem } from './script.ts'
import type { WireItem } from './wire-item.ts'

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

// --- internal ---

function user(text: string): WireItem {
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] }
}
