import { z } from 'zod'
import type { SummaryRange } from '../compaction/compaction.ts'
import type { Message } from '../conversation/message.ts'
import type { Structure } from '../conversation/structure.ts'
import { parseJsonText } from '../json/json-value.ts'
import type { Digest } from '../json/source.ts'
import { SUMMARY_VERSION, type SummarySettings } from './prompt.ts'

/** Why there is no summary. */
const failureReasons = [
  // No whole answer came.
  'unreachable',
  'timeout',
  'broken-off',
  // The summary model's upstream refused or failed.
  'unauthorized',
  'rate-limited',
  'upstream-error',
  // A content policy, or the model itself, would not write it.
  'declined',
  // The material did not fit the model's window, however small its pieces.
  'overflow',
  // An answer without a text that could be one.
  'empty',
  'tool-call',
  'only-reasoning',
  'unreadable',
  // A text that is none.
  'error-text',
  'instructions-repeated',
  // Cut off by the output limit, or too long, with no whole section in it.
  'truncated',
  // Longer than what it was to replace, or hardly shorter.
  'too-long',
  'no-savings',
  // Asking (further) would send more tokens than may be spent.
  'too-dear',
  // The caller gave up.
  'cancelled',
  // Foldgate itself failed.
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

/** A conversation, and the meaning key of every prefix of it: `keys[i]` stands for the first i messages. */
export type KeyedConversation = {
  readonly messages: readonly Message[]
  readonly structure: Structure
  readonly keys: readonly string[]
}

/** What keeps the records of equal conversations apart. */
export type RecordPlace = {
  readonly scope: string
  readonly profile: string
  /** A digest of the model's name. */
  readonly model: string
}

/** A conversation with its id and with what its records are found by. */
export type RecordedConversation = {
  readonly chat: KeyedConversation
  readonly place: RecordPlace
  readonly remembered: { readonly conversation: string }
}

/**
 * The key of a summary: its scope, the settings by which it is made, and the meaning of the conversation up to its end. The
 * request's own model is no part of it, so that a conversation whose model is changed finds its summaries again.
 */
export function summaryKey(
  {
    chat,
    place,
    profile,
  }: RecordedConversation & { readonly profile: { readonly summary: SummarySettings } },
  range: SummaryRange,
  digest: Digest,
): string {
  const { systemCount } = chat.structure
  const { start, end, except } = range
  const { upstream, model, max_tokens, parameters, system_prompt, user_prompt } = profile.summary
  const made = [SUMMARY_VERSION, upstream, model, max_tokens, parameters, system_prompt, user_prompt]
  const settings = digest(JSON.stringify(made)).slice(0, DIGEST_CHARS)
  const from = [start - systemCount, ...except.map((index) => index - systemCount)]
  return `summary:${place.scope}:${settings}:${digest(JSON.stringify([chat.keys[end] ?? '', from]))}`
}

/** The name of a summary in reports: as good as its key, without the scope. */
export function summaryName(key: string): string {
  return key.slice(key.lastIndexOf(':') + 1).slice(0, DIGEST_CHARS)
}

// --- internal ---

/** 96 bits: enough to tell summaries and their settings apart. */
const DIGEST_CHARS = 16
