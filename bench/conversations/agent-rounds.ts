import { openDice, type Dice } from '../../src/commands/demo/dice.ts'
import { runTool, tools as demoTools } from '../../src/commands/demo/tools.ts'

export type AgentRounds = {
  /** The system message and the task, as JSON without the brackets of the list. */
  readonly opening: string
  /** The next assistant message with its call, and the call's result: about so many bytes of JSON, a comma before each. */
  readonly next: (bytes: number) => string
}

/**
 * The run of a coding agent, the same for the same seed: it reads sources and logs, searches, runs tests and edits.
 * `stamp` stands in every message, so that those of another stamp are other messages.
 */
export function openAgentRounds(seed: number, stamp: string): AgentRounds {
  const dice = openDice(seed)
  let round = 0
  return {
    opening: [
      { role: 'system', content: `${system}\nRun ${stamp}.` },
      {
        role: 'user',
        content: `The nightly run ${stamp} books some payouts twice since build ${dice.hex(10)}. Find out why and repair it.`,
      },
    ]
      .map((message) => JSON.stringify(message))
      .join(','),
    next: (bytes) => {
      round += 1
      const id = `call_${stamp}_${round}`
      const { call, result } = exchange(dice, Math.max(64, bytes - FRAMING_BYTES))
      const assistant = {
        role: 'assistant',
        content: dice.below(3) === 0 ? null : `Next I look at ${call.about}, because of ${dice.hex(6)}.`,
        tool_calls: [
          { id, type: 'function', function: { name: call.name, arguments: JSON.stringify(call.input) } },
        ],
      }
      const answer = { role: 'tool', tool_call_id: id, content: result }
      return `,${JSON.stringify(assistant)},${JSON.stringify(answer)}`
    },
  }
}

/** The agent's tools, as JSON: about 3 kB. */
export const agentTools = JSON.stringify([
  ...demoTools,
  ...['edit_file', 'list_files', 'run_command', 'write_note', 'fetch_page', 'ask_person'].map((name) => ({
    type: 'function',
    function: {
      name,
      description: `Does what its name says (${name}) in the repository of the task, and returns what came of it. Paths are relative to the root.`,
      parameters: {
        type: 'object',
        properties: {
          path: { type: 'string', description: 'Path from the root.' },
          text: { type: 'string', description: 'The text that it is about.' },
        },
        required: ['path'],
      },
    },
  })),
])

// --- internal ---

const system =
  'You are a careful engineer in a terminal. You read before you change anything, name the files you speak of, and keep answers short. Use the tools; do not guess what a file says.'

/** What stands around a result: the roles, the ids, the call and what the assistant says. */
const FRAMING_BYTES = 330

type Exchange = {
  readonly call: { readonly name: string; readonly about: string; readonly input: Record<string, string> }
  readonly result: string
}

function exchange(dice: Dice, bytes: number): Exchange {
  const path = `src/${dice.pick(folders)}/${dice.pick(folders)}-${dice.hex(3)}.ts`
  const kind = dice.below(6)
  if (kind === 0) {
    const replaced = textOf(dice, 'read_file', path, bytes)
    return {
      call: { name: 'edit_file', about: path, input: { path, text: replaced } },
      result: `${path} was changed.`,
    }
  }
  if (kind === 1) {
    const suite = `${dice.pick(folders)}-${dice.hex(2)}`
    return {
      call: { name: 'run_tests', about: suite, input: { suite } },
      result: textOf(dice, 'run_tests', suite, bytes),
    }
  }
  if (kind === 2) {
    const pattern = `book${dice.hex(4)}`
    return {
      call: { name: 'search', about: pattern, input: { pattern } },
      result: textOf(dice, 'search', pattern, bytes),
    }
  }
  const file = kind === 3 ? `logs/${dice.pick(folders)}-${dice.hex(3)}.log` : path
  return {
    call: { name: 'read_file', about: file, input: { path: file } },
    result: textOf(dice, 'read_file', file, bytes),
  }
}

const folders = ['settlement', 'refund', 'ledger', 'invoice', 'database', 'settings'] as const

/** What a tool says, from a fifth to nine fifths of so many bytes. */
function textOf(dice: Dice, tool: string, argument: string, bytes: number): string {
  const length = Math.round((bytes * (20 + dice.below(161))) / 100)
  let text = ''
  for (let part = 0; text.length < length; part += 1) text += runTool(tool, `${part}-${argument}`)
  return text.slice(0, length)
}
