import type { ConversationCard } from '../../../src/activity/conversations/conversation-list.ts'
import type { ConversationDetail } from '../../../src/activity/conversations/conversations.ts'
import type { UnreadCard } from '../../../src/activity/conversations/unread-tally.ts'
import type { Totals } from '../../../src/activity/conversations/totals.ts'
import type { UsageRow } from '../../../src/activity/journal/rows.ts'
import type { ModelCard, Told } from '../../../src/admin/models/model-cards.ts'
import { agentMessages } from './made-up-messages.ts'
import type { StoredEvent } from '../../../src/activity/journal/journal.ts'

/** When all of this is looked at. */
export const now = new Date('2026-11-20T14:30:00.000Z')

/** So many seconds before that. */
export function before(seconds: number): string {
  return new Date(now.getTime() - seconds * 1_000).toISOString()
}

/** Nothing yet; give it what a test is about. */
export function totalsWith(changes: Partial<Totals> = {}): Totals {
  return {
    process: 'here',
    since: before(60),
    requests: 0,
    beyond_window: 0,
    beyond_unknown: 0,
    compactions: 0,
    recoveries: 0,
    saved_tokens: 0,
    observed_tokens: 0,
    summary_tokens: 0,
    stateful_requests: 0,
    native_requests: 0,
    saved_money: 0,
    summary_money: 0,
    priced_requests: 0,
    unknown_requests: 0,
    priced_summaries: 0,
    unknown_summaries: 0,
    ...changes,
  }
}

export function cardWith(changes: Partial<ConversationCard> = {}): ConversationCard {
  return {
    id: 'kX2v9QmT4rLz81ab',
    parent: null,
    opening: null,
    label: null,
    client_key: null,
    client: 'claude-cli/2.1.332 (external, cli)',
    dialect: 'messages',
    profile: 'default',
    model: 'qwen3-32b',
    first_seen: before(7_200),
    last_seen: before(20),
    answering: false,
    requests: 12,
    compactions: 0,
    beyond_window: 0,
    pressure: 0.42,
    sent_pressure: 0.42,
    tokens_received: 11_904,
    tokens_sent: 11_904,
    tokens_are_bounds: false,
    observed_tokens_sent: null,
    window_tokens: 32_768,
    action: 'relayed',
    reason: null,
    status: 200,
    outcome: 'finished',
    ...changes,
  }
}

/** A belief that was told a quarter of an hour ago and holds for an hour. */
export function toldWith<Value>(value: Value, changes: Partial<Told<Value>> = {}): Told<Value> {
  return {
    value,
    from: 'answer',
    since: before(900),
    until: before(-2_700),
    changed_by: 'ends after an hour',
    ...changes,
  }
}

export function modelWith(changes: Partial<ModelCard> = {}): ModelCard {
  return {
    id: 'm1-q2w3e4r5t6z7u8i9o0p-a_s_d',
    upstream: 'default',
    credential: 'Xk29_aQz',
    model: 'qwen3-32b',
    window_in_force: {
      tokens: 32_768,
      kind: 'total',
      source: 'server',
      profile: 'default',
      overruled_tokens: null,
    },
    fields: {
      stated: toldWith({ tokens: 32_768, kind: 'total', is_loaded: true }, { from: 'server' }),
      ratio: toldWith({ ratio: 1.0834, own_tokens: 21_480 }, { until: null }),
      accepted: toldWith(true as const),
    },
    ...changes,
  }
}

export function someModels(): readonly ModelCard[] {
  return [
    modelWith({
      id: 'm2',
      model: 'llama-3.1-8b-instruct',
      window_in_force: {
        tokens: 8_192,
        kind: 'total',
        source: 'learnt',
        profile: 'small-local',
        overruled_tokens: 32_768,
      },
      fields: {
        window: toldWith({ tokens: 8_192, kind: 'total' }, { from: 'refusal' }),
        placement: toldWith('strict', { from: 'refusal' }),
        refuses: {
          usage: toldWith('named', { from: 'refusal' }),
          recall: toldWith('with-schema', { from: 'refusal' }),
        },
      },
    }),
    modelWith(),
    modelWith({
      id: 'm3',
      upstream: 'router',
      model: 'anthropic/claude-sonnet-4.5',
      window_in_force: {
        tokens: 128_000,
        kind: 'total',
        source: 'default',
        profile: 'default',
        overruled_tokens: null,
      },
      fields: { name: toldWith('claude-sonnet-4.5-20250929') },
    }),
  ]
}

