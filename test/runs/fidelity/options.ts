import { replayedDialects, type ReplayedDialect } from '../replay/job.ts'
import { readCommand, wholeNumberProblem } from '../../support/recordings-command.ts'
import { readRecordings, recordingFiles } from '../replay/recordings.ts'
import type { Room } from './policy-sender.ts'
import { readProfiles } from './profiles.ts'
import { rowsOf } from './rows.ts'
import type { ViewsWanted } from './view-sample.ts'

/** What the command line asks for. */
export type FidelityOptions = {
  readonly folder: string
  /** With their endings. */
  readonly files: readonly string[]
  readonly room: Room
  readonly dialect: ReplayedDialect
  /** How much the model thinks before each reply, where the API has its thoughts sent back. */
  readonly reasoningTokens: number
  readonly profiles: ReadonlyMap<string, object>
  /** The rows to be measured. */
  readonly rowNames: readonly string[]
  /** How many times our count of a text the upstream's is. */
  readonly upstreamRatio: number
  /** Views to be printed; null for none. */
  readonly views: ViewsWanted | null
  readonly workers: number
  readonly json: boolean
}

/** Reads the arguments; a text that says what is wrong where they leave nothing to measure. */
export function readOptions(args: readonly string[]): FidelityOptions | string {
  const given = readCommand(args, options, 'npm run fidelity -- FOLDER')
  if (typeof given === 'string') return given
  const { folder, values } = given
  for (const name of ['window', 'workers', 'views', 'seed'] as const) {
    const problem = wholeNumberProblem(name, values[name])
    if (problem !== null) return problem
  }
  const windowTokens = Number(values.window)
  if (windowTokens < 2 * RESERVE_TOKENS) return `--window takes ${2 * RESERVE_TOKENS} and more.`
  const upstreamRatio = Number(values['upstream-ratio'])
  if (!/^\d+(?:\.\d+)?$/.test(values['upstream-ratio']) || upstreamRatio === 0)
    return '--upstream-ratio takes a number above 0, as 1.25.'
  if (values.views !== undefined && values.json) return 'Views are for people: print them without --json.'

  const dialect = replayedDialects.find((one) => one === values.dialect)
  if (dialect === undefined)
    return `There is no dialect ${values.dialect}; there are ${replayedDialects.join(', ')}.`
  const { reasoning = `${REASONING_TOKENS}` } = values
  if (!/^\d+$/.test(reasoning)) return '--reasoning takes a number of tokens, or 0.'
  if (values.reasoning !== undefined && dialect === 'chat-completions')
    return '--reasoning is for --dialect responses and messages.'

  const files = readFiles(folder, values)
  if (typeof files === 'string') return files
  const profiles = readProfiles(values.profile ?? [])
  if (typeof profiles === 'string') return profiles
  const there = rowsOf(profiles, dialect).map(({ name }) => name)
  const rowNames = values.row ?? there
  for (const name of rowNames)
    if (!there.includes(name)) return `There is no row named ${name}; there are ${there.join('; ')}.`
  return {
    folder,
    files,
    room: { windowTokens, reserveTokens: RESERVE_TOKENS },
    dialect,
    reasoningTokens: Number(reasoning),
    profiles,
    rowNames,
    upstreamRatio,
    views: values.views === undefined ? null : { count: Number(values.views), seed: Number(values.seed) },
    workers: Number(values.workers),
    json: values.json,
  }
}

// --- internal ---

const DEFAULT_FILES = ['coding-long', 'coding-parallel']
const RESERVE_TOKENS = 4000
/** Hardly more than the least that the upstream can seal. */
const REASONING_TOKENS = 40

const options = {
  file: { type: 'string', multiple: true },
  all: { type: 'boolean', default: false },
  window: { type: 'string', default: '16000' },
  profile: { type: 'string', multiple: true },
  row: { type: 'string', multiple: true },
  dialect: { type: 'string', default: 'chat-completions' },
  reasoning: { type: 'string' },
  'upstream-ratio': { type: 'string', default: '1' },
  views: { type: 'string' },
  seed: { type: 'string', default: '1' },
  workers: { type: 'string', default: '2' },
  json: { type: 'boolean', default: false },
} as const

type FilesAsked = { readonly file?: readonly string[] | undefined; readonly all: boolean }

function readFiles(folder: string, { file, all }: FilesAsked): readonly string[] | string {
  const there = recordingFiles(folder, null)
  if (there.length === 0) return `There are no recordings (*.jsonl) in ${folder}.`
  if (all) {
    if (file !== undefined) return '--all measures every file: leave --file out.'
    // Some hold answers, and no request.
    return there.filter((name) => readRecordings(folder, name).some(({ points }) => points.length > 0))
  }
  const names = file ?? DEFAULT_FILES
  for (const name of names)
    if (recordingFiles(folder, name).length === 0)
      return `There are no recordings named ${name} in ${folder}; there are ${there.join(', ')}.`
  return names.flatMap((name) => recordingFiles(folder, name))
}
