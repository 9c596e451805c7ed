import type { ShownMessage } from '../../../src/activity/conversations/held-content.ts'

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

// --- internal ---

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
