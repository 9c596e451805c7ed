import type { Reports } from '../../src/activity/request-report.ts'

/** Nobody wants to know. */
export const noReports: Reports = { begin: () => () => {}, relayed: () => {} }
