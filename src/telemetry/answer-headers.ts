import type { Usage } from '../formats/answer-contract.ts'
import type { RequestReport } from './request-report.ts'

/** The names of all headers by which Foldgate tells what it did: pages of other origins may read these. */
export const answerHeaderNames = [
  'x-foldgate-action',
  'x-foldgate-conversation',
  'x-foldgate-profile',
  'x-foldgate-window',
  'x-foldgate-sampled',
  'x-foldgate-tokens',
  'x-foldgate-pressure',
  'x-foldgate-passes',
  'x-foldgate-observed',
  'x-foldgate-repairs',
  'x-foldgate-summary',
  'x-foldgate-summary-reason',
  'x-foldgate-attempts',
  'x-foldgate-fallback',
  'x-foldgate-cache',
  'x-foldgate-hint',
] as const

/**
 * The headers by which Foldgate tells a client what it did with a request. `usage`: what its answer had stated by then; null
 * if nothing.
 */
export function answerHeaders(
  { row, isSentBound, sampledMessages, repairs, missingSummary, fallback }: RequestReport,
  usage: Usage | null,
): AnswerHeaders {
  const { action, reason, passes, observed_passes: wouldPass, observed_tokens_sent: wouldSend } = row
  const received = row.tokens_are_bounds ? '<' : ''
  const sent = isSentBound ? '<' : ''
  const headers: AnswerHeaders = {
    'x-foldgate-action': action + (reason === null ? '' : `;reason=${reason}`),
    'x-foldgate-conversation': row.conversation ?? '',
    'x-foldgate-profile': encodeURI(row.profile ?? ''),
    'x-foldgate-attempts': String(row.attempts),
  }
  if (row.pressure !== null) {
    const setting = row.overruled_tokens === null ? '' : `;setting=${row.overruled_tokens}`
    headers['x-foldgate-window'] = `${row.window_tokens};source=${row.window_source}${setting}`
    headers['x-foldgate-tokens'] = `${received}${row.tokens_received};sent=${sent}${row.tokens_sent}`
    // Two digits; a bound is rounded up, or it would be none.
    const round = row.tokens_are_bounds ? Math.ceil : Math.round
    headers['x-foldgate-pressure'] = received + (round(row.pressure * 100) / 100).toFixed(2)
    if (sampledMessages > 0) headers['x-foldgate-sampled'] = String(sampledMessages)
  }
  if (fallback !== null) {
    const refused = fallback.hasAnswered ? '' : `;refused=${fallback.refusedWith ?? 'unreachable'}`
    headers['x-foldgate-fallback'] = `${encodeURI(fallback.model)};upstream=${fallback.upstream}${refused}`
  }
  if (repairs !== null) {
    const counts = Object.entries(repairs).map(([what, count]) => `${what}=${count}`)
    headers['x-foldgate-repairs'] = counts.join(';')
  }
  if (passes.length > 0) headers['x-foldgate-passes'] = passes.join(',')
  if (wouldSend !== null) {
    const done = wouldPass.length === 0 ? 'relayed' : 'compacted'
    const by = wouldPass.length === 0 ? '' : `;passes=${wouldPass.join(',')}`
    headers['x-foldgate-observed'] = `${done};sent=${received}${wouldSend}${by}`
  }
  const { cachedTokens = null, cacheWrittenTokens = null } = usage ?? {}
  const read = cachedTokens === null ? '' : `read=${cachedTokens}`
  const written = cacheWrittenTokens === null ? '' : `${read === '' ? '' : ';'}written=${cacheWrittenTokens}`
  if (read !== '' || written !== '') headers['x-foldgate-cache'] = read + written
  headers['x-foldgate-summary'] = row.summary
  if (missingSummary !== null) headers['x-foldgate-summary-reason'] = missingSummary
  return headers
}

// --- internal ---

type AnswerHeaders = { [name in (typeof answerHeaderNames)[number]]?: string }
