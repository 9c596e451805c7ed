import type { ChatCall } from './chat.ts'
import { openDice, seedOf } from './dice.ts'
import { sampleHits, sampleLog, sampleSource, sampleTestRun } from './sample-text.ts'

/** The tools that the demo's agent has. */
export const tools = [
  tool('read_file', 'Reads a file of the repository, or the end of a log.', 'path', 'Path from the root.'),
  tool('search', 'Searches the repository for a text.', 'pattern', 'The text to look for.'),
  tool('run_tests', 'Runs a test suite and returns what it printed.', 'suite', 'Name of the suite.'),
]

export function toolCall(id: string, name: string, argument: string): ChatCall {
  const parameter = tools.find((each) => each.function.name === name)?.function.parameters.required[0] ?? ''
  return { id, type: 'function', function: { name, arguments: JSON.stringify({ [parameter]: argument }) } }
}

/**
 * What a tool returns for an argument: always the same. `size` scales it; at 1 it is some 250 to 1,300 tokens.
 */
export function runTool(name: string, argument: string, size = 1): string {
  const dice = openDice(seedOf(`${name} ${argument}`))
  const lines = (from: number, spread: number) => Math.max(1, Math.round((from + dice.below(spread)) * size))
  if (name === 'search') return sampleHits(dice, argument, lines(10, 20))
  if (name === 'run_tests') return sampleTestRun(dice, argument, lines(16, 20))
  return argument.endsWith('.log') ? sampleLog(dice, lines(20, 20)) : sampleSource(dice, lines(30, 90))
}

// --- internal ---

function tool(name: string, description: string, argument: string, meaning: string) {
  const properties = { [argument]: { type: 'string', description: meaning } }
  const parameters = { type: 'object', properties, required: [argument] }
  return { type: 'function', function: { name, description, parameters } } as const
}
