import { recordingFiles } from '../replay/recordings.ts'
import { readCommand, wholeNumberProblem } from '../../support/recordings-command.ts'

/** What the command line asks for. */
export type SummaryRunOptions = {
  readonly folder: string
  /** One file of it; null: all. */
  readonly file: string | null
  readonly windowTokens: number
  readonly pacing: Pacing
  readonly json: boolean
  /** Whether it is the summaries by the request's own model that are measured. */
  readonly ownModel: boolean
}

/** How an agent's pauses are modelled: tools that run, a model that thinks. */
export type Pacing = {
  /** How long the stand-in takes for a summary. */
  readonly delayMs: number
  /** Between an answer and the next request. */
  readonly pauseMs: number
  /** Whether the pause begins when the stand-in has nothing to do any more; else when the answer is there. */
  readonly waitsForSummaries: boolean
}

/** Of the window, kept for the reply. */
export const RESERVE_TOKENS = 4000

/** Reads the arguments; a text that says what is wrong where they leave nothing to measure. */
export function readOptions(args: readonly string[]): SummaryRunOptions | string {
  const given = readCommand(args, options, 'npm run summaries -- FOLDER')
  if (typeof given === 'string') return given
  const { folder, values } = given
  for (const name of ['window', 'delay', 'pace', 'pause'] as const) {
    const problem = wholeNumberProblem(name, values[name])
    if (problem !== null) return problem
  }
  if (values.pace !== undefined && values.pause !== undefined)
    return 'Either --pace, whether summaries are there or not, or --pause once they are.'
  const unused = (['delay', 'pace', 'pause', 'json'] as const).find(
    (name) => values['own-model'] && values[name] !== undefined && values[name] !== false,
  )
  if (unused !== undefined) return `--own-model has no use for --${unused}.`
  const windowTokens = Number(values.window)
  if (windowTokens < 2 * RESERVE_TOKENS) return `--window takes ${2 * RESERVE_TOKENS} and more.`
  const file = values.file ?? null
  const there = recordingFiles(folder, null)
  if (there.length === 0) return `There are no recordings (*.jsonl) in ${folder}.`
  if (recordingFiles(folder, file).length === 0)
    return `There are no recordings named ${file} in ${folder}; there are ${there.join(', ')}.`
  const pacing = {
    delayMs: Number(values.delay ?? 0),
    pauseMs: Number(values.pace ?? values.pause ?? 0),
    waitsForSummaries: values.pace === undefined,
  }
  return { folder, file, windowTokens, pacing, json: values.json, ownModel: values['own-model'] }
}

// --- internal ---

const options = {
  file: { type: 'string' },
  window: { type: 'string', default: '16000' },
  delay: { type: 'string' },
  pace: { type: 'string' },
  pause: { type: 'string' },
  json: { type: 'boolean', default: false },
  'own-model': { type: 'boolean', default: false },
} as const
