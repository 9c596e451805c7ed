import type { Reports } from './request-report.ts'

/** Tells all of them, in their order. */
export function joinedReports(all: readonly Reports[]): Reports {
  return {
    begin: (report) => {
      const ends = all.map((reports) => reports.begin(report))
      return function ended(end) {
        for (const tell of ends) tell(end)
      }
    },
    relayed: (endpoint, action) => {
      for (const reports of all) reports.relayed(endpoint, action)
    },
  }
}
