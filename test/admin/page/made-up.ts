import type { ConversationCard } from '../../../src/activity/conversations/conversation-list.ts'
import type { ShownMessage } from '../../../src/activity/conversations/held-content.ts'
import type { ConversationDetail } from '../../../src/activity/conversations/conversations.ts'
import type { UnreadCard } from '../../../src/activity/conversations/unread-tally.ts'
import { totalsSchema, type Totals } from '../../../src/activity/conversations/totals.ts'
import type { UsageRow } from '../../../src/activity/journal/rows.ts'
import type { ModelCard, Told } from '../../../src/admin/models/model-cards.ts'
import { journalEvent, usageRow } from '../../activity/rows.ts'
import type { StoredEvent } from '../../../src/activity/journal/journal.ts'

/** When all of this is looked at. */
export const now = new Date('2026-11-20T14:30:00.000Z')

/** So many seconds before that. */
export function before(seconds: number): string {
  return new Date(now.getTime() - seconds * 1_000).toISOString()
}

/** Nothing yet; give it what a test is about. */
export function totalsWith(changes: Partial<Totals> = {}): Totals {
  return totalsSchema.parse({ process: 'here', since: before(60), ...changes })
}

/** Whose conversation it is, unless told otherwise. */
const agent = {
  conversation: 'kX2v9QmT4rLz81ab',
  client: 'claude-cli/2.1.332 (external, cli)',
  dialect: 'messages',
  profile: 'default',
  model: 'qwen3-32b',
  window_tokens: 32_768,
}

export function cardWith(changes: Partial<ConversationCard> = {}): ConversationCard {
  return {
    id: agent.conversation,
    parent: null,
    opening: null,
    label: null,
    client_key: null,
    ...agent,
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
    ...usageRow({ ...agent, time: before(60), window_source: 'server', streamed: true }),
    budget_tokens: 28_672,
    messages_received: 10,
    messages_sent: 10,
    tokens_received: 1_000,
    tokens_sent: 1_000,
    pressure: 0.03,
    sent_pressure: 0.03,
    beyond_window: false,
    added_ms: 3,
    first_byte_ms: 210,
    total_ms: 1_800,
    ...changes,
  }
}

export function eventWith(changes: Partial<StoredEvent> = {}): StoredEvent {
  return {
    ...journalEvent({ time: before(60), conversation: 'kX2v9QmT4rLz81ab', profile: 'default' }),
    id: 'e1',
    model: 'qwen3-32b',
    reason: 'trigger',
    passes: ['render', 'clear', 'fold'],
    tokens_before: 24_310,
    tokens_after: 13_120,
    milliseconds: 6,
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

const unmeasured = { passes: [], tokens_before: null, tokens_after: null, milliseconds: null }

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
      ...unmeasured,
      details: { window_tokens: 32_768, kind: 'total' },
    }),
    eventWith({
      id: 'e5',
      time: before(3_410),
      type: 'failure',
      conversation: null,
      reason: 'store',
      ...unmeasured,
      details: { message: 'no answer within 2,000 ms; the request went on without it' },
    }),
  ]
}

