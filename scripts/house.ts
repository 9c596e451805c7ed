/**
 * Prints how the house stands: lines, files, circles of imports, imports that point up, lines that name a wire format
 * outside of its room, names that are exported twice.
 *
 *   node scripts/house.ts [--list]
 *
 * `--list` also prints each of them.
 */
import { parseArgs } from 'node:util'
import {
  namesExportedTwice,
  roomsWithoutFloor,
  upwardImports,
  circlesIn,
  countLines,
  readSources,
  importsOfDialects,
  wireLines,
} from '../test/structure/source-files.ts'

const { values } = parseArgs({ options: { list: { type: 'boolean', default: false } } })
const files = readSources()
const circles = circlesIn(files)

tell('lines', countLines())
tell('files', files.length)
for (const [room, inRoom] of Map.groupBy(files, ({ path }) => path.split('/')[0] ?? path)) {
  const lines = inRoom.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0)
  process.stdout.write(
    `${String(lines).padStart(12)} lines in ${String(inRoom.length).padStart(3)}  ${room}\n`,
  )
}
tell(
  'files in circles',
  circles.flat().length,
  circles.map((members) => members.join(' ')),
)
tell('rooms without a floor', roomsWithoutFloor(files).length, roomsWithoutFloor(files))
tell('imports that point up', upwardImports(files).length, upwardImports(files))
tell('imports of a dialect from outside of it', importsOfDialects(files).length, importsOfDialects(files))
tell('lines that name a wire format', wireLines(files).length, wireLines(files))
const repeated = [...namesExportedTwice(files)].map(([name, paths]) => `${name}: ${paths.join(' ')}`)
tell('names exported twice', repeated.length, repeated)

function tell(what: string, count: number, each: readonly string[] = []): void {
  process.stdout.write(`${String(count).padStart(6)} ${what}\n`)
  if (values.list) process.stdout.write(each.map((line) => `         ${line}\n`).join(''))
}
