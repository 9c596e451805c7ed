import type { ConversationCard } from '../../../src/telemetry/conversations/conversation-list.ts'
import type { ShownMessage } from '../../../src/telemetry/conversations/shown-messages.ts'
import type { ConversationDetail } from '../../../src/telemetry/conversations/read-conversations.ts'
import { type Totals, totalsSchema, type UnreadCard } from '../../../src/telemetry/conversations/totals.ts'
import type { UsageRow } from '../../../src/telemetry/journal/rows.ts'
import type { ModelCard, Told } from '../../../src/admin/model-cards.ts'
import { journalEvent, usageRow } from '../../telemetry/rows.ts'
import type { StoredEvent } from '../../../src/telemetry/journal/journal.ts'

/** When all of this is looked at. */
export const now = new Date('2026-11-20T14:30:00.000Z')

/** So many seconds before that. */
export const before = (seconds: number): string => new Date(now.getTime() - seconds * 1_000).toISOString()

/** Nothing yet; give it what a test is about. */
export const totalsWith = (changes: Partial<Totals> = {}): Totals =>
  totalsSchema.parse({ process: 'here', since: before(60), ...changes })

const agent = {
  conversation: 'kX2v9QmT4rLz81ab',
  client: 'claude-cli/2.1.332 (external, cli)',
  dialect: 'messages',
  profile: 'default',
  model: 'qwen3-32b',
  window_tokens: 32_768,
}

export const cardWith = (changes: Partial<ConversationCard> = {}): ConversationCard => ({
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
  ...sizes(0.42, 0.42, 11_904, 11_904),
  tokens_are_bounds: false,
  observed_tokens_sent: null,
  action: 'relayed',
  reason: null,
  status: 200,
  outcome: 'finished',
  ...changes,
})

/** A belief that was told a quarter of an hour ago and holds for an hour. */
export const toldWith = <Value>(value: Value, changes: Partial<Told<Value>> = {}): Told<Value> => ({
  value,
  from: 'answer',
  since: before(900),
  until: before(-2_700),
  changed_by: 'ends after an hour',
  ...changes,
})

/** The window that is used for a model, and the one of the settings that it overrules. */
export const windowOf = (
  tokens: number,
  source: NonNullable<ModelCard['window_in_force']>['source'],
  { profile = 'default', overruled_tokens = null as number | null } = {},
): ModelCard['window_in_force'] => ({ tokens, kind: 'total', source, profile, overruled_tokens })

/** The sizes of a request: what came and what was sent, in parts of the budget and in tokens. */
const sizes = (pressure: number, sentPressure: number, received: number, sent: number) => ({
  pressure,
  sent_pressure: sentPressure,
  tokens_received: received,
  tokens_sent: sent,
})

const unsized = { pressure: null, sent_pressure: null, tokens_received: null, tokens_sent: null }

export const modelWith = (changes: Partial<ModelCard> = {}): ModelCard => ({
  id: 'm1-q2w3e4r5t6z7u8i9o0p-a_s_d',
  upstream: 'default',
  credential: 'Xk29_aQz',
  model: 'qwen3-32b',
  window_in_force: windowOf(32_768, 'server'),
  fields: {
    stated: toldWith({ tokens: 32_768, kind: 'total', is_loaded: true }, { from: 'server' }),
    ratio: toldWith({ ratio: 1.0834, own_tokens: 21_480 }, { until: null }),
    accepted: toldWith(true as const),
  },
  ...changes,
})

export const someModels = (): readonly ModelCard[] => [
  modelWith({
    id: 'm2',
    model: 'llama-3.1-8b-instruct',
    window_in_force: windowOf(8_192, 'learnt', { profile: 'small-local', overruled_tokens: 32_768 }),
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
    window_in_force: windowOf(128_000, 'default'),
    fields: { name: toldWith('claude-sonnet-4.5-20250929') },
  }),
]

