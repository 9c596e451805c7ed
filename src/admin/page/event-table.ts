import type { StoredEvent } from '../../telemetry/journal/journal.ts'
import type { JournalEvent } from '../../telemetry/journal/rows.ts'
import { compactionReason, compactionWords, lessons, treatedInDetails, treatedNames } from '../told-words.ts'
import { conversationLink } from './conversation-table.ts'
import {
  clock,
  type Column,
  duration,
  figure,
  foreign,
  html,
  type HtmlEscapedString,
  liveSection,
  type MarkupPart,
  plural,
  table,
  timeElement,
} from './markup.ts'

export type EventTableOptions = {
  /** The newest first. */
  readonly events: readonly StoredEvent[]
  readonly now: Date
  /** The names of conversations, by id. Null: all events are of one conversation, and it is not said of which. */
  readonly names: ReadonlyMap<string, string | null> | null
  /** Whether something is known to have happened: events that are not there are gone. */
  readonly hadEvents: boolean
}

/** What Foldgate did or met, the newest first. */
export function eventTable({ events, now, names, hadEvents }: EventTableOptions): HtmlEscapedString {
  const columns: readonly (Column<StoredEvent> | false)[] = [
    ['Time, UTC', 'soft', ({ time }) => timeElement(time, clock(time, now))],
    [
      'Event',
      '',
      ({ type }) =>
        html`<span class="${alarming.has(type) ? 'badge warned' : 'badge'}">${eventNames[type]}</span>`,
    ],
    names !== null && [
      'Conversation',
      'name',
      ({ conversation: id }) => id !== null && conversationLink(id, names.get(id) ?? null),
    ],
    ['What', 'text', what],
    [
      'Tokens',
      'right',
      ({ tokens_before: before, tokens_after: after }) =>
        (before !== null || after !== null) && `${figure(before)} → ${figure(after)}`,
    ],
    ['Took', 'right soft', ({ milliseconds: ms }) => ms !== null && duration(ms)],
  ]
  const none = hadEvents
    ? 'No longer on record: the journal’s rows of what happened were deleted, or their time was up.'
    : 'Nothing happened yet: compactions, recoveries and failures are listed here.'
  const found =
    events.length === 0
      ? html`<p class="soft">${none}</p>`
      : table(events, columns, ({ id }) => `event-${id}`)
  return liveSection('events', 'Events', found)
}

// --- internal ---

/** What kind of thing an event is, in a word or two. */
const eventNames = {
  compaction: 'Compaction',
  recovery: 'Recovery',
  refusal: 'Refusal',
  restored: 'Restored',
  failure: 'Failure',
  error: 'Error',
  window: 'Window',
  summary: 'Summary',
  'reasoning-removed': 'Reasoning lost',
  'cache-missed': 'Cache missed',
  'compact-requested': 'Asked to compact',
} as const satisfies Record<JournalEvent['type'], string>

/** Those that an operator should look at. */
const alarming: ReadonlySet<JournalEvent['type']> = new Set([
  'failure',
  'error',
  'refusal',
  'restored',
  'reasoning-removed',
])

function what(event: StoredEvent): MarkupPart {
  const { type, passes, details } = event
  const isCompaction = type === 'compaction'
  const done = isCompaction ? compactionWords(treatedInDetails(details), 'message') : null
  const why = eventReason(event)
  const more = eventDetails(details, (name) => isCompaction && treatedNames.has(name))
  return [
    done !== null && html`<span>${done}.</span> `,
    why !== null && html`<span ${done !== null && html`class="soft"`}>${foreign(why)}</span> `,
    done === null && passes.length > 0 && html`<span class="passes">${passes.join(' · ')}</span> `,
    more.map((words) => html`<span class="soft">${foreign(words)}</span> `),
  ]
}

type Value = string | number | boolean

