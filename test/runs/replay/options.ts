import { readCommand, wholeNumberProblem } from '../../support/recordings-command.ts'
import { replayedDialects } from './job.ts'
import { jobsOf, templatesThereAre, windowsThereAre, type Filter } from './jobs.ts'
import { recordingFiles } from './recordings.ts'
import type { RunOptions } from './run-job.ts'

/** What the command line of a replay asks for. */
export type ReplayOptions = {
  readonly run: RunOptions
  readonly filter: Filter
  readonly workers: number
  readonly json: boolean
  /** The file into which a digest of every body that the upstream received is written; null: none is. */
  readonly bytesFile: string | null
}

/**
 * Reads the arguments of a replay; a text that says what is wrong where they leave nothing to replay. A run that
 * replays nothing would find every promise kept.
 */
export function readOptions(args: readonly string[]): ReplayOptions | string {
  const given = readCommand(args, options, 'node test/runs/replay/replay.ts FOLDER')
  if (typeof given === 'string') return given
  const { folder, values } = given

  for (const name of ['points-max', 'workers'] as const) {
    const problem = wholeNumberProblem(name, values[name])
    if (problem !== null) return problem
  }
  const dialect = replayedDialects.find((one) => one === values.dialect)
  if (dialect === undefined)
    return `No replay has the dialect ${values.dialect}; there are ${replayedDialects.join(', ')}.`
  const filter = { window: values.window ?? null, template: values.template ?? null, dialect }
  if (filter.window !== null && !windowsThereAre().includes(filter.window))
    return `No replay has the window ${filter.window}; there are ${windowsThereAre().join(', ')}.`
  if (filter.template !== null && !templatesThereAre().includes(filter.template))
    return `No replay has the template ${filter.template}; there are ${templatesThereAre().join(', ')}.`
  if (jobsOf(filter).length === 0)
    return `No replay has the template ${filter.template} for the window ${filter.window}.`

  const file = values.file ?? null
  const files = recordingFiles(folder, null)
  if (files.length === 0) return `There are no recordings (*.jsonl) in ${folder}.`
  if (recordingFiles(folder, file).length === 0)
    return `There are no recordings named ${file} in ${folder}; there are ${files.join(', ')}.`

  const pointsMax = values['points-max'] === undefined ? null : Number(values['points-max'])
  return {
    run: { folder, file, pointsMax, keepsBodies: values.bytes !== undefined },
    filter,
    workers: Number(values.workers),
    json: values.json,
    bytesFile: values.bytes ?? null,
  }
}

// --- internal ---

const options = {
  file: { type: 'string' },
  window: { type: 'string' },
  template: { type: 'string' },
  dialect: { type: 'string', default: 'chat-completions' },
  'points-max': { type: 'string' },
  workers: { type: 'string', default: '2' },
  bytes: { type: 'string' },
  json: { type: 'boolean', default: false },
} as const
