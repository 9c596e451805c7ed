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
import { readFolderCommand, refuse, runCommand, say, text, whole } from '../harness/command.ts'
import { readRecordings, recordingFiles } from '../harness/recordings.ts'
import { alignedTable, grouped, shareOf } from '../harness/table.ts'
import { isSound, sumOf, walkForThings, type Tally } from './walk.ts'

const RESERVE_TOKENS = 4000
const flags = { file: text(), window: whole(16_000, 2 * RESERVE_TOKENS) }

await runCommand(run)

async function run(args: readonly string[], elapsed: () => string): Promise<boolean> {
  const { folder, values } = readFolderCommand(args, flags, 'npm run recall -- FOLDER')
  const room = { windowTokens: values.window, reserveTokens: RESERVE_TOKENS }
  const rows: { name: string; tally: Tally }[] = []
  for (const file of recordingFiles(folder, values.file)) {
    const tallies: Tally[] = []
    for (const recording of readRecordings(folder, file)) tallies.push(await walkForThings(recording, room))
    if (tallies.length > 0) rows.push({ name: file, tally: sumOf(tallies) })
  }
  if (rows.length === 0) refuse(`There are no recorded conversations (*.jsonl) in ${folder}.`)
  const total = sumOf(rows.map(({ tally }) => tally))
  const found = ['by one search', 'by 3 calls', 'in the end', 'by name']
  const head = ['', 'requests', 'things', 'in view', 'lost', ...found]
  const table = alignedTable([head, ...[...rows, { name: 'all', tally: total }].map(rowOf)])
  say(`${table}\n${elapsed()}`)
  return isSound(total)
}

function rowOf({ name, tally }: { readonly name: string; readonly tally: Tally }): string[] {
  const { requests, things, inView, missing, byOneCall, byThree, inTheEnd, byName } = tally
  const found = [byOneCall, byThree, inTheEnd, byName].map((part) => shareOf(part, missing))
  return [name, grouped(requests), grouped(things), shareOf(inView, things), String(missing), ...found]
}
