import type { Reports } from './request-report.ts'

/** Tells all of them, in their order. */
export function joinedReports(all: readonly Reports[]): Reports {
  return {
    begin: (report) => joinedEnd(all.map((reports) => reports.begin(report))),
    relayed: (endpoint, action) => {
      for (const reports of all) reports.relayed(endpoint, action)
    },
  }
}

// --- internal ---

type End = ReturnType<Reports['begin']>

/** Its own function: what is called when an answer has ended must not keep the report, and with it the body, until then. */
function joinedEnd(ends: readonly End[]): End {
  return function ended(end) {
    for (const tell of ends) tell(end)
  }
}
