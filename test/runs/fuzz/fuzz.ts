/**
 * Feeds a running Foldgate what nobody in his right mind would send, and sees to it that nothing comes of it.
 *
 *   npm run fuzz -- [--seconds N] [--target NAME] [--seed N] [--path PATH]
 *
 * The targets are in `targets/`, each with what has to hold for it. Most inputs go over raw sockets to the real program,
 * a process of its own between this one and an upstream that keeps every byte: a crash, a line on stderr, a failure of
 * Foldgate's own, memory out of bounds or a next client who gets no answer fails the input that came before. `--seconds`
 * is for all targets together, 40 by default.
 *
 * Prints the fuzz counts: how many inputs each target was fed, how long the slowest took, and what became of them. Of an
 * input that fails the smallest that still does, and how it is tried again; then it exits with 1.
 */
import { readOptions } from './options.ts'
import { runTarget, type TargetReport } from './run-target.ts'
import { failureLines, tableOf } from './table.ts'
import { targets } from './targets.ts'
import { watchUncaught } from './uncaught.ts'

watchUncaught()
process.exitCode = await fuzz(process.argv.slice(2))

async function fuzz(args: readonly string[]): Promise<number> {
  const names = targets.map(({ name }) => name)
  const options = readOptions(args, names, () => Math.floor(Math.random() * 2 ** 31))
  if (typeof options === 'string') {
    process.stderr.write(`${options}\n`)
    return 1
  }
  const { seed, path, seconds } = options
  process.stdout.write(`seed ${seed}\n`)
  const chosen = targets.filter(({ name }) => options.targets.includes(name))
  const shares = chosen.reduce((sum, { share }) => sum + share, 0)
  const reports: TargetReport[] = []
  for (const target of chosen) {
    const report = await runTarget(target, { seed, path, seconds: (seconds * target.share) / shares })
    reports.push(report)
    process.stdout.write(failureLines(report))
  }
  process.stdout.write(`\n${tableOf(reports)}`)
  const failures = reports.filter(({ failure }) => failure !== null).length
  process.stdout.write(`${failures} failures\n`)
  return failures === 0 ? 0 : 1
}
