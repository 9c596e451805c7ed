import type { Failures } from './failures.ts'
import type { Reports } from './request-report.ts'

/** The same reports, told so that nothing that goes wrong with whoever is told can harm a request (P2). */
export function harmlessReports(reports: Reports, failures: Pick<Failures, 'attempt'>): Reports {
  return {
    begin: (report) =>
      harmlessEnd(
        failures.attempt('observation', nothing, () => reports.begin(report)),
        failures,
      ),
    relayed: (endpoint, action) =>
      failures.attempt('observation', undefined, () => reports.relayed(endpoint, action)),
  }
}

// --- internal ---

/** Its own function: what is called when an answer has ended must not keep the report, and with it the body, until then. */
function harmlessEnd(
  ended: ReturnType<Reports['begin']>,
  failures: Pick<Failures, 'attempt'>,
): ReturnType<Reports['begin']> {
  return (end) => failures.attempt('observation', undefined, () => ended(end))
}

function nothing(): void {}
