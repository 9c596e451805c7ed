/**
 * Replays recorded conversations through Foldgate and holds its promises against what the upstream received.
 *
 *   node test/replay/replay.ts FOLDER [--file NAME] [--window N] [--template lenient|strict] [--points-max N]
 *                                     [--workers N] [--json]
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
 * Prints a table a configuration, then every promise that was not kept; exits with 1 if there was one.
 */
import { parseArgs } from 'node:util'
import { jobsOf, laterJobsOf } from './jobs.ts'
import { isInformative, type Job, type JobReport } from './job.ts'
import { comparisonLine, failureLines, seconds, tableOf } from './table.ts'
import { answerJobs, inWorkers } from './workers.ts'

if (process.send !== undefined) {
  answerJobs()
} else {
  process.exitCode = await replay()
}

async function replay(): Promise<number> {
  const startedMs = performance.now()
  const { values, positionals } = parseArgs({
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
  const [folder] = positionals
  if (folder === undefined) {
    process.stderr.write('Name the folder with the recordings: node test/replay/replay.ts FOLDER\n')
    return 2
  }
  const pointsMax = values['points-max'] === undefined ? null : Number(values['points-max'])
  const run = { folder, file: values.file ?? null, pointsMax }
  const filter = { window: values.window ?? null, template: values.template ?? null }
  const reports: JobReport[] = []
  const show = (report: JobReport) => {
    reports.push(report)
    if (!values.json)
      process.stdout.write(report.kind === 'replay' ? tableOf(report) : comparisonLine(report))
  }
  const runAll = (jobs: readonly Job[]) => inWorkers(jobs, run, Number(values.workers), show)
  const replays = await runAll(jobsOf(filter))
  await runAll(laterJobsOf(filter, replays))

  const failures = reports
    .filter((report) => !isInformative(report.kind))
    .flatMap((report) => report.failures)
  const notes = reports.filter((report) => isInformative(report.kind)).flatMap((report) => report.failures)
  const elapsed = seconds(performance.now() - startedMs)
  if (values.json) process.stdout.write(`${JSON.stringify({ reports, elapsed }, null, 2)}\n`)
  else {
    process.stdout.write(failureLines(failures))
    if (notes.length > 0) process.stdout.write(`\nFor information:${failureLines(notes)}`)
    process.stdout.write(`\n${failures.length} failures, ${elapsed}\n`)
  }
  return failures.length === 0 ? 0 : 1
}
