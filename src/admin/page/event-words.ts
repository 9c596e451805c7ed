import type { JournalEvent } from '../../activity/journal/rows.ts'

type EventType = JournalEvent['type']

/** What kind of thing an event is, in a word or two. */
export const eventNames = {
  compaction: 'Compaction',
  recovery: 'Recovery',
  refusal: 'Refusal',
  restored: 'Restored',
  failure: 'Failure',
  error: 'Error',
  window: 'Window',
  summary: 'Summary',
  'compact-requested': 'Asked to compact',
} as const satisfies Record<EventType, string>

/** Those that an operator should look at. */
export const alarming: ReadonlySet<EventType> = new Set(['failure', 'error', 'refusal', 'restored'])

/** Why it came to it, in plain words where the reason is one of our own, else the reason as it stands. */
export function eventReason({ type, reason }: Pick<JournalEvent, 'type' | 'reason'>): string | null {
  if (reason === null || type !== 'compaction') return reason
  return compactionReason(reason)
}

/** Why a compaction was made. */
export function compactionReason(reason: string): string {
  return compactionReasons[reason] ?? reason
}

/** What else an event tells: `name value`, in the order in which it was written; nothing that is null. */
export function eventDetails({ details }: Pick<JournalEvent, 'details'>): readonly string[] {
  return Object.entries(details)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name.replaceAll('_', ' ')} ${told(value)}`)
}

// --- internal ---

const compactionReasons: Readonly<Record<string, string>> = {
  trigger: 'pressure reached the trigger',
  every: 'so many turns or tool calls had passed',
  limit: 'more turns or messages than the limit',
  forced: 'it was asked for',
  overflow: 'the upstream said that it was too long',
}

function told(value: string | number | boolean | null): string {
  if (typeof value === 'number') return value.toLocaleString('en-US')
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return String(value)
}
