import { z } from 'zod'

/**
 * The rows of the journal, as the store keeps them and as `GET /events` and `GET /conversations` answer them. Figures
 * and names only: nothing that a conversation says.
 */

const count = z.number().min(0)
const name = z.string().max(512)
// A row of an older version has less.
const optionalCount = count.nullable().default(null)
const optionalName = name.nullable().default(null)
const names = z.array(name).default([])
const range = z.object({ pass: name, start: z.int().min(0), end: z.int().min(0) })

export const eventTypes = [
  'compaction',
  'recovery',
  'refusal',
  'restored',
  'failure',
  'error',
  'window',
  'summary',
  'reasoning-removed',
  'cache-missed',
  'compact-requested',
] as const

/** Something that Foldgate did or met. */
export const journalEventSchema = z.object({
  /** ISO 8601, in UTC. */
  time: z.string(),
  /** The process that wrote it. */
  process: name,
  type: z.enum(eventTypes),
  conversation: optionalName,
  profile: optionalName,
  model: optionalName,
  /** Why, in one word: of a compaction what made it due, of a refusal its class, of a failure the part. */
  reason: optionalName,
  passes: names,
  /** Which messages of the conversation each pass treats: from `start` up to `end`. */
  ranges: z.array(range).default([]),
  tokens_before: optionalCount,
  tokens_after: optionalCount,
  summary_key: optionalName,
  milliseconds: optionalCount,
  /** What else there is to say of this kind of event. */
  details: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])).default({}),
})

export type JournalEvent = z.output<typeof journalEventSchema>

/** What an event says beside its time and process. What it leaves out is null or empty. */
export type EventFacts = Pick<JournalEvent, 'type'> & Partial<Omit<JournalEvent, 'time' | 'process'>>

const unknownEvent = journalEventSchema.parse({ time: '', process: '', type: 'error' })

/** The event with these facts. */
export function eventOf(facts: EventFacts, time: string, process: string): JournalEvent {
  return { ...unknownEvent, time, process, ...facts }
}

/**
 * What Foldgate did with a request: as `x-foldgate-action` says it, or `refused` with an error of its own, or `left` by
 * the client before there was an answer.
 */
export type Action =
  | 'relayed'
  | 'compacted'
  | 'recovered'
  | 'restored'
  | 'bypassed'
  | 'failed-open'
  | 'refused'
  | 'left'

/** One generation request, as far as it is known once its answer is settled on, or will never be. */
const begunRowSchema = z.object({
  time: z.string(),
  conversation: optionalName,
  parent: optionalName,
  label: optionalName,
  client_key: optionalName,
  /** The client's `user-agent`, cut. */
  client: optionalName,
  /** The wire format that it came in, by its name; null where it came by none of those that are read. */
  dialect: optionalName,
  profile: optionalName,
  model: name,
  upstream: name,
  action: name,
  reason: optionalName,
  status: z.int().nullable().default(null),
  /** `finished` as long as nothing else is known. */
  outcome: z.enum(['finished', 'client-gone', 'broken-off']),
  streamed: z.boolean(),
  attempts: count,
  window_tokens: optionalCount,
  window_source: optionalName,
  /** The profile's window, where a refusal has shown that it is too large. */
  overruled_tokens: optionalCount,
  budget_tokens: optionalCount,
  messages_received: optionalCount,
  messages_sent: optionalCount,
  /** Own counts, upper bounds where `tokens_are_bounds`. */
  tokens_received: optionalCount,
  tokens_sent: optionalCount,
  tokens_are_bounds: z.boolean(),
  /** Of the incoming conversation, and of what was sent. */
  pressure: optionalCount,
  sent_pressure: optionalCount,
  passes: names,
  summary: name,
  /** Why a compaction was made for this request; null where none was. */
  compaction: optionalName,
  /** Whether it would have been refused as it came; null where that is not known. */
  beyond_window: z.boolean().nullable().default(null),
  /** What would have been sent, where the profile only observes. */
  observed_tokens_sent: optionalCount,
  observed_passes: names,
  added_ms: count,
  first_byte_ms: optionalCount,
})

/** One generation request. */
export const usageRowSchema = begunRowSchema.extend({
  process: name,
  /** The model that says it has answered, where it is another. */
  answered_by: optionalName,
  /** The provider's own counts. */
  prompt_tokens: optionalCount,
  cached_tokens: optionalCount,
  cache_written_tokens: optionalCount,
  completion_tokens: optionalCount,
  /** What the provider says was not as it was when it last had the conversation. */
  cache_miss: optionalName,
  /** Tokens that came and were not sent, as `foldgate_prompt_tokens_total` counts them: below zero where more was sent. */
  saved_tokens: z.number().default(0),
  /** What the prompt cost, and what it would have cost whole, in the currency of `prices`; null where that is unknown. */
  prompt_cost: z.number().nullable().default(null),
  whole_prompt_cost: z.number().nullable().default(null),
  /** Thoughts that the upstream left out of the prompt, and how many of them on account of what Foldgate sent. */
  reasoning_removed: count.default(0),
  reasoning_removed_by_foldgate: count.default(0),
  /** How often the model read back what was folded, and how often it went on with a reply that was cut. */
  recalls: count.default(0),
  continuations: count.default(0),
  total_ms: count,
})

export type UsageRow = z.output<typeof usageRowSchema>

/** Whether a request got an error, by whomever, or half an answer: nothing was saved by it. */
export function isFailed({ action, outcome, status }: UsageRow): boolean {
  return action === 'refused' || outcome === 'broken-off' || (status ?? 0) >= 400
}

/** What of a row is known before the request has ended. */
export type BegunRow = Readonly<Omit<z.output<typeof begunRowSchema>, 'action'>> & { readonly action: Action }

/** The row of a request of which nothing is known. */
export const unknownRow: Omit<BegunRow, 'action'> = begunRowSchema.parse({
  time: '',
  model: '',
  upstream: 'default',
  action: '',
  outcome: 'finished',
  streamed: false,
  attempts: 0,
  tokens_are_bounds: false,
  summary: 'none',
  added_ms: 0,
})
