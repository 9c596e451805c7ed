/**
 * Why there is no summary.
 *
 * - `unreachable`, `timeout`, `broken-off`: no whole answer came.
 * - `unauthorized`, `rate-limited`, `upstream-error`: the summary model's upstream refused or failed.
 * - `declined`: a content policy, or the model itself, would not write it.
 * - `overflow`: the material did not fit the model's window, however small its pieces.
 * - `empty`, `tool-call`, `only-reasoning`, `unreadable`: an answer without a text that could be one.
 * - `error-text`, `instructions-repeated`: a text that is none.
 * - `truncated`: cut off by the output limit, or too long, with no whole section in it.
 * - `too-long`: longer than what it was to replace. `no-savings`: hardly shorter.
 * - `too-dear`: asking (further) would send more tokens than may be spent.
 * - `cancelled`: the caller gave up.
 * - `defect`: Foldgate itself failed.
 */
export const failureReasons = [
  'unreachable',
  'timeout',
  'broken-off',
  'unauthorized',
  'rate-limited',
  'upstream-error',
  'declined',
  'overflow',
  'empty',
  'tool-call',
  'only-reasoning',
  'unreadable',
  'error-text',
  'instructions-repeated',
  'truncated',
  'too-long',
  'no-savings',
  'too-dear',
  'cancelled',
  'defect',
] as const

export type FailureReason = (typeof failureReasons)[number]

export type Failure = { readonly kind: 'failed'; readonly reason: FailureReason }

export function failure(reason: FailureReason): Failure {
  return { kind: 'failed', reason }
}
