import { parseArgs } from 'node:util'
import { recordingFiles } from '../replay/recordings.ts'
import { wholeNumberProblem } from '../../support/recordings-command.ts'
import { kindNames, ordersOf, sizesOfField, sizesOfShortRun, type UsageOrder } from './orders.ts'

/** What the command line asks for. */
export type UsageOptions = { readonly orders: readonly UsageOrder[]; readonly workers: number }

/** Reads the arguments; a text that says what is wrong where they leave nothing to run. */
export function readOptions(args: readonly string[]): UsageOptions | string {
  let given
  try {
    given = parseArgs({ args: [...args], allowPositionals: true, options })
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  const { values, positionals } = given
  const [folder = null, ...others] = positionals
  if (others.length > 0) return `One folder at a time; there is no use for ${others.join(' ')}.`
  for (const name of ['window', 'sample', 'conversations', 'workers'] as const) {
    const problem = wholeNumberProblem(name, values[name])
    if (problem !== null) return problem
  }
  const file = values.file ?? null
  if (folder === null && file !== null) return '--file names a file of FOLDER; name that, too.'
  if (folder !== null && recordingFiles(folder, file).length === 0)
    return `There are no recordings${file === null ? ' (*.jsonl)' : ` named ${file}`} in ${folder}.`
  const kind = values.kind ?? null
  if (kind !== null && !kindNames().includes(kind))
    return `There is no kind ${kind}; there are ${kindNames().join(', ')}.`

  const windowTokens = values.window === undefined ? null : Number(values.window)
  const sampling = { requestsMax: Number(values.sample), talksMax: Number(values.conversations) }
  const sizes = folder === null ? sizesOfShortRun : sizesOfField
  const orders = ordersOf(sizes, { kind, windowTokens }, { source: { folder, file }, sampling })
  if (orders.length === 0) {
    const windows = [...sizes.windows, ...sizes.numContexts].join(', ')
    return `Nothing has the window ${windowTokens}; there are ${windows}.`
  }
  return { orders, workers: Number(values.workers) }
}

// --- internal ---

const options = {
  file: { type: 'string' },
  window: { type: 'string' },
  kind: { type: 'string' },
  sample: { type: 'string', default: '12' },
  conversations: { type: 'string', default: '8' },
  workers: { type: 'string', default: '2' },
} as const
