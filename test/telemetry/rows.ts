import {
  journalEventSchema,
  usageRowSchema,
  type JournalEvent,
  type UsageRow,
} from '../../src/telemetry/journal/rows.ts'

/** A time of these tests: so many seconds behind noon. */
export const atSecond = (seconds: number): string =>
  new Date(Date.UTC(2026, 10, 20, 12, 0, seconds)).toISOString()

/** Conversations' ids, as many as a test wants. */
export const idOf = (number: number): string => `conversation${String(number).padStart(4, '0')}`

/** The row of a request that was sent as it came, but for what a test wants otherwise. */
export const usageRow = (other: Partial<UsageRow> = {}): UsageRow =>
  usageRowSchema.parse({
    time: atSecond(0),
    process: 'here',
    conversation: idOf(1),
    profile: 'default',
    model: 'test-model',
    upstream: 'default',
    action: 'relayed',
    status: 200,
    outcome: 'finished',
    streamed: false,
    attempts: 1,
    tokens_are_bounds: false,
    summary: 'none',
    added_ms: 1,
    total_ms: 20,
    ...other,
  })

export const journalEvent = (other: Partial<JournalEvent> = {}): JournalEvent =>
  journalEventSchema.parse({
    time: atSecond(0),
    process: 'here',
    type: 'compaction',
    conversation: idOf(1),
    ...other,
  })
