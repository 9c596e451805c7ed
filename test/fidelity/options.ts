import { readCommand, wholeNumberProblem } from '../support/recordings-command.ts'
import { recordingFiles } from '../replay/recordings.ts'
import type { Room } from './policy-sender.ts'
import { readProfiles } from './profiles.ts'

/** What the command line asks for. */
export type FidelityOptions = {
  readonly folder: string
  /** With their endings. */
  readonly files: readonly string[]
  readonly room: Room
  readonly profiles: ReadonlyMap<string, object>
  readonly workers: number
  readonly json: boolean
}

/** Reads the arguments; a text that says what is wrong where they leave nothing to measure. */
export function readOptions(args: readonly string[]): FidelityOptions | string {
  const given = readCommand(args, options, 'npm run fidelity -- FOLDER')
  if (typeof given === 'string') return given
  const { folder, values } = given
  for (const name of ['window', 'workers'] as const) {
    const problem = wholeNumberProblem(name, values[name])
    if (problem !== null) return problem
  }
  const windowTokens = Number(values.window)
  if (windowTokens < 2 * RESERVE_TOKENS) return `--window takes ${2 * RESERVE_TOKENS} and more.`

  const there = recordingFiles(folder, null)
  if (there.length === 0) return `There are no recordings (*.jsonl) in ${folder}.`
  const names = values.file ?? DEFAULT_FILES
  for (const name of names)
    if (recordingFiles(folder, name).length === 0)
      return `There are no recordings named ${name} in ${folder}; there are ${there.join(', ')}.`
  const profiles = readProfiles(values.profile ?? [])
  if (typeof profiles === 'string') return profiles
  return {
    folder,
    files: names.flatMap((name) => recordingFiles(folder, name)),
    room: { windowTokens, reserveTokens: RESERVE_TOKENS },
    profiles,
    workers: Number(values.workers),
    json: values.json,
  }
}

// --- internal ---

const DEFAULT_FILES = ['coding-long', 'coding-parallel']
const RESERVE_TOKENS = 4000

const options = {
  file: { type: 'string', multiple: true },
  window: { type: 'string', default: '16000' },
  profile: { type: 'string', multiple: true },
  workers: { type: 'string', default: '2' },
  json: { type: 'boolean', default: false },
} as const
