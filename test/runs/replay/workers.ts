import { fork } from 'node:child_process'
import type { Job, JobReport } from './job.ts'
import { runJob, type RunOptions } from './run-job.ts'

/** Runs jobs, each in a process of its own and so many at a time; the reports in the order of the jobs. */
export async function inWorkers(
  jobs: readonly Job[],
  run: RunOptions,
  workers: number,
  onReport: (report: JobReport) => void,
): Promise<readonly JobReport[]> {
  const waiting = [...jobs.entries()]
  const reports: JobReport[] = []
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [place, job] = next
      const report = await inProcess({ job, run })
      reports[place] = report
      onReport(report)
    }
  }
  await Promise.all(Array.from({ length: Math.max(1, workers) }, work))
  return reports
}

/** In the process of a worker: does the job that it is sent, and ends. */
export function answerJobs(): void {
  process.once('message', (order: Order) => {
    runJob(order.job, order.run).then(
      (report) => process.send?.(report, () => process.disconnect()),
      (error: unknown) => {
        process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
        process.exit(1)
      },
    )
  })
}

// --- internal ---

type Order = { readonly job: Job; readonly run: RunOptions }

function inProcess(order: Order): Promise<JobReport> {
  const script = process.argv[1] ?? ''
  return new Promise((resolve, reject) => {
    const child = fork(script, [], { stdio: 'inherit' })
    let report: JobReport | null = null
    child.once('message', (answer: JobReport) => {
      report = answer
    })
    child.once('error', reject)
    child.once('exit', (code) => {
      if (report === null) reject(new Error(`a worker ended with ${code} and without a report`))
      else resolve(report)
    })
    child.send(order)
  })
}
