import type { Repairs } from '../dialects/chat-completions/repair/repair.ts'
import type { RequestReport, RequestSize } from './request-report.ts'
import type { MissingReason } from '../summaries/outlook.ts'

/**
 * The headers by which Foldgate tells what it did with a request: the report that metrics and journal are made of, as far
 * as a client can use it.
 */
export function answerHeaders(
  report: RequestReport,
  { repairs, missing }: { readonly repairs: Repairs | null; readonly missing: MissingReason | null },
): Record<string, string> {
  const { size, reason, observed } = report
  const headers: Record<string, string> = {
    'x-foldgate-action': report.action + (reason === null ? '' : `;reason=${reason}`),
    'x-foldgate-conversation': report.conversation ?? '',
    'x-foldgate-profile': encodeURI(report.profile ?? ''),
    'x-foldgate-attempts': String(report.attempts),
  }
  if (size !== null) {
    const setting = size.overruledTokens === null ? '' : `;setting=${size.overruledTokens}`
    headers['x-foldgate-window'] = `${size.windowTokens};source=${size.windowSource}${setting}`
    headers['x-foldgate-tokens'] =
      `${bound(size.isBound)}${size.receivedTokens};sent=${bound(size.isSentBound)}${size.sentTokens}`
    headers['x-foldgate-pressure'] = bound(size.isBound) + shownPressure(size)
    if (size.sampledMessages > 0) headers['x-foldgate-sampled'] = String(size.sampledMessages)
  }
  if (repairs !== null) {
    const counts = Object.entries(repairs).map(([what, count]) => `${what}=${count}`)
    headers['x-foldgate-repairs'] = counts.join(';')
  }
  if (report.passes.length > 0) headers['x-foldgate-passes'] = report.passes.join(',')
  if (observed !== null) {
    const action = observed.passes.length === 0 ? 'relayed' : 'compacted'
    const passes = observed.passes.length === 0 ? '' : `;passes=${observed.passes.join(',')}`
    headers['x-foldgate-observed'] =
      `${action};sent=${bound(size?.isBound ?? false)}${observed.sentTokens}${passes}`
  }
  headers['x-foldgate-summary'] = report.summary
  if (missing !== null) headers['x-foldgate-summary-reason'] = missing
  return headers
}

// --- internal ---

function bound(isBound: boolean): string {
  return isBound ? '<' : ''
}

/** Two digits; a bound is rounded up, or it would be none. */
function shownPressure({ pressure, isBound }: RequestSize): string {
  const hundredths = pressure * 100
  return ((isBound ? Math.ceil(hundredths) : Math.round(hundredths)) / 100).toFixed(2)
}
