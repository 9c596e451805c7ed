import type { Failures } from '../failures.ts'
import type { Reports } from './request-report.ts'

/** The same reports, told so that nothing that goes wrong with whoever is told can harm a request (P2). */
export function harmlessReports(reports: Reports, failures: Pick<Failures, 'attempt'>): Reports {
  return {
    begin: (report) => {
      const ended = failures.attempt('observation', nothing, () => reports.begin(report))
      return (end) => failures.attempt('observation', undefined, () => ended(end))
    },
    relayed: (endpoint, action) =>
      failures.attempt('observation', undefined, () => reports.relayed(endpoint, action)),
  }
}

// --- internal ---

function nothing(): void {}