export function rowWith(changes: Partial<UsageRow> = {}): UsageRow {
  return {
    time: before(60),
    process: 'a',
    conversation: 'kX2v9QmT4rLz81ab',
    parent: null,
    label: null,
    client_key: null,
    client: 'claude-cli/2.1.332 (external, cli)',
    dialect: 'messages',
    profile: 'default',
    model: 'qwen3-32b',
    answered_by: null,
    upstream: 'default',
    action: 'relayed',
    reason: null,
    status: 200,
    outcome: 'finished',
    streamed: true,
    attempts: 1,
    window_tokens: 32_768,
    window_source: 'server',
    overruled_tokens: null,
    budget_tokens: 28_672,
    messages_received: 10,
    messages_sent: 10,
    tokens_received: 1_000,
    tokens_sent: 1_000,
    tokens_are_bounds: false,
    pressure: 0.03,
    sent_pressure: 0.03,
    passes: [],
    summary: 'none',
    compaction: null,
    beyond_window: false,
    observed_tokens_sent: null,
    observed_passes: [],
    prompt_tokens: null,
    cached_tokens: null,
    cache_written_tokens: null,
    cache_miss: null,
    completion_tokens: null,
    prompt_cost: null,
    whole_prompt_cost: null,
    reasoning_removed: 0,
    reasoning_removed_by_foldgate: 0,
    recalls: 0,
    continuations: 0,
    added_ms: 3,
    first_byte_ms: 210,
    total_ms: 1_800,
    ...changes,
  }
}

export function eventWith(changes: Partial<StoredEvent> = {}): StoredEvent {
  return {
    id: 'e1',
    time: before(60),
    process: 'a',
    type: 'compaction',
    conversation: 'kX2v9QmT4rLz81ab',
    profile: 'default',
    model: 'qwen3-32b',
    reason: 'trigger',
    passes: ['render', 'clear', 'fold'],
    ranges: [],
    tokens_before: 24_310,
    tokens_after: 13_120,
    summary_key: null,
    milliseconds: 6,
    details: {},
    ...changes,
  }
}

/** A conversation that has outgrown its window, with everything that a page can show of one. */
export function detailWith(changes: Partial<ConversationDetail> = {}): ConversationDetail {
  const rows = agentRows(64)
  const last = rows.at(-1)
  return {
    ...cardWith({
      label: 'migrate the billing service',
      client_key: 'ci',
      requests: 71,
      compactions: rows.filter((row) => row.compaction !== null).length,
      beyond_window: rows.filter((row) => row.beyond_window === true).length,
      pressure: last?.pressure ?? null,
      sent_pressure: last?.sent_pressure ?? null,
      tokens_received: last?.tokens_received ?? null,
      tokens_sent: last?.tokens_sent ?? null,
      action: 'compacted',
      answering: true,
    }),
    rows,
    events: agentEvents(),
    messages: agentMessages(),
    entry_name: 'message',
    around: { tools: { tokens: 4_120, bytes: 18_000 }, system: { tokens: 0, bytes: 0 } },
    shows_content: true,
    ...changes,
  }
}

/** An agent's conversation in a window of 32k: it grows, and every now and then a compaction takes it back. */
export function agentRows(count: number): readonly UsageRow[] {
  const budget = 28_672
  let received = 2_400
  let sent = 2_400
  return Array.from({ length: count }, (_, at) => {
    // Neither even nor random: the same in every run.
    const growth = 500 + ((at * 7_919) % 13) * 120
    const sentBefore = sent
    received += growth
    sent += growth
    const isCompaction = sent > 0.75 * budget
    if (isCompaction) sent = Math.round(budget * 0.46) + growth
    return rowWith({
      time: before((count - at) * 55),
      tokens_received: received,
      tokens_sent: sent,
      action: received === sent ? 'relayed' : 'compacted',
      pressure: received / budget,
      sent_pressure: sent / budget,
      passes: received === sent ? [] : ['render', 'clear', 'fold'],
      compaction: isCompaction ? 'trigger' : null,
      beyond_window: received > 32_768,
      prompt_tokens: Math.round(sent * 1.04),
      cached_tokens: isCompaction ? 1_900 : sentBefore,
      completion_tokens: 210,
    })
  })
}

