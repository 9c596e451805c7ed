import { existsSync } from 'node:fs'
import { recordingFiles } from '../replay/recordings.ts'
import { readCommand, wholeNumberProblem } from '../../support/recordings-command.ts'

/** What the command line asks for. */
export type OversightOptions = {
  readonly folder: string
  /** One file of it; null: all. */
  readonly file: string | null
  readonly windowTokens: number
  /** Where the SQLite store is made; null: in memory. */
  readonly storePath: string | null
}

/** Reads the arguments; a text that says what is wrong where they leave nothing to compare. */
export function readOptions(args: readonly string[]): OversightOptions | string {
  const given = readCommand(args, options, 'npm run activity -- FOLDER')
  if (typeof given === 'string') return given
  const { folder, values } = given
  const problem = wholeNumberProblem('window', values.window)
  if (problem !== null) return problem
  const windowTokens = Number(values.window)
  if (windowTokens < WINDOW_TOKENS_MIN) return `--window takes ${WINDOW_TOKENS_MIN} and more.`
  const [, scheme, path = ''] = /^(memory|sqlite):(.*)$/.exec(values.store) ?? []
  if (scheme === undefined || (scheme === 'sqlite') !== (path !== ''))
    return '--store takes memory: or sqlite:PATH.'
  if (scheme === 'sqlite' && existsSync(path))
    return `--store takes the path of a file that is made: what is in ${path} would be counted, too.`
  const file = values.file ?? null
  const there = recordingFiles(folder, null)
  if (there.length === 0) return `There are no recordings (*.jsonl) in ${folder}.`
  if (recordingFiles(folder, file).length === 0)
    return `There are no recordings named ${file} in ${folder}; there are ${there.join(', ')}.`
  return { folder, file, windowTokens, storePath: scheme === 'sqlite' ? path : null }
}

// --- internal ---

/** Below, system messages and tools of some recordings leave no room for a conversation. */
const WINDOW_TOKENS_MIN = 4000

const options = {
  file: { type: 'string' },
  window: { type: 'string', default: '16000' },
  store: { type: 'string', default: 'memory:' },
} as const
