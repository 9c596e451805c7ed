import { expect, test } from 'vitest'
import { openBlockCounter } from '../../support/messages/block-tokens.ts'
import type { LivedEntry, LivedReceived } from '../harness/lived.ts'
import { blockReader, entriesOf, livedEntries, MARK } from '../harness/messages.ts'
import { itemReader, itemsBody, withoutId } from '../harness/responses.ts'
import { checkLived, entryOrigins, openHistory, watchThoughts } from './lived-checks.ts'
import { job } from './jobs.ts'
import type { Seen } from './checks.ts'

// The replay runs outside of the normal tests; these see to it that its checks find what they are for.

const message = (role: string, content: unknown) => JSON.stringify({ type: 'message', role, content })
const thought = (id: string) => `{"type":"reasoning","id":"${id}","summary":[],"encrypted_content":"gA"}`
const call = (id: string, callId: string) =>
  `{"type":"function_call","id":"${id}","call_id":"${callId}","name":"find","arguments":"{}"}`
const output = (callId: string, text: string) =>
  JSON.stringify({ type: 'function_call_output', call_id: callId, output: text })

const shows = (...thoughts: string[]) => ({ thoughts, deadThoughts: 0 })
const use = (id: string) => `{"type": "tool_use","id":"${id}","name":"find","input":{}}`
const result = (id: string) => `{"type": "tool_result","tool_use_id":"${id}","content":"In the middle."}`
const said = (role: string, ...blocks: string[]) => `{"role":"${role}","content":[${blocks.join(',')}]}`

const items: readonly LivedEntry[] = [
  { text: message('developer', 'Be brief.'), reply: null },
  { text: message('user', 'Where does it begin?'), reply: null },
  { text: thought('rs_1'), reply: 2 },
  { text: call('fc_1', 'a'), reply: 2 },
  { text: call('fc_2', 'b'), reply: 2 },
  { text: output('a', 'In the middle.'), reply: null },
  { text: output('b', 'At the end.'), reply: null },
  { text: thought('rs_3'), reply: 5 },
  { text: call('fc_4', 'c'), reply: 5 },
  { text: output('c', 'Or before it.'), reply: null },
]
const texts = items.map(({ text }) => text)
const readEntry = itemReader((item) => JSON.stringify(item).length)

test('nothing is wrong with a conversation that was folded as promised', () => {
  expect(checksOf([0, 1, 'recap', 8, 9])).toEqual([])
  expect(checksOf([0, 1, 'unnamed 3', 'unnamed 4', 'clipped 5', 6, 'unnamed 8', 9])).toEqual([])
})

// An agent said "Now I run the script again." before each of its runs, and the newest reply was taken for the oldest.
test('nothing is wrong with a reply whose words were those of a folded one', () => {
  const repeated = [2, 3, 4].flatMap((reply): LivedEntry[] => [
    { text: `{"type":"message","id":"msg_${reply}","role":"assistant","content":"Again."}`, reply },
    { text: call(`fc_${reply}`, `c${reply}`), reply },
    { text: output(`c${reply}`, 'Failed.'), reply: null },
  ])
  const history = openHistory(readEntry)
  history.take(repeated)
  const unnamed = repeated.map(({ text }) => withoutId(text))
  const indexes = (sent: readonly string[]) =>
    entryOrigins(history, sent, readEntry).map((origin) => ('index' in origin ? origin.index : origin.kind))
  expect(indexes(unnamed.slice(3, 6))).toEqual([3, 4, 5])
  expect(indexes([textOf('recap'), ...unnamed.slice(6)])).toEqual(['recap', 6, 7, 8])
  expect(indexes(unnamed.slice(6).map((text) => text.replace('Again', 'A\u2026')))).toEqual([6, 7, 8])
})

test.each<[string, readonly (number | string)[], string]>([
  ['an item that was written anew', [0, 1, 'recap', 7, 'respelt 8', 9], 'P1 same bytes'],
  ['items in another order', [0, 1, 'recap', 9, 7, 8], 'P1 same bytes'],
  ['an item that is nobody’s', [0, 1, 'invented', 7, 8, 9], 'P1 same bytes'],
  ['an id that is gone where its reasoning is not', [0, 1, 7, 'unnamed 8', 9], 'P1 same bytes'],
  ['one of two calls of a reply', [0, 1, 'recap', 2, 3, 5, 7, 8, 9], 'P3 group'],
  ['reasoning without what followed from it', [0, 1, 'recap', 2, 7, 8, 9], 'P3 group'],
  ['a developer message that is gone', [1, 'recap', 7, 8, 9], 'P4 pinned'],
  ['a call of the newest round that is gone', [0, 1, 'recap', 9], 'P4 pinned'],
  ['a task that is gone', [0, 'recap', 7, 8, 9], 'P4 task gone'],
  ['a newest result that is gone', [0, 1, 'recap', 7, 8], 'P4 newest absent'],
])('found is %s', (_, sent, check) => {
  expect(checksOf(sent)).toContain(check)
})

const whole = [0, 1, 'recap', 7, 8, 9]
const before = { newest: 'before', passes: 'fold', kept: new Set<number>() }
test.each<[string, Forged, string]>([
  ['a prompt over the window', { promptTokens: 17_000 }, 'P7 fits'],
  ['a refused sequence', { rejected: { reason: 'x', message: 'No.' } }, 'rejected for its sequence'],
  ['an error', { isReply: false }, 'an error reached the client'],
  ['a failure that was covered up', { action: 'failed-open;reason=measure' }, 'P2 failed open'],
  ['other bytes of what was not rewritten', { action: 'relayed' }, 'P1 same bytes'],
  ['a change', { previous: { ...before, sent: ['other'], made: textOf('recap') } }, 'P5 stable'],
  ['the same prompt', { previous: { ...before, sent: whole.map(textOf), made: '' } }, 'P4 same prompt'],
])('found is %s', (_, forged, check) => {
  expect(checksOf(whole, forged)[0]).toBe(check)
})