/** Why an event came about, in words where the reason is one of our own. Null if there is nothing to say of it. */
function eventReason({ type, reason }: Pick<StoredEvent, 'type' | 'reason'>): string | null {
  if (reason === null) return null
  if (type === 'compaction') return compactionReason(reason)
  if (type === 'window') return lessons[reason] ?? reason
  const known = reasons.get(`${type};${reason}`)
  return known === undefined ? reason : known
}

/** What else an event says. A detail that another version wrote is told by its own name. */
function eventDetails(details: StoredEvent['details'], isTold: (name: string) => boolean): readonly string[] {
  return Object.entries(details).flatMap(([name, value]) => {
    if (value === null || isTold(name)) return []
    const known = parts.get(name)
    return known === undefined
      ? [`${name.replaceAll('_', ' ')} ${told(value)}`]
      : [known(value)].filter((words) => words !== '')
  })
}

/** By type and reason; null where the rest of the row says it. */
const reasons: ReadonlyMap<string, string | null> = new Map(
  Object.entries({
    'refusal;other': null,
    'refusal;rate': 'too many requests at once, or too many tokens',
    'refusal;denied': 'the key was not accepted, or has no right to this',
    'refusal;overflow': 'too long for the model',
    'refusal;output_too_large': 'a longer reply was asked for than the model gives',
    'refusal;payload_too_large': 'too many bytes for the server',
    'refusal;crowded': 'the server had no room at that moment',
    'refusal;order': 'the order of the messages was not accepted',
    'recovery;overflow': 'compacted after the upstream refused it as too long',
    'recovery;recovered': 'compacted after the upstream refused it as too long',
    'recovery;fallback': 'answered by the larger model that the profile names',
    'recovery;failed': 'no form that Foldgate could make of it was accepted',
    'restored;original': 'sent as it came, after a compacted form was refused',
    'restored;strict': 'sent in another order, after the first was refused',
    'restored;thoughts': 'sent without old thoughts, after they were refused',
    'cache-missed;model': 'the model is another',
    'cache-missed;system': 'the system text is another',
    'cache-missed;tools': 'the tools are others',
    'cache-missed;messages': 'earlier messages are others',
    'compact-requested;operator': 'by the operator',
  }),
)

/** By the name of a detail; an empty text where it is no news. */
const parts: ReadonlyMap<string, (value: Value) => string> = new Map(
  Object.entries<(value: Value) => string>({
    attempts: (value) => (value === 1 ? '' : `${told(value)} attempts`),
    status: (value) => `answered ${String(value)}`,
    upstream: (value) => `by the upstream ${told(value)}`,
    fallback: (value) => `larger model: ${told(value)}`,
    fallback_upstream: (value) => `at the upstream ${told(value)}`,
    fallback_status: (value) => `which answered ${String(value)}`,
    window_tokens: (value) => `window: ${counted(value, 'token')}`,
    kind: (value) => kinds.get(value) ?? told(value),
    calls: (value) => counted(value, 'call'),
    prompt_tokens: (value) => `${counted(value, 'token')} read`,
    cached_tokens: (value) => (value === 0 ? '' : `${told(value)} of them from the cache`),
    cache_written_tokens: (value) => (value === 0 ? '' : `${told(value)} written to the cache`),
    completion_tokens: (value) => `${counted(value, 'token')} written`,
    times: (value) => (value === 1 ? '' : counted(value, 'time')),
    items: (value) => counted(value, 'item'),
    derived: () => 'made for a past that came with the first request',
  }),
)

const kinds: ReadonlyMap<Value, string> = new Map<Value, string>([
  ['total', 'for prompt and reply together'],
  ['input', 'for the prompt alone'],
])

function counted(value: Value, word: string): string {
  return typeof value === 'number' ? plural(value, word) : `${told(value)} ${word}s`
}

function told(value: Value): string {
  if (typeof value === 'number')
    return Number.isInteger(value) ? figure(value) : value.toLocaleString('en-US')
  return typeof value === 'boolean' ? (value ? 'yes' : 'no') : value
}
