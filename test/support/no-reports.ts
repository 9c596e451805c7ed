import type { Reports } from '../../src/proxy/report/request-report.ts'

/** Nobody wants to know. */
export const noReports: Reports = { begin: () => () => {}, relayed: () => {} }