export const rowWith = (changes: Partial<UsageRow> = {}): UsageRow => ({
  ...usageRow({ ...agent, time: before(60), window_source: 'server', streamed: true }),
  budget_tokens: 28_672,
  messages_received: 10,
  messages_sent: 10,
  ...sizes(0.03, 0.03, 1_000, 1_000),
  beyond_window: false,
  added_ms: 3,
  first_byte_ms: 210,
  total_ms: 1_800,
  ...changes,
})

export const eventWith = (changes: Partial<StoredEvent> = {}): StoredEvent => ({
  ...journalEvent({ time: before(60), conversation: 'kX2v9QmT4rLz81ab', profile: 'default' }),
  id: 'e1',
  model: 'qwen3-32b',
  reason: 'trigger',
  passes: ['render', 'clear', 'fold'],
  tokens_before: 24_310,
  tokens_after: 13_120,
  milliseconds: 6,
  ...changes,
})

/** A conversation that has outgrown its window, with everything that a page can show of one. */
export function detailWith(changes: Partial<ConversationDetail> = {}): ConversationDetail {
  const rows = agentRows(64)
  const { pressure, sent_pressure, tokens_received, tokens_sent } = rows.at(-1) ?? unsized
  return {
    ...cardWith({
      pressure,
      sent_pressure,
      tokens_received,
      tokens_sent,
      label: 'migrate the billing service',
      client_key: 'ci',
      requests: 71,
      compactions: rows.filter((row) => row.compaction !== null).length,
      beyond_window: rows.filter((row) => row.beyond_window === true).length,
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
      ...sizes(received / budget, sent / budget, received, sent),
      action: received === sent ? 'relayed' : 'compacted',
      passes: received === sent ? [] : ['render', 'clear', 'fold'],
      compaction: isCompaction ? 'trigger' : null,
      beyond_window: received > 32_768,
      prompt_tokens: Math.round(sent * 1.04),
      cached_tokens: isCompaction ? 1_900 : sentBefore,
      completion_tokens: 210,
    })
  })
}

type Nothing = readonly [null, null, null]

/** An event that is no compaction: what came of so many tokens in so many milliseconds. */
const otherEvent = (
  id: string,
  seconds: number,
  changes: Partial<StoredEvent>,
  [tokens_before, tokens_after, milliseconds]: readonly [number, number, number] | Nothing = [
    null,
    null,
    null,
  ],
): StoredEvent =>
  eventWith({ id, time: before(seconds), passes: [], ...changes, tokens_before, tokens_after, milliseconds })

export function agentEvents(): readonly StoredEvent[] {
  const other = { conversation: 'Zq81LmN0-pQrStUv' }
  const message = 'no answer within 2,000 ms; the request went on without it'
  const summary = { model: 'gpt-5-mini', pieces: 1 }
  const window = { window_tokens: 32_768, kind: 'total' }
  const [recovery, learnt] = [
    { ...other, type: 'recovery', reason: 'overflow', details: { attempts: 2 } },
    { ...other, type: 'window', reason: 'learnt', details: window },
  ] as const
  return [
    eventWith({ id: 'e9', time: before(44), summary_key: 'k', milliseconds: 7 }),
    otherEvent('e8', 93, { type: 'summary', reason: null, details: summary }, [10_240, 884, 4_812]),
    otherEvent('e7', 700, recovery, [35_220, 15_800, 1_204]),
    otherEvent('e6', 701, learnt),
    otherEvent('e5', 3_410, { type: 'failure', conversation: null, reason: 'store', details: { message } }),
  ]
}

