/**
 * Prints how much code one request runs, by the coverage that V8 counts: functions and files of `src`, in all and by
 * folder.
 *
 *   node scripts/path.ts [--files] [--functions]
 *
 * Three requests are looked at, each after others of its kind have been made, so that nothing is loaded for the first
 * time: a small one that needs nothing, one of a conversation that has just outgrown its window, and the one after it,
 * which stands in the compaction that was made. `--files` also prints every file, `--functions` every function.
 */
import { parseArgs } from 'node:util'
import { observePath, type Path } from './path/observe-path.ts'
import { openSubject } from './path/subject.ts'

const { values } = parseArgs({
  options: {
    files: { type: 'boolean', default: false },
    functions: { type: 'boolean', default: false },
  },
})
const subject = await openSubject()
for (const [name, request] of Object.entries(subject.requests)) show(name, await observePath(request))
await subject.close()

function show(name: string, path: Path): void {
  const functions = path.reduce((sum, file) => sum + file.functions.length, 0)
  process.stdout.write(`${name}: ${functions} functions in ${path.length} files\n`)
  for (const [folder, files] of Map.groupBy(path, ({ file }) => folderOf(file))) {
    const count = files.reduce((sum, file) => sum + file.functions.length, 0)
    process.stdout.write(`  ${String(count).padStart(4)} in ${String(files.length).padStart(3)}  ${folder}\n`)
    for (const { file, functions: run } of values.files || values.functions ? files : []) {
      process.stdout.write(`        ${String(run.length).padStart(4)}  ${file}\n`)
      if (values.functions) process.stdout.write(run.map((each) => `                ${each}\n`).join(''))
    }
  }
}

function folderOf(file: string): string {
  const [top = '', ...below] = file.split('/')
  return below.length === 0 ? '(top)' : top
}
