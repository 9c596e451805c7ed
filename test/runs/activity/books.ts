import { setTimeout as sleep } from 'node:timers/promises'
import type { ConversationCard } from '../../../src/telemetry/conversations/conversation-list.ts'
import type { ConversationDetail } from '../../../src/telemetry/conversations/read-conversations.ts'
import type { StoredEvent } from '../../../src/telemetry/journal/journal.ts'
import { askAdmin } from '../../admin/ask-admin.ts'
import { sumOf } from '../harness/table.ts'
import { readMetrics, type Metrics } from './metrics.ts'

/** All that the admin listener tells. */
export type Books = {
  readonly metrics: Metrics
  /** The newest first. */
  readonly events: readonly StoredEvent[]
  readonly cards: readonly ConversationCard[]
  /** The same conversations with their rows and messages. */
  readonly details: readonly ConversationDetail[]
  /** The page at `/`, without its markup. */
  readonly page: string
}

/** Reads everything once so many requests have ended and the journal is written. */
export async function readBooks(origin: string, requests: number): Promise<Books> {
  const json = async <Answer>(path: string): Promise<Answer> =>
    JSON.parse((await askAdmin(origin, path)).text)
  const list = async () => (await json<{ conversations: ConversationCard[] }>('/conversations')).conversations

  let cards = await list()
  // A request ends a moment after its client has the answer.
  for (let round = 0; round < ROUNDS_MAX && endedIn(cards) < requests; round += 1) {
    await sleep(ROUND_MS)
    cards = await list()
  }
  await sleep(JOURNAL_MS)
  const events: StoredEvent[] = []
  for (let before: string | null = ''; before !== null;) {
    const query = before === '' ? '' : `&before=${encodeURIComponent(before)}`
    const page: EventPage = await json(`/events?limit=${EVENTS_PER_PAGE}${query}`)
    events.push(...page.events)
    before = page.before
  }
  const details: ConversationDetail[] = []
  for (const { id } of cards) details.push(await json(`/conversations/${id}`))
  const page = await askAdmin(origin, '/', { headers: { accept: 'text/html' } })
  return {
    metrics: readMetrics((await askAdmin(origin, '/metrics')).text),
    events,
    cards,
    details,
    page: page.text.replace(/<[^>]*>/g, '').replace(/\s+/g, ' '),
  }
}

type EventPage = { readonly events: readonly StoredEvent[]; readonly before: string | null }

const ROUNDS_MAX = 100
const ROUND_MS = 20

/** The journal is written behind, a quarter of a second later. */
const JOURNAL_MS = 600

/** Few, so that there are several pages. */
const EVENTS_PER_PAGE = 7

const endedIn = (cards: readonly ConversationCard[]): number => sumOf(cards, ({ requests }) => requests)