export function someConversations(): readonly ConversationCard[] {
  return [
    { ...detailWith(), last_seen: before(4) },
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

export function messageWith(changes: Partial<ShownMessage> = {}): ShownMessage {
  const { received = null, sent = null } = changes
  return {
    receivedText: textIn(received),
    sentText: textIn(sent),
    calls: [],
    bytes: received?.length ?? 0,
    index: 0,
    role: 'user',
    kind: null,
    tool: null,
    treatment: 'kept',
    pinned: null,
    receivedTokens: 100,
    sentTokens: 100,
    standsFor: null,
    received: null,
    sent: null,
    ...changes,
  }
}

/** What came of the messages of an agent's latest request: folded, shortened and kept ones. */
export function agentMessages(): readonly ShownMessage[] {
  return [
    kept(0, 'system', 640, { pinned: 'system' }, systemText),
    kept(1, 'user', 88, { pinned: 'task' }, taskText),
    messageWith({
      index: null,
      treatment: 'summary',
      receivedTokens: 0,
      sentTokens: 884,
      standsFor: { start: 2, end: 48 },
      sent: json('user', summaryText),
    }),
    ...Array.from({ length: 46 }, (_, at) => folded(at + 2)),
    ...Array.from({ length: 12 }, (_, at) => round(at + 48)),
    kept(60, 'user', 61, { pinned: 'latest-user' }, 'And the trial period? Please fix that as well.'),
  ]
}

/** The content of a made-up message's JSON; null for what is none. */
function textIn(text: string | null): string | null {
  if (text?.startsWith('{"role"') !== true) return null
  const message: { readonly content?: unknown } = JSON.parse(text)
  return typeof message.content === 'string' ? message.content : null
}

function json(role: string, content: string): string {
  return JSON.stringify({ role, content })
}

function kept(
  index: number,
  role: string,
  tokens: number,
  rest: Partial<ShownMessage>,
  text: string,
): ShownMessage {
  const received = json(role, text)
  return messageWith({
    index,
    role,
    receivedTokens: tokens,
    sentTokens: tokens,
    received,
    sent: received,
    ...rest,
  })
}

/** Calls and results by turns, of quite different sizes. */
function folded(index: number): ShownMessage {
  const isCall = index % 2 === 0
  return messageWith({
    index,
    role: isCall ? 'assistant' : 'tool',
    tool: index % 3 === 0 ? 'run_tests' : 'read_file',
    treatment: 'folded',
    receivedTokens: isCall ? 40 + index : 700 + ((index * 97) % 31) * 110,
    sentTokens: 0,
    received: json(isCall ? 'assistant' : 'tool', `What was said in message ${index}.`),
  })
}

/** The newest rounds, of which three results were shortened. */
function round(index: number): ShownMessage {
  const pinned = index >= 50 ? 'recent' : null
  if (index % 2 === 0) {
    const calls = [
      { name: 'run_tests', argumentsText: JSON.stringify({ command: `npm test -- part ${index}` }) },
    ]
    return kept(index, 'assistant', 44, { tool: 'run_tests', pinned, calls }, 'I run the tests.')
  }
  const plain = kept(
    index,
    'tool',
    1_100 + (index % 5) * 240,
    { tool: 'run_tests', pinned },
    '214 tests passed.',
  )
  const other = shortened[index]
  return other === undefined
    ? plain
    : {
        ...plain,
        ...other,
        receivedText: textIn(other.received ?? null),
        sentText: textIn(other.sent ?? null),
      }
}

const shortened: Readonly<Record<number, Partial<ShownMessage>>> = {
  49: {
    treatment: 'rendered',
    receivedTokens: 2_590,
    sentTokens: 812,
    received: json(
      'tool',
      `${'\u001b[32m✓\u001b[0m test/refunds.test.ts (38)\r\n'.repeat(3)}\u001b[31m✗\u001b[0m 1 failed`,
    ),
    sent: json('tool', '✓ test/refunds.test.ts (38)  [3 times]\n✗ 1 failed'),
  },
  51: {
    treatment: 'cleared',
    receivedTokens: 1_930,
    sentTokens: 31,
    received: json('tool', 'ok 1 - keeps the raw body\nok 2 - answers 400\n'.repeat(12)),
    sent: json('tool', '[result of run_tests, 7,104 characters, cleared]'),
  },
  53: {
    treatment: 'previewed',
    receivedTokens: 5_840,
    sentTokens: 402,
    received: json('tool', 'export function trialEndsAt(started: Date): Date {\n'.repeat(30)),
    sent: json('tool', 'export function trialEndsAt(started: Date): Date {\n[… 5,438 tokens left out …]\n}'),
  },
}

const systemText = 'You are a careful engineer.\nWork in small steps and run the tests after each.'

const taskText = 'Move the billing service from Express to Hono. Nothing that a client sees may change.'

const summaryText = `<conversation-summary>
## Goal
Move the billing service from Express to Hono without changing an answer.

## Done
- Routes of src/invoices.ts and src/refunds.ts moved; 214 tests pass.
- The webhook keeps its raw body: the signature is computed over bytes.

## Open
- src/subscriptions.ts: the trial ends a day early around midnight (see test 'ends with the last day').
- Ask before deleting legacy/router.js.
</conversation-summary>`

/** The text of markup, as a reader gets it: without tags, with blanks joined. */
export function visibleText(markup: { toString: () => string }): string {
  return markup
    .toString()
    .replaceAll(/<title>[^<]*<\/title>/g, '')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&amp;', '&')
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ([.,;:])/g, '$1')
    .trim()
}
