/**
 * Replays recorded conversations through Foldgate and holds its promises against what the upstream received.
 *
 *   node test/runs/replay/replay.ts FOLDER [--file NAME] [--window N] [--template lenient|strict|auto]
 *                                     [--points-max N] [--workers N] [--json] [--bytes FILE]
 *                                     [--dialect chat-completions|responses|messages|ollama]
 *
 * FOLDER holds JSON lines, a conversation a line with `id`, `messages` and perhaps `tools`, or with a single `request`; nothing
 * of it is copied. Each request that an assistant message once answered is made again, plain and streamed, through real sockets,
 * to a Foldgate before a strict upstream, for three windows and two templates. Recordings that break the message rules are
 * replayed repaired, where nothing may be refused, and as they are, where nothing may be made worse. Further runs: `auto`
 * placement, a window that refusals have to teach, single requests in a second process without records, tools and limits that
 * change half-way, a clock in the system prompt.
 *
 * With `--dialect responses` or `messages` the recordings are lived in that API: the upstream issues ids and signed thoughts, and
 * the client takes them into its next requests. With `--dialect ollama` they are written as a client of Ollama's own chat has them,
 * every other one with ids, for a server that refuses what it is asked to refuse, and for one that drops the oldest messages
 * whatever it is asked. With `--bytes` a digest of every body that the upstream received is written to
 * FILE: two versions of Foldgate that send the same write the same file.
 *
 * Prints a table a configuration, then every promise that was not kept; exits with 1 if there was one, or nothing to replay.
 */
import { writeFileSync } from 'node:fs'
import {
  filesIn,
  oneOf,
  readFolderCommand,
  refuse,
  runCommand,
  text,
  whole,
  yes,
} from '../harness/command.ts'
import { dialects } from '../harness/lived.ts'
import { workersFor } from '../harness/workers.ts'
import { isInformative, jobsOf, laterJobsOf, templates, windowsOf, type Job, type JobReport } from './jobs.ts'
import { runJob, type RunOptions } from './run-job.ts'
import { comparisonLine, failureLines, tableOf } from './table.ts'

const workers = workersFor(({ job, run }: { job: Job; run: RunOptions }) => runJob(job, run))

const flags = {
  file: text(),
  window: text(),
  template: oneOf(templates),
  dialect: oneOf(dialects, 'chat-completions'),
  'points-max': whole(),
  workers: whole(2),
  bytes: text(),
  json: yes,
}

await runCommand(replay, workers)

async function replay(args: readonly string[], elapsed: () => string): Promise<boolean> {
  const { folder, values } = readFolderCommand(args, flags, 'node test/runs/replay/replay.ts FOLDER')
  const { window, template, dialect, file, json, bytes: bytesFile } = values
  const filter = { window, template, dialect }
  const windows = windowsOf(dialect)
  if (window !== null && !windows.map(String).includes(window))
    refuse(`No replay has the window ${window}; there are ${windows.join(', ')}.`)
  if (jobsOf(filter).length === 0) refuse(`No replay has the template ${template} for the window ${window}.`)
  filesIn(folder, file === null ? null : [file])

  const run = { folder, file, pointsMax: values['points-max'], keepsBodies: bytesFile !== null }
  const reports: JobReport[] = []
  const onReport = (report: JobReport) => {
    reports.push(report)
    if (!json) process.stdout.write(report.kind === 'replay' ? tableOf(report) : comparisonLine(report))
  }
  const runAll = (jobs: readonly Job[]) =>
    workers.inWorkers(
      jobs.map((job) => ({ job, run })),
      values.workers,
      { eachAnew: true, onReport },
    )
  const replays = await runAll(jobsOf(filter))
  const tallies = replays.flatMap((report) => Object.values(report.tallies))
  if (tallies.every(({ requests }) => requests === 0)) refuse('The recordings hold no request to replay.')
  await runAll(laterJobsOf(filter, replays))

  if (bytesFile !== null) {
    const bodies = reports.flatMap((report) => report.bodies).toSorted()
    writeFileSync(bytesFile, bodies.map((line) => `${line}\n`).join(''))
  }
  const failuresOf = (areNotes: boolean) =>
    reports.filter(({ kind }) => isInformative(kind) === areNotes).flatMap((report) => report.failures)
  const [failures, notes] = [failuresOf(false), failuresOf(true)]
  if (json) process.stdout.write(`${JSON.stringify({ reports, elapsed: elapsed() }, null, 2)}\n`)
  else {
    process.stdout.write(failureLines(failures))
    if (notes.length > 0) process.stdout.write(`\nFor information:${failureLines(notes)}`)
    process.stdout.write(`\n${failures.length} failures, ${elapsed()}\n`)
  }
  return failures.length === 0
}
