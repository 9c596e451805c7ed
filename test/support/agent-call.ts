import type { Dice } from '../../src/demo/dice.ts'
import { sampleHits, samplePath, sampleSource, sampleTestRun } from '../../src/demo/sample-text.ts'

/** A call of the agent in `longRun`, and what the tool returns. */
type AgentCall = { readonly name: string; readonly input: Record<string, string>; readonly output: string }

/** One call out of five kinds; `scale` makes its result longer. */
export function agentCall(dice: Dice, scale: number): AgentCall {
  const lines = (from: number, spread: number) => Math.max(1, Math.round((from + dice.below(spread)) * scale))
  const path = samplePath(dice)
  switch (dice.below(5)) {
    case 0:
      return { name: 'list_files', input: { path }, output: sampleListing(dice, lines(8, 30)) }
    case 1:
      return { name: 'read_file', input: { path }, output: sampleSource(dice, lines(20, 80)) }
    case 2:
      return {
        name: 'search',
        input: { pattern: dice.hex(6) },
        output: sampleHits(dice, dice.hex(6), lines(6, 20)),
      }
    case 3:
      return {
        name: 'edit_file',
        input: { path, old: sampleSource(dice, lines(4, 8)), new: sampleSource(dice, lines(4, 12)) },
        output: `${path} was changed.`,
      }
    default:
      return { name: 'run_tests', input: { path }, output: sampleTestRun(dice, path, lines(12, 30)) }
  }
}

/** The listing of a folder. */
function sampleListing(dice: Dice, files: number): string {
  return Array.from(
    { length: files },
    () =>
      `-rw-r--r-- 1 build build ${String(dice.below(90_000)).padStart(6)} Mar ${dice.below(28) + 1} ${samplePath(dice)}`,
  ).join('\n')
}
