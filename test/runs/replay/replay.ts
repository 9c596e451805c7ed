/**
 * Replays recorded conversations through Foldgate and holds its promises against what the upstream received.
 *
 *   node test/runs/replay/replay.ts FOLDER [--file NAME] [--window N] [--template lenient|strict|auto]
 *                                     [--points-max N] [--workers N] [--json] [--bytes FILE]
 *                                     [--dialect chat-completions|responses|messages]
 *
 * FOLDER holds JSON lines, a conversation a line with `id`, `messages` and perhaps `tools`, or with a single
 * `request`; nothing of it is copied. Every assistant message was once the answer to a request with all messages
 * before it: each of these requests is made again, plain and streamed, through real sockets, to a Foldgate before
 * a strict upstream, for three windows and two templates. Recordings that break the message rules are replayed
 * repaired, where nothing may be refused, and as they are, where nothing may be made worse.
 *
 * Further runs: `auto` placement before a strict upstream, a window that refusals have to teach, single requests
 * in a second process without records, tools and limits that change half-way, a clock in the system prompt.
 *
 * With `--dialect responses` or `messages` the recordings become conversations of the Responses API (`responses`) or of the
 * Messages API (`messages`). They are lived (`lived`): the upstream issues ids and signed thoughts, and the client takes them
 * into its next requests. Told on top: how much reasoning was lost, and of which replies only a part was sent.
 *
 * With `--bytes` a digest of every body that the upstream received is written to FILE, a request a line: two versions
 * of Foldgate that send the same write the same file.
 *
 * Prints a table a configuration, then every promise that was not kept; exits with 1 if there was one, and if
 * there was nothing to replay.
 */
import { writeFileSync } from 'node:fs'
import { jobsOf, laterJobsOf } from './jobs.ts'
import { isInformative, type Job, type JobReport } from './job.ts'
import { readOptions } from './options.ts'
import { comparisonLine, failureLines, seconds, tableOf } from './table.ts'
import { answerJobs, inWorkers } from './workers.ts'

if (process.send !== undefined) {
  answerJobs()
} else {
  process.exitCode = await replay()
}

async function replay(): Promise<number> {
  const startedMs = performance.now()
  const options = readOptions(process.argv.slice(2))
  if (typeof options === 'string') return refuse(options)
  const { run, filter, workers, json, bytesFile } = options
  const reports: JobReport[] = []
  const show = (report: JobReport) => {
    reports.push(report)
    if (!json) process.stdout.write(report.kind === 'replay' ? tableOf(report) : comparisonLine(report))
  }
  const runAll = (jobs: readonly Job[]) => inWorkers(jobs, run, workers, show)
  const replays = await runAll(jobsOf(filter))
  const requests = replays.flatMap(({ tallies }) => Object.values(tallies)).map((tally) => tally.requests)
  if (requests.every((count) => count === 0)) return refuse('The recordings hold no request to replay.')
  await runAll(laterJobsOf(filter, replays))

  if (bytesFile !== null) {
    const bodies = reports.flatMap((report) => report.bodies).toSorted()
    writeFileSync(bytesFile, bodies.map((line) => `${line}\n`).join(''))
  }
  const failures = reports
    .filter((report) => !isInformative(report.kind))
    .flatMap((report) => report.failures)
  const notes = reports.filter((report) => isInformative(report.kind)).flatMap((report) => report.failures)
  const elapsed = seconds(performance.now() - startedMs)
  if (json) process.stdout.write(`${JSON.stringify({ reports, elapsed }, null, 2)}\n`)
  else {
    process.stdout.write(failureLines(failures))
    if (notes.length > 0) process.stdout.write(`\nFor information:${failureLines(notes)}`)
    process.stdout.write(`\n${failures.length} failures, ${elapsed}\n`)
  }
  return failures.length === 0 ? 0 : 1
}

function refuse(reason: string): number {
  process.stderr.write(`${reason}\n`)
  return 1
}
