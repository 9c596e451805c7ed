import { median, percentile } from '../../figures.ts'
import { freshRequests } from '../../load/fresh-requests.ts'
import { runLoad } from '../../load/load.ts'
import { cpuOf } from '../../subjects/process-figures.ts'
import type { Subject } from '../../subjects/subject.ts'
import type { Scenario } from './scenarios.ts'

/** What one load of one subject came to. */
export type Sample = {
  readonly requestsPerSecond: number
  readonly medianMs: number
  readonly slowMs: number
  /** CPU time of the subject's process for each request, in microseconds; null where there is no process. */
  readonly cpuMicroseconds: number | null
}

/** Loads a subject for a while. */
export async function takeSample(subject: Subject, scenario: Scenario, durationMs: number): Promise<Sample> {
  const { path, body, connections } = scenario
  const request = freshRequests({ path, body, headers: subject.headers, connections })
  const before = cpuOf(subject)
  const { requestsPerSecond, latenciesMs, count } = await runLoad({
    origin: subject.origin,
    request,
    connections,
    durationMs,
  })
  const after = cpuOf(subject)
  return {
    requestsPerSecond,
    medianMs: median(latenciesMs),
    slowMs: percentile(latenciesMs, 0.99),
    cpuMicroseconds: before === null || after === null ? null : (after - before) / count,
  }
}
