import { describe, expect, test } from 'vitest'
import { openPromptCounter } from '../../support/strict-upstream/prompt-tokens.ts'
import { checkExchange } from './checks.ts'
import type { Job } from './job.ts'
import { openPins } from './pins.ts'
import { rawMessage, type Recording } from './recordings.ts'
import { repaired } from './repair.ts'
import type { Exchange, ReceivedRequest } from './stage.ts'
import { createSubject } from './subject.ts'

// The replay runs outside of the normal tests; these see to it that its checks find what they are for.
describe('the checks of the replay', () => {
  const folded = [0, 1, 'recap', 4, 5]

  test('find nothing wrong with a conversation that was folded as promised', () => {
    expect(checksOf(folded.map(sent))).toEqual([])
  })

  test.each([
    ['a message that was written anew', [0, 1, 'recap', 'respelt 4', 5], 'P1 same bytes'],
    ['messages in another order', [0, 1, 'recap', 3, 2, 4, 5], 'P1 same bytes'],
    ['a message that is nobody’s', [0, 1, 'invented', 4, 5], 'P1 same bytes'],
    ['a result without its call', [0, 1, 'recap', 3, 4, 5], 'P3 valid'],
    ['a call without its result', [0, 1, 'recap', 4], 'P3 valid'],
    ['a task that is gone', [0, 'recap', 4, 5], 'P4 task gone'],
    ['a system message that is gone', [1, 'recap', 4, 5], 'P4 pinned'],
    ['a newest result that is gone', [0, 1, 'recap', 4], 'P4 newest absent'],
    ['an open round that is gone', [0, 1, 'recap'], 'P4 pinned'],
  ])('find %s', (_, items, check) => {
    expect(checksOf(items.map(sent))).toContain(check)
  })

  test('find a prompt over the window', () => {
    expect(checksOf(folded.map(sent), { promptTokens: 7000 })).toEqual(['P7 fits'])
  })

  test('find a change in what was sent before', () => {
    const before = {
      newest: 'Before.',
      rawMessages: ['other'],
      passes: 'fold',
      made: sent('recap'),
      kept: new Set<number>(),
      isAnswered: true,
    }
    expect(checksOf(folded.map(sent), { previous: before })).toEqual(['P5 stable'])
  })

  test('find the prompt of the request before, sent for another newest message', () => {
    const rawMessages = folded.map(sent)
    const before = {
      newest: 'Before.',
      rawMessages,
      passes: 'fold',
      made: '',
      kept: new Set<number>(),
      isAnswered: true,
    }
    expect(checksOf(rawMessages, { previous: before })).toEqual(['P4 same prompt'])
    expect(checksOf(rawMessages, { previous: { ...before, newest: texts.at(-1) ?? '' } })).toEqual([])
  })

  test('find other bytes around the messages and in a request that was not rewritten', () => {
    expect(checksOf(folded.map(sent), { before: '{"model": "m","messages":[' })).toEqual(['P1 same bytes'])
    expect(checksOf(folded.map(sent), { action: 'relayed' })).toEqual(['P1 same bytes'])
  })

  test('find a failure that was covered up', () => {
    expect(checksOf(folded.map(sent), { action: 'failed-open;reason=measure' })).toContain('P2 failed open')
  })
})

test('broken recordings are repaired for either template', () => {
  const broken = [2, 1, 3, 1, 2, 0].map((index) => messages[index]).filter((raw) => raw !== undefined)
  const roles = (template: 'lenient' | 'strict') =>
    repaired(broken, template).map(({ message }) => String(message['role']))
  expect(roles('lenient')).toEqual([
    'assistant',
    'tool',
    'user',
    'user',
    'user',
    'assistant',
    'tool',
    'system',
  ])
  expect(roles('strict')).toEqual([
    'user',
    'assistant',
    'tool',
    'assistant',
    'user',
    'assistant',
    'tool',
    'assistant',
    'user',
  ])
})

// --- internal ---

const texts = [
  '{"role":"system","content":"Be brief."}',
  '{"role":"user","content":"Where does it begin?"}',
  '{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"find","arguments":"{}"}}]}',
  '{"role":"tool","tool_call_id":"a","content":"In the middle."}',
  '{"role":"assistant","content":null,"tool_calls":[{"id":"b","type":"function","function":{"name":"find","arguments":"{}"}}]}',
  '{"role":"tool","tool_call_id":"b","content":"Or at the end."}',
]

const messages = texts.map(rawMessage)

const recording: Recording = {
  file: 'own',
  id: 'one',
  messages,
  points: [6],
  before: '"model":"m"',
  after: '"max_tokens":1024',
  tools: '',
}

const job: Job = {
  kind: 'replay',
  dialect: 'chat-completions',
  windowTokens: 8000,
  profileTemplate: 'lenient',
  upstreamTemplate: 'lenient',
  isWindowKnown: true,
  statesUsage: false,
  expected: {},
}

function sent(item: number | string): string {
  if (typeof item === 'number') return texts[item] ?? ''
  if (item === 'recap')
    return '{"role":"user","content":"<conversation-recap>It was sought.</conversation-recap>"}'
  if (item === 'invented') return '{"role":"user","content":"Go on."}'
  return (texts[4] ?? '').replaceAll(':', ': ')
}

type Forged = {
  readonly promptTokens?: number
  readonly action?: string
  readonly before?: string
  readonly previous?: Parameters<typeof checkExchange>[0]['previous']
}

/** The checks that fail for a request of the whole conversation of which this is received. */
function checksOf(rawMessages: readonly string[], forged: Forged = {}): readonly string[] {
  const subject = createSubject({
    recording,
    variant: 'recorded',
    messages,
    points: recording.points,
    counter: openPromptCounter((text) => text.length),
  })
  const body = subject.body(6, false)
  const received: ReceivedRequest = {
    method: 'POST',
    path: '/v1/chat/completions',
    headers: {},
    body: Buffer.from(`${forged.before ?? String(body.before)}${rawMessages.join(',')}${String(body.after)}`),
    messages: rawMessages.map((text) => rawMessage(text).message),
    rawMessages,
    promptTokens: forged.promptTokens ?? 100,
    cachedTokens: 0,
    status: 200,
    rejected: null,
  }
  const exchange: Exchange = {
    status: 200,
    action: forged.action ?? 'compacted',
    passes: ['fold'],
    summary: 'recap',
    times: { beganMs: 0, acceptedMs: 1, endedMs: 2 },
    received: [received],
    isReply: true,
    answer: '',
  }
  const { previous = null } = forged
  const missingPins = openPins(subject, { count: (text) => text.length, sizeOf: ({ text }) => text.length })
  const { problems } = checkExchange({ job, subject, point: 6, body, exchange, missingPins, previous })
  return [...new Set(problems.map(({ check }) => check))]
}
