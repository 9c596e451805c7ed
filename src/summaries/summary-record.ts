import { z } from 'zod'
import { parseJsonText } from '../json/json-value.ts'

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
const failureReasons = [
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

const recordSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('written'), text: z.string(), tokens: z.int() }),
  z.object({ kind: z.literal('failed'), reason: z.enum(failureReasons) }),
])

/** A summary as it is stored: its text without tags, or why there is none. One that failed is not tried again. */
export type SummaryRecord = Readonly<z.output<typeof recordSchema>>

/** Null if the text is no record: a damaged one costs a call. */
export function readSummaryRecord(text: string): SummaryRecord | null {
  return recordSchema.safeParse(parseJsonText(text)).data ?? null
}

/** Why a summary is not there: it failed, or a request waited for it in vain. */
export type MissingReason = FailureReason | 'not-in-time'

/** How things stand with the summary that a conversation will need next. */
export type SummaryOutlook = {
  readonly state: 'none' | 'pending' | 'ready'
  /** Why one that was wanted is not there. */
  readonly reason: MissingReason | null
  /** Asks for what is missing, once the upstream has accepted the request; null if nothing is. Never throws. */
  readonly begin: (() => void) | null
}

export const noOutlook: SummaryOutlook = { state: 'none', reason: null, begin: null }
