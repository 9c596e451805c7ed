import { parseArgs } from 'node:util'
import { jobsOf, templatesThereAre, windowsThereAre, type Filter } from './jobs.ts'
import { recordingFiles } from './recordings.ts'
import type { RunOptions } from './run-job.ts'

/** What the command line of a replay asks for. */
export type ReplayOptions = {
  readonly run: RunOptions
  readonly filter: Filter
  readonly workers: number
  readonly json: boolean
}

/**
 * Reads the arguments of a replay; a text that says what is wrong where they leave nothing to replay. A run that
 * replays nothing would find every promise kept.
 */
export function readOptions(args: readonly string[]): ReplayOptions | string {
  let given
  try {
    given = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        file: { type: 'string' },
        window: { type: 'string' },
        template: { type: 'string' },
        'points-max': { type: 'string' },
        workers: { type: 'string', default: '2' },
        json: { type: 'boolean', default: false },
      },
    })
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  const { values, positionals } = given
  const [folder, ...others] = positionals
  if (folder === undefined) return 'Name the folder with the recordings: node test/replay/replay.ts FOLDER'
  if (others.length > 0) return `One folder at a time; there is no use for ${others.join(' ')}.`

  for (const name of ['points-max', 'workers'] as const) {
    const value = values[name]
    if (value !== undefined && !/^[1-9]\d*$/.test(value)) return `--${name} takes a whole number above 0.`
  }
  const filter = { window: values.window ?? null, template: values.template ?? null }
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
    run: { folder, file, pointsMax },
    filter,
    workers: Number(values.workers),
    json: values.json,
  }
}