test('reasoning is followed from request to request', () => {
  const watch = watchThoughts()
  const none = { lost: 0, lostAtOnce: 0, lostTwice: 0, sentDead: 0 }
  expect(watch.asked(shows(), false)).toEqual(none)
  watch.replied(['rs_1'])
  expect(watch.asked(shows('rs_1'), false)).toEqual(none)
  watch.replied(['rs_2'])
  // A compaction costs what is older, and should cost nothing more.
  expect(watch.asked(shows(), true)).toEqual({ ...none, lost: 2 })
  watch.replied(['rs_3'])
  expect(watch.asked(shows(), true)).toEqual({ ...none, lost: 1, lostAtOnce: 1 })
  watch.replied([])
  expect(watch.asked({ ...shows('rs_2'), deadThoughts: 1 }, false)).toEqual({ ...none, sentDead: 1 })
  watch.replied([])
  expect(watch.asked(shows(), false)).toEqual({ ...none, lost: 1, lostTwice: 1 })
})

test('blocks are known again where they stand in their messages, whatever marks are on them, and when they were cut', () => {
  const read = blockReader(openBlockCounter((text) => text.length))
  const signed = '{"type": "thinking","thinking":"Hm.","signature":"Eq1"}'
  const task = '{"type": "text","text":"Where does it begin?"}'
  const history = openHistory(read)
  history.take(
    livedEntries([
      { role: 'user', blocks: [task, task], reply: null },
      { role: 'assistant', blocks: [signed, use('a'), use('b')], reply: 1 },
      { role: 'user', blocks: [result('a'), result('b'), task], reply: null },
    ]),
  )
  const kinds = history.entries.map((entry) => entry.read.kind)
  expect(kinds).toEqual(['user', 'thought', 'other', 'other', 'other', 'other', 'user'])
  const originsOf = (...messages: string[]) =>
    entryOrigins(history, messages.flatMap(entriesOf), read).map((origin) =>
      'index' in origin ? [origin.kind, origin.index] : origin.kind,
    )
  const marked = `${result('b').slice(0, -1)},${MARK}}`
  const [opening, calls] = [said('user', task, task), said('assistant', use('a'), use('b'))]
  expect(originsOf(opening, calls, said('user', result('a'), marked, task))).toEqual(
    [0, 2, 3, 4, 5, 6].map((index) => ['kept', index]),
  )
  const cut = result('b').replace('In the middle.', 'In …')
  const recap = '{"type":"text","text":"<conversation-recap>It was sought.</conversation-recap>"}'
  const folded = originsOf(opening, said('user', recap), said('user', cut))
  expect(folded).toEqual([['kept', 0], 'recap', ['derived', 5]])
  const invented = originsOf(said('user', '{"type":"text","text":"Go on."}'), said('assistant', task))
  expect(invented).toEqual([['derived', 0], 'stray'])
  // The same block, but the client wrote its message in another way.
  expect(originsOf(`{"role": "assistant","content":[${use('a')}]}`)).toEqual([['derived', 2]])
})

function textOf(sent: number | string): string {
  if (typeof sent === 'number') return texts[sent] ?? ''
  if (sent === 'invented') return message('user', 'Go on.')
  const recap = '<conversation-recap>It was sought.</conversation-recap>'
  if (sent === 'recap') return message('user', [{ type: 'input_text', text: recap }])
  const [how, index] = sent.split(' ')
  const text = texts[Number(index)] ?? ''
  if (how === 'unnamed') return withoutId(text)
  return how === 'clipped' ? text.replace('In the middle.', 'In …') : text.replaceAll(':', ': ')
}

type Forged = Partial<Pick<LivedReceived, 'promptTokens' | 'rejected'>> & {
  readonly action?: string
  readonly isReply?: boolean
  readonly previous?: Seen
}

function checksOf(sent: readonly (number | string)[], forged: Forged = {}): readonly string[] {
  const history = openHistory(readEntry)
  history.take(items)
  const asked = { instructions: null, tools: [], isStreamed: false, outputTokens: 1024 }
  const body = itemsBody({ ...asked, items: texts })
  const rawItems = sent.map(textOf)
  const received: LivedReceived = {
    body: Buffer.from(`${String(body.before)}${rawItems.join(',')}${String(body.after)}`),
    rawParts: rawItems,
    rawEntries: rawItems,
    thoughts: [],
    deadThoughts: 0,
    promptTokens: forged.promptTokens ?? 100,
    cachedTokens: 0,
    rejected: forged.rejected ?? null,
  }
  const exchange = {
    status: 200,
    action: forged.action ?? 'compacted',
    passes: ['fold'],
    summary: 'recap',
    times: { beganMs: 0, acceptedMs: null, endedMs: 2 },
    received: [received],
    isReply: forged.isReply ?? true,
    answer: '',
  }
  const chat = { aroundTokens: 3, readEntry }
  const given = { job: job({ dialect: 'responses', statesUsage: true }), chat, history, body, exchange }
  const { problems } = checkLived({ ...given, previous: forged.previous ?? null })
  return [...new Set(problems.map(({ check }) => check))]
}
