import type { Dice } from '../responses/any-agent.ts'
import type { ScriptedBlock } from './script.ts'
import { typeOf, type WireBlock } from './wire-block.ts'

type AgentMessage = { readonly role: string; readonly blocks: readonly WireBlock[] }

const words = (count: number): string => 'quick brown fox jumps '.repeat(Math.ceil(count / 4)).trim()

/** What a model may do in one reply: think, in words or hidden, comment, call several tools at once, have the server search. */
export function replyOf(roll: Dice, made: number): readonly ScriptedBlock[] {
  const blocks: ScriptedBlock[] = []
  if (roll(8) > 0)
    blocks.push(
      roll(2) === 0
        ? { type: 'thinking', text: `Thought ${made}: ${words(10 + roll(150))}` }
        : { type: 'thinking', tokens: 20 + roll(200) },
    )
  if (roll(10) === 0) blocks.push({ type: 'redacted_thinking', tokens: 60 })
  if (roll(3) === 0) blocks.push({ type: 'text', text: words(4 + roll(60)) })
  if (roll(6) === 0) blocks.push(...search(made))
  if (roll(8) === 0) blocks.push({ type: 'thinking', tokens: 30 })
  const calls = roll(4)
  for (let call = 0; call < calls; call += 1)
    blocks.push({
      type: 'tool_use',
      id: `toolu_${made}_${call}`,
      name: 'read',
      input: { part: words(roll(60) + 1) },
    })
  if (calls === 0) blocks.push({ type: 'text', text: words(4 + roll(300)) })
  return blocks
}

/**
 * What a client sends behind a reply: all results in one message, in any order, with a word behind them, a system message, the
 * next question in a message of its own. With `isPlain` only what every chat template takes: results, or the next question.
 */
export function behind(
  content: readonly WireBlock[],
  roll: Dice,
  round: number,
  isPlain = false,
): readonly AgentMessage[] {
  const calls = content.filter((block) => typeOf(block) === 'tool_use')
  const results = (roll(2) === 0 ? calls : calls.toReversed()).map(({ id }): WireBlock => {
    const said = `${round} ${words(roll(900))}`
    const parts = roll(4) === 0 ? [{ type: 'text', text: said }] : said
    return { type: 'tool_result', tool_use_id: id, content: parts, ...(roll(3) === 0 && { is_error: true }) }
  })
  const messages: AgentMessage[] = []
  if (results.length > 0) {
    const riding = roll(4) === 0 && !isPlain ? [text(`Wait ${round}: ${words(roll(80))}`)] : []
    messages.push({ role: 'user', blocks: [...results, ...riding] })
  }
  if (results.length === 0 || (roll(7) === 0 && !isPlain))
    messages.push({ role: 'user', blocks: [text(`Then ${round}: ${words(roll(400))}`)] })
  if (roll(9) === 0 && !isPlain) messages.push({ role: 'system', blocks: [text(`Rule ${round}.`)] })
  return messages
}

// --- internal ---

function text(said: string): WireBlock {
  return { type: 'text', text: said }
}

function search(made: number): readonly ScriptedBlock[] {
  const id = `srvtoolu_${made}`
  const found = { type: 'web_search_result', url: 'https://example.org/', encrypted_content: words(40) }
  return [
    {
      type: 'verbatim',
      block: { type: 'server_tool_use', id, name: 'web_search', input: { query: words(8) } },
    },
    { type: 'verbatim', block: { type: 'web_search_tool_result', tool_use_id: id, content: [found] } },
  ]
}
