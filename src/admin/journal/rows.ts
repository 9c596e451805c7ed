import { z } from 'zod'

/**
 * The rows of the journal, as the store keeps them and as `GET /events` and `GET /conversations` answer them. Figures
 * and names only: nothing that a conversation says.
 */

const count = z.number().min(0)
const name = z.string().max(512)
const range = z.object({ pass: name, start: z.int().min(0), end: z.int().min(0) })

export const eventTypes = [
  'stride',
  'recovery',
  'refusal',
  'restored',
  'failure',
  'error',
  'window',
  'summary',
  'compact-requested',
] as const

/** Something that Foldgate did or met. */
export const journalEventSchema = z.object({
  /** ISO 8601, in UTC. */
  time: z.string(),
  /** The process that wrote it. */
  process: name,
  type: z.enum(eventTypes),
  conversation: name.nullable(),
  profile: name.nullable(),
  model: name.nullable(),
  /** Why, in one word: of a stride what made it due, of a refusal its class, of a failure the part. */
  reason: name.nullable(),
  passes: z.array(name),
  /** Which messages of the conversation each pass treats: from `start` up to `end`. */
  ranges: z.array(range),
  tokens_before: count.nullable(),
  tokens_after: count.nullable(),
  summary_key: name.nullable(),
  milliseconds: count.nullable(),
  /** What else there is to say of this kind of event. */
  details: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
})

export type JournalEvent = z.output<typeof journalEventSchema>

/** One chat completion. */
export const usageRowSchema = z.object({
  time: z.string(),
  process: name,
  conversation: name.nullable(),
  parent: name.nullable(),
  label: name.nullable(),
  client_key: name.nullable(),
  profile: name.nullable(),
  model: name,
  /** The model that says it has answered, where it is another. */
  answered_by: name.nullable(),
  upstream: name,
  action: name,
  reason: name.nullable(),
  status: z.int().nullable(),
  outcome: z.enum(['finished', 'client-gone', 'broken-off']),
  streamed: z.boolean(),
  attempts: count,
  window_tokens: count.nullable(),
  window_source: name.nullable(),
  budget_tokens: count.nullable(),
  messages_received: count.nullable(),
  messages_sent: count.nullable(),
  /** Own counts, upper bounds where `tokens_are_bounds`. */
  tokens_received: count.nullable(),
  tokens_sent: count.nullable(),
  tokens_are_bounds: z.boolean(),
  /** Of the incoming conversation, and of what was sent. */
  pressure: count.nullable(),
  sent_pressure: count.nullable(),
  passes: z.array(name),
  summary: name,
  /** Why a stride was made for this request; null where none was. */
  stride: name.nullable(),
  /** Whether it would have been refused as it came; null where that is not known. */
  beyond_window: z.boolean().nullable(),
  /** What would have been sent, where the profile only observes. */
  observed_tokens_sent: count.nullable(),
  observed_passes: z.array(name),
  /** The provider's own counts. */
  prompt_tokens: count.nullable(),
  cached_tokens: count.nullable(),
  completion_tokens: count.nullable(),
  /** What the prompt cost, and what it would have cost whole, in the currency of `prices`; null where that is unknown. */
  prompt_cost: z.number().nullable(),
  whole_prompt_cost: z.number().nullable(),
  added_ms: count,
  first_byte_ms: count.nullable(),
  total_ms: count,
})

export type UsageRow = z.output<typeof usageRowSchema>
