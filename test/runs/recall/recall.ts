/**
 * What a model can read back: of the specific things that the true next message names and the history holds, those that
 * stand in the view, and those that `recall_conversation` brings back.
 *
 *   npm run recall -- FOLDER [--file NAME] [--window N]
 *
 * FOLDER holds JSON lines, a conversation a line with `messages` and perhaps `tools`. Every request of every conversation
 * is made again, one after the other, through real sockets and a Foldgate with `recall.enabled`, in a window of 16,000
 * tokens of which 4,000 are kept for the reply. For each thing that the view has lost the request is made twice more, with
 * a model that searches for it, and with one that reads the newest message that names it; both read on from page to page,
 * each of which has at most a quarter of what is left of the budget. Exits with 1 where one cannot be reached.
 */
import { readRecordings, recordingFiles } from '../replay/recordings.ts'
import { seconds } from '../replay/table.ts'
import { alignedTable } from '../../support/aligned-table.ts'
import { readCommand, wholeNumberProblem } from '../../support/recordings-command.ts'
import { isSound, sumOf, type Tally } from './tally.ts'
import { walkForThings } from './walk.ts'

const RESERVE_TOKENS = 4000

const options = { file: { type: 'string' }, window: { type: 'string', default: '16000' } } as const
const head = [
  '',
  'requests',
  'things',
  'in view',
  'lost',
  'by one search',
  'by 3 calls',
  'in the end',
  'by name',
]

process.exitCode = await run(process.argv.slice(2))

async function run(args: readonly string[]): Promise<number> {
  const startedMs = performance.now()
  const given = readCommand(args, options, 'npm run recall -- FOLDER')
  if (typeof given === 'string') return refuse(given)
  const { folder, values } = given
  const problem = wholeNumberProblem('window', values.window)
  if (problem !== null) return refuse(problem)
  const windowTokens = Number(values.window)
  if (windowTokens < 2 * RESERVE_TOKENS) return refuse(`--window takes ${2 * RESERVE_TOKENS} and more.`)

  const rows: { name: string; tally: Tally }[] = []
  for (const file of recordingFiles(folder, values.file ?? null)) {
    const tallies: Tally[] = []
    for (const recording of readRecordings(folder, file))
      tallies.push(await walkForThings(recording, { windowTokens, reserveTokens: RESERVE_TOKENS }))
    if (tallies.length > 0) rows.push({ name: file, tally: sumOf(tallies) })
  }
  if (rows.length === 0) return refuse(`There are no recorded conversations (*.jsonl) in ${folder}.`)
  const total = sumOf(rows.map(({ tally }) => tally))
  const table = [
    head,
    ...[...rows, { name: 'all', tally: total }].map(({ name, tally }) => rowOf(name, tally)),
  ]
  process.stdout.write(`${alignedTable(table)}\n${seconds(performance.now() - startedMs)}\n`)
  return isSound(total) ? 0 : 1
}

function rowOf(name: string, tally: Tally): string[] {
  const { requests, things, inView, missing, byOneCall, byThree, inTheEnd, byName } = tally
  const counts = [requests, things].map((count) => count.toLocaleString('en-US'))
  const found = [byOneCall, byThree, inTheEnd, byName].map((count) => share(count, missing))
  return [name, ...counts, share(inView, things), String(missing), ...found]
}

/** In percent, rounded down: 100 is all. */
function share(part: number, whole: number): string {
  return whole === 0 ? '–' : `${(Math.floor((part / whole) * 1000) / 10).toFixed(1)} %`
}

function refuse(reason: string): number {
  process.stderr.write(`${reason}\n`)
  return 1
}