export function agentEvents(): readonly StoredEvent[] {
  return [
    eventWith({ id: 'e9', time: before(44), summary_key: 'k', milliseconds: 7 }),
    eventWith({
      id: 'e8',
      time: before(93),
      type: 'summary',
      reason: null,
      passes: [],
      tokens_before: 10_240,
      tokens_after: 884,
      milliseconds: 4_812,
      details: { model: 'gpt-5-mini', pieces: 1 },
    }),
    eventWith({
      id: 'e7',
      time: before(700),
      type: 'recovery',
      conversation: 'Zq81LmN0-pQrStUv',
      reason: 'overflow',
      passes: [],
      tokens_before: 35_220,
      tokens_after: 15_800,
      milliseconds: 1_204,
      details: { attempts: 2 },
    }),
    eventWith({
      id: 'e6',
      time: before(701),
      type: 'window',
      conversation: 'Zq81LmN0-pQrStUv',
      reason: 'learnt',
      passes: [],
      tokens_before: null,
      tokens_after: null,
      milliseconds: null,
      details: { window_tokens: 32_768, kind: 'total' },
    }),
    eventWith({
      id: 'e5',
      time: before(3_410),
      type: 'failure',
      conversation: null,
      reason: 'store',
      passes: [],
      tokens_before: null,
      tokens_after: null,
      milliseconds: null,
      details: { message: 'no answer within 2,000 ms; the request went on without it' },
    }),
  ]
}

export function someConversations(): readonly ConversationCard[] {
  const agent = detailWith()
  return [
    { ...agent, last_seen: before(4) },
    cardWith({
      id: 'Zq81LmN0-pQrStUv',
      label: 'nightly triage',
      model: 'gpt-5-mini',
      profile: 'twenty-turns-of-fifty-thousand',
      client_key: 'team-support',
      last_seen: before(310),
      requests: 148,
      compactions: 5,
      pressure: 0.93,
      sent_pressure: 0.51,
      tokens_received: 112_380,
      tokens_sent: 61_540,
      action: 'recovered',
    }),
    cardWith({
      id: 'bTn3_wWkY72hDfGs',
      model: 'anthropic/claude-sonnet-4.5',
      last_seen: before(1_260),
      requests: 31,
      compactions: 1,
      pressure: 0.74,
      sent_pressure: 0.74,
      tokens_received: 138_200,
      tokens_sent: 138_200,
    }),
    cardWith({
      id: '0pLmVc5xRtYuIoAs',
      label: 'docs: answer questions about the API',
      model: 'llama-3.1-8b-instruct',
      profile: 'small-local',
      last_seen: before(4_000),
      requests: 3,
      pressure: 0.18,
      sent_pressure: 0.18,
      tokens_received: 1_204,
      tokens_sent: 1_204,
      tokens_are_bounds: true,
      window_tokens: 8_192,
    }),
    cardWith({
      id: 'Hq_2nB8vCx1zLkJh',
      label: 'refactoring bot',
      last_seen: before(9_200),
      requests: 402,
      compactions: 23,
      beyond_window: 371,
      pressure: 7.31,
      sent_pressure: 0.68,
      tokens_received: 209_604,
      tokens_sent: 19_480,
      action: 'failed-open',
    }),
    cardWith({
      id: 'uNmEaSuReD_00001',
      profile: null,
      model: '',
      last_seen: before(90_000),
      requests: 1,
      pressure: null,
      sent_pressure: null,
      tokens_received: null,
      tokens_sent: null,
      window_tokens: null,
      action: 'bypassed',
    }),
  ]
}

export function someTotals(): Totals {
  return totalsWith({
    since: '2026-11-12T08:02:00.000Z',
    requests: 1_862,
    beyond_window: 431,
    compactions: 58,
    recoveries: 3,
    saved_tokens: 9_482_110,
    summary_tokens: 214_380,
    saved_money: 21.4,
    summary_money: 0.39,
    priced_requests: 419,
    unknown_requests: 12,
    priced_summaries: 21,
  })
}

/** Requests that are part of no conversation, one of each API. */
export function someUnread(): readonly UnreadCard[] {
  return [
    unreadWith({ reason: 'stateful', dialect: 'responses', client: 'OpenAI/Python 2.8.0', requests: 14 }),
    unreadWith({ reason: 'native', dialect: 'messages', client: 'claude-cli/2.1.332 (external, cli)' }),
    unreadWith({ action: 'bypassed', reason: null, client: 'curl/8.5.0' }),
    unreadWith({
      reason: 'path',
      dialect: null,
      path: '/api/chat',
      status: null,
      client: 'ollama-python/0.6.1',
    }),
  ]
}

function unreadWith(changes: Partial<UnreadCard> = {}): UnreadCard {
  return {
    client: null,
    dialect: 'chat-completions',
    path: null,
    action: 'relayed',
    reason: 'no-messages',
    status: 200,
    requests: 1,
    last_seen: before(400),
    ...changes,
  }
}