export const someConversations = (): readonly ConversationCard[] => [
  { ...detailWith(), last_seen: before(4) },
  cardWith({
    id: 'Zq81LmN0-pQrStUv',
    label: 'nightly triage',
    profile: 'twenty-turns-of-fifty-thousand',
    client_key: 'team-support',
    last_seen: before(310),
    ...sizes(0.93, 0.51, 112_380, 61_540),
    action: 'recovered',
  }),
  cardWith({
    id: '0pLmVc5xRtYuIoAs',
    model: 'llama-3.1-8b-instruct',
    last_seen: before(4_000),
    ...sizes(0.18, 0.18, 1_204, 1_204),
    tokens_are_bounds: true,
  }),
  cardWith({
    id: 'Hq_2nB8vCx1zLkJh',
    label: 'refactoring bot',
    last_seen: before(9_200),
    beyond_window: 371,
    ...sizes(7.31, 0.68, 209_604, 19_480),
    action: 'failed-open',
  }),
  cardWith({ id: 'uNmEaSuReD_00001', model: '', last_seen: before(90_000), ...unsized, action: 'bypassed' }),
]

export const someTotals = (): Totals =>
  totalsWith({
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

/** Requests that are part of no conversation, one of each API. */
export const someUnread = (): readonly UnreadCard[] => [
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

const unreadWith = (changes: Partial<UnreadCard> = {}): UnreadCard => ({
  client: null,
  dialect: 'chat-completions',
  path: null,
  action: 'relayed',
  reason: 'no-messages',
  status: 200,
  requests: 1,
  last_seen: before(400),
  ...changes,
})

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
export const agentMessages = (): readonly ShownMessage[] => [
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

/** The content of a made-up message's JSON; null for what is none. */
function textIn(text: string | null): string | null {
  if (text?.startsWith('{"role"') !== true) return null
  const message: { readonly content?: unknown } = JSON.parse(text)
  return typeof message.content === 'string' ? message.content : null
}

const json = (role: string, content: string): string => JSON.stringify({ role, content })

function kept(index: number, role: string, tokens: number, rest: Partial<ShownMessage>, text: string) {
  const received = json(role, text)
  const same = { receivedTokens: tokens, sentTokens: tokens }
  return messageWith({ index, role, ...same, received, sent: received, ...rest })
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
  const other = shortened[index]
  const tokens = 1_100 + (index % 5) * 240
  if (other === undefined)
    return kept(index, 'tool', tokens, { tool: 'run_tests', pinned }, '214 tests passed.')
  const [treatment, receivedTokens, sentTokens, came, went] = other
  const texts = { received: json('tool', came), sent: json('tool', went) }
  const how = { index, role: 'tool', tool: 'run_tests', pinned, treatment } as const
  return messageWith({ ...how, receivedTokens, sentTokens, ...texts })
}

type Shortened = readonly [ShownMessage['treatment'], number, number, string, string]

/** What was shortened: how, from and to how many tokens, and its text before and after. */
const shortened: Readonly<Record<number, Shortened>> = {
  49: ['rendered', 2_590, 812, '\u001b[32m✓\u001b[0m a\r\n\u001b[31m✗\u001b[0m 1 failed', '✓ a\n✗ 1 failed'],
  51: [
    'cleared',
    1_930,
    31,
    'ok 1 - keeps the body\n'.repeat(24),
    '[result of run_tests, 7,104 characters, cleared]',
  ],
  53: ['previewed', 5_840, 402, 'export function f(): Date {\n'.repeat(30), '[… 5,438 tokens left out …]\n}'],
}

const systemText = 'You are a careful engineer.\nWork in small steps and run the tests after each.'

const taskText = 'Move the billing service from Express to Hono. Nothing that a client sees may change.'

const summaryText = `<conversation-summary>
## Goal
Move the billing service from Express to Hono without changing an answer.
</conversation-summary>`

/** The text of markup, as a reader gets it: without tags, with blanks joined. */
export const visibleText = (markup: { toString: () => string }): string =>
  markup
    .toString()
    .replaceAll(/<title>[^<]*<\/title>/g, '')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&amp;', '&')
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ([.,;:])/g, '$1')
    .trim()
