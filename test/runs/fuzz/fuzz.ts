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
import { oneOf, readCommand, refuse, runCommand, say, text, whole } from '../harness/command.ts'
import { alignedTable, grouped, seconds as shownSeconds, sumOf } from '../harness/table.ts'
import { runTarget, watchUncaught, type FuzzTarget, type TargetReport } from './target.ts'
import { admin } from './targets/admin.ts'
import { agents, messageAgents } from './targets/agents.ts'
import { answers, events, messageEvents } from './targets/answers.ts'
import { bodies } from './targets/bodies.ts'
import { encodings } from './targets/encodings.ts'
import { files } from './targets/files.ts'
import { headers } from './targets/headers.ts'
import { heavy } from './targets/heavy.ts'
import { blocks, items, ollamaChats } from './targets/items.ts'
import { paths } from './targets/paths.ts'
import { rushes } from './targets/rushes.ts'
import { smuggling } from './targets/smuggling.ts'
import { stores } from './targets/stores.ts'

/** Everything that is fed bad input, in the order in which it is tried. */
const targets: readonly FuzzTarget[] = [
  [bodies, items, blocks, ollamaChats, agents, messageAgents, answers, events, messageEvents],
  [encodings, heavy, headers, rushes, smuggling, paths, files, stores, admin],
].flat()

const INPUT_CHARS_MAX = 4_000

watchUncaught()
await runCommand(fuzz)

async function fuzz(args: readonly string[]): Promise<boolean> {
  const { seed, path, seconds, chosen } = optionsOf(args)
  say(`seed ${seed}`)
  const shares = sumOf(chosen, ({ share }) => share)
  const reports: TargetReport[] = []
  for (const target of chosen) {
    const report = await runTarget(target, { seed, path, seconds: (seconds * target.share) / shares })
    reports.push(report)
    process.stdout.write(failureLines(report))
  }
  const failures = failuresOf(reports)
  say(`\n${tableOf(reports)}\n\n${reports.map(fatesOf).join('\n')}\n${failures} failures`)
  return failures === 0
}

function optionsOf(args: readonly string[]) {
  const names = targets.map(({ name }) => name)
  const flags = { seconds: whole(40), seed: whole(), target: oneOf(names), path: text() }
  const { seconds, seed, target, path } = readCommand(args, flags).values
  if (path !== null && (target === null || seed === null))
    refuse('--path tries one counterexample again: it takes --target and --seed, too.')
  if (path !== null && !/^\d+(?::\d+)*$/.test(path)) refuse('--path takes numbers with colons between them.')
  const chosen = targets.filter(({ name }) => target === null || name === target)
  return { seconds, seed: seed ?? 1 + Math.floor(Math.random() * 2 ** 31), chosen, path }
}

function failuresOf(reports: readonly TargetReport[]): number {
  return reports.filter(({ failure }) => failure !== null).length
}

/** The fuzz counts: a row a target. */
function tableOf(reports: readonly TargetReport[]): string {
  const head = ['target', 'inputs', 'failures', 'slowest', 'time']
  return alignedTable([head, ...reports.map((each) => rowOf(each.name, [each])), rowOf('all', reports)])
}

function rowOf(name: string, reports: readonly TargetReport[]): readonly string[] {
  return [
    name,
    grouped(sumOf(reports, ({ inputs }) => inputs)),
    String(failuresOf(reports)),
    `${grouped(Math.max(...reports.map(({ slowestMs }) => slowestMs)))} ms`,
    shownSeconds(sumOf(reports, ({ elapsedMs }) => elapsedMs)),
  ]
}

function fatesOf({ name, fates }: TargetReport): string {
  const sorted = [...fates].toSorted(([, one], [, other]) => other - one)
  return `${name}: ${sorted.map(([fate, inputs]) => `${fate} ${grouped(inputs)}`).join(', ')}`
}

/** What failed, and how it is tried again. */
function failureLines({ name, failure }: TargetReport): string {
  if (failure === null) return ''
  const { seed, path, input, error } = failure
  const again = `npm run fuzz -- --target ${name} --seed ${seed}`
  return [
    `\n${name}: ${error}`,
    `  input: ${input.slice(0, INPUT_CHARS_MAX)}${input.length > INPUT_CHARS_MAX ? ' …' : ''}`,
    `  again: ${again} --path ${path}`,
    `  if that passes, it takes what came before: ${again}`,
    '',
  ].join('\n')
}
