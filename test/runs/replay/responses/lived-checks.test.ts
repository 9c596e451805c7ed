import { expect, test } from 'vitest'
import type { LivedItem } from '../../../support/responses/living.ts'
import type { Job } from '../job.ts'
import { entryOrigins } from '../lived/entry-origins.ts'
import { openHistory } from '../lived/history.ts'
import { checkLived, type LivedSeen } from '../lived/lived-checks.ts'
import type { LivedReceived } from '../lived/lived-subject.ts'
import { watchThoughts } from '../lived/thought-losses.ts'
import { livedBody } from './lived-subject.ts'
import { itemReader } from './read-item.ts'

// The replay runs outside of the normal tests; these see to it that its checks find what they are for.

const items: readonly LivedItem[] = [
  { text: '{"type":"message","role":"developer","content":"Be brief."}', reply: null },
  { text: '{"type":"message","role":"user","content":"Where does it begin?"}', reply: null },
  { text: '{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gA"}', reply: 2 },
  { text: '{"type":"function_call","id":"fc_1","call_id":"a","name":"find","arguments":"{}"}', reply: 2 },
  { text: '{"type":"function_call","id":"fc_2","call_id":"b","name":"find","arguments":"{}"}', reply: 2 },
  { text: '{"type":"function_call_output","call_id":"a","output":"In the middle."}', reply: null },
  { text: '{"type":"function_call_output","call_id":"b","output":"At the end."}', reply: null },
  { text: '{"type":"reasoning","id":"rs_3","summary":[],"encrypted_content":"gA"}', reply: 5 },
  { text: '{"type":"function_call","id":"fc_4","call_id":"c","name":"find","arguments":"{}"}', reply: 5 },
  { text: '{"type":"function_call_output","call_id":"c","output":"Or before it."}', reply: null },
]
const texts = items.map(({ text }) => text)
const readEntry = itemReader((item) => JSON.stringify(item).length)

test('nothing is wrong with a conversation that was folded as promised', () => {
  expect(checksOf([0, 1, 'recap', 8, 9])).toEqual([])
  expect(checksOf([0, 1, 'unnamed 3', 'unnamed 4', 'clipped 5', 6, 'unnamed 8', 9])).toEqual([])
})

// An agent said "Now I run the script again." before each of its runs, and the newest reply was taken for the oldest.
test('nothing is wrong with a reply whose words were those of a folded one', () => {
  const repeated = [2, 3, 4].flatMap((reply): LivedItem[] => [
    { text: `{"type":"message","id":"msg_${reply}","role":"assistant","content":"Again."}`, reply },
    { text: `{"type":"function_call","id":"fc_${reply}","call_id":"c${reply}","name":"run"}`, reply },
    { text: `{"type":"function_call_output","call_id":"c${reply}","output":"Failed."}`, reply: null },
  ])
  const history = openHistory(readEntry)
  history.take(repeated)
  const unnamed = repeated.map(({ text }) => text.replace(/"id":"[^"]*",/, ''))
  const indexes = (sent: readonly string[]) =>
    entryOrigins(history, sent, readEntry).map((origin) => ('index' in origin ? origin.index : origin.kind))
  expect(indexes(unnamed.slice(3, 6))).toEqual([3, 4, 5])
  expect(indexes([textOf('recap'), ...unnamed.slice(6)])).toEqual(['recap', 6, 7, 8])
  const clipped = unnamed.slice(6).map((text) => text.replace('Again', 'A\u2026'))
  expect(indexes(clipped)).toEqual([6, 7, 8])
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

test('found is a prompt over the window, a refused sequence, an error, a failure that was covered up', () => {
  const sent = [0, 1, 'recap', 7, 8, 9]
  expect(checksOf(sent, { promptTokens: 7000 })).toEqual(['P7 fits'])
  const rejected = { reason: 'call-unanswered', message: 'No.' }
  expect(checksOf(sent, { rejected })).toEqual(['rejected for its sequence'])
  expect(checksOf(sent, { isReply: false })).toEqual(['an error reached the client'])
  expect(checksOf(sent, { action: 'failed-open;reason=measure' })).toContain('P2 failed open')
  expect(checksOf(sent, { action: 'relayed' })).toEqual(['P1 same bytes'])
})

test('found is a change in what was sent before, and the same prompt for another newest item', () => {
  const sent = [0, 1, 'recap', 7, 8, 9]
  const before = { newest: 'before', passes: 'fold', kept: new Set<number>() }
  const unstable = { ...before, rawEntries: ['other'], made: textOf('recap') }
  expect(checksOf(sent, { previous: unstable })).toEqual(['P5 stable'])
  expect(checksOf(sent, { previous: { ...before, rawEntries: sent.map(textOf), made: '' } })).toEqual([
    'P4 same prompt',
  ])
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

// --- internal ---

/** A request that shows the model the reasoning of these ids. */
function shows(...ids: string[]) {
  return { thoughts: ids, deadThoughts: 0 }
}

function textOf(sent: number | string): string {
  if (typeof sent === 'number') return texts[sent] ?? ''
  if (sent === 'invented') return '{"type":"message","role":"user","content":"Go on."}'
  if (sent === 'recap')
    return '{"type":"message","role":"user","content":[{"type":"input_text","text":"<conversation-recap>It was sought.</conversation-recap>"}]}'
  const [how, index] = sent.split(' ')
  const text = texts[Number(index)] ?? ''
  if (how === 'unnamed') return text.replace(/"id":"[^"]*",/, '')
  return how === 'clipped' ? text.replace('In the middle.', 'In …') : text.replaceAll(':', ': ')
}

type Forged = {
  readonly promptTokens?: number
  readonly action?: string
  readonly isReply?: boolean
  readonly rejected?: LivedReceived['rejected']
  readonly previous?: LivedSeen
}

/** The checks that fail for a request of the whole conversation of which this is received. */
function checksOf(sent: readonly (number | string)[], forged: Forged = {}): readonly string[] {
  const history = openHistory(readEntry)
  history.take(items)
  const body = livedBody({
    instructions: null,
    tools: [],
    items: texts,
    isStreamed: false,
    outputTokens: 1024,
  })
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
  const { previous = null } = forged
  const subject = { aroundTokens: 3, readEntry }
  const { problems } = checkLived({ job, subject, history, body, exchange, previous })
  return [...new Set(problems.map(({ check }) => check))]
}

const job: Job = {
  kind: 'replay',
  dialect: 'responses',
  windowTokens: 8000,
  profileTemplate: 'lenient',
  upstreamTemplate: 'lenient',
  isWindowKnown: true,
  statesUsage: true,
  expected: {},
}
