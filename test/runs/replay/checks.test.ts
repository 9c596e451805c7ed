import { describe, expect, test } from 'vitest'
import { openPromptCounter } from '../../support/strict-upstream/prompt-tokens.ts'
import { calling, clipped, countWords, result, said, sizeInWords, wordsNamed } from '../fidelity/hand-made.ts'
import { madeRecording, rawMessage, type RawMessage } from '../harness/recordings.ts'
import type { Exchange, ReceivedRequest } from '../harness/stage.ts'
import { createSubject } from '../harness/subject.ts'
import { checkExchange, openPins } from './checks.ts'
import { job } from './jobs.ts'
import { repaired } from './subjects.ts'

// The replay runs outside of the normal tests; these see to it that its checks find what they are for.

const messages = [
  said('system', 'Be brief.'),
  said('user', 'Where does it begin?'),
  calling('a'),
  result('a', 'In the middle.'),
  calling('b'),
  result('b', 'Or at the end.'),
]
const texts = messages.map(({ text }) => text)
const folded = [0, 1, 'recap', 4, 5]

describe('the checks of the replay', () => {
  test('find nothing wrong with a conversation that was folded as promised', () => {
    expect(checksOf(folded)).toEqual([])
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
    expect(checksOf(items)).toContain(check)
  })

  const before = { newest: 'before', passes: 'fold', kept: new Set<number>(), isAnswered: true }
  const same = { ...before, sent: folded.map(sent), made: '' }
  test.each<[string, Forged, readonly string[]]>([
    ['a prompt over the window', { promptTokens: 17_000 }, ['P7 fits']],
    ['other bytes around the messages', { before: '{"model": "m","messages":[' }, ['P1 same bytes']],
    ['other bytes of what was not rewritten', { action: 'relayed' }, ['P1 same bytes']],
    [
      'a failure that was covered up',
      { action: 'failed-open;reason=x' },
      ['P2 failed open', 'P1 same bytes'],
    ],
    ['an error', { isReply: false }, ['an error reached the client']],
    ['a change', { previous: { ...before, sent: ['other'], made: sent('recap') } }, ['P5 stable']],
    ['the prompt of before, for another newest message', { previous: same }, ['P4 same prompt']],
    ['nothing where it is the same request', { previous: { ...same, newest: texts[5] ?? '' } }, []],
  ])('find %s', (_, forged, checks) => {
    expect(checksOf(folded, forged)).toEqual(checks)
  })
})

test.each([
  ['lenient', 'assistant tool user user user assistant tool system'],
  ['strict', 'user assistant tool assistant user assistant tool assistant user'],
] as const)('broken recordings are repaired for either template: %s', (template, roles) => {
  const broken = [2, 1, 3, 1, 2, 0].flatMap((index) => messages[index] ?? [])
  expect(
    repaired(broken, template)
      .map(({ message }) => message['role'])
      .join(' '),
  ).toBe(roles)
})

describe('of the shares of P4, in a room of 1,000', () => {
  const [text, wished] = [wordsNamed('task', 396), wordsNamed('wish', 396)]
  const [one, other] = [wordsNamed('line', 396), wordsNamed('other', 396)]
  const [task, wish] = [said('user', text), said('user', wished)]
  const client = [
    said('system', 'Be brief.'),
    task,
    said('assistant', 'Noted.'),
    wish,
    calling('a', 'b'),
    result('a', one),
    result('b', other),
  ]
  /** Where so many words are left of either end of a text. */
  const received = (words: { task?: number; wish?: number; one?: number; other?: number }) => {
    return [
      said('system', 'Be brief.'),
      said('user', short(text, words.task)),
      said('user', short(wished, words.wish)),
      calling('a', 'b'),
      result('a', short(one, words.one)),
      result('b', short(other, words.other)),
    ]
  }
  const missingIn = (view: readonly RawMessage[], roomTokens = 1000) => {
    const subject = { messages: client, systemCount: 1, task: 1 }
    const pins = openPins(subject, { count: countWords, sizeOf: sizeInWords })
    const rawMessages = view.map((each) => each.text)
    return pins({ point: client.length, rawMessages, roomTokens }).map(
      ({ what, detail }) => `${what}: ${detail}`,
    )
  }

  test('task and latest user message may be cut to a quarter, the newest round to half', () => {
    // A quarter is 250 tokens; of the 500 for the round the calls take few, and each result half of the rest.
    expect(missingIn(received({ task: 125, wish: 125, one: 125, other: 125 }))).toEqual([])
  })

  test('whatever has less is told, with what is there and what is due', () => {
    expect(missingIn(received({ task: 100, wish: 125, one: 125, other: 125 }))).toEqual([
      'task: the task, message 1: has 204 of 400 tokens (200 of its text), 250 tokens are due',
    ])
    expect(missingIn(received({ wish: 20 }))[0]).toMatch(/^pinned: the latest user message, message 3: has/)
    expect(missingIn(received({ one: 20 }))[0]).toMatch(/^pinned: of the newest round, message 5: has 44 of/)
    expect(missingIn(received({ other: 20 }))[0]).toMatch(/^newest: the newest, message 6: has 44 of/)
  })

  test('what is gone is told; a smaller room asks for less, and a bare mark is too little for any', () => {
    const gone = 'pinned: the latest user message, message 3: is not there'
    const [system, , , ...round] = received({})
    expect(missingIn([system, task, ...round].flatMap((each) => each ?? []))).toEqual([
      `${gone}, 250 tokens are due`,
    ])
    const marked = [system, said('user', clipped(text, 20)), said('user', '[cut]'), ...round]
    expect(
      missingIn(
        marked.flatMap((each) => each ?? []),
        100,
      ),
    ).toEqual([`${gone}, 25 tokens are due`])
  })
})

const short = (whole: string, words = 198): string => (words >= 198 ? whole : clipped(whole, words))

function sent(item: number | string): string {
  if (typeof item === 'number') return texts[item] ?? ''
  if (item === 'recap') return said('user', '<conversation-recap>It was sought.</conversation-recap>').text
  if (item === 'invented') return said('user', 'Go on.').text
  return (texts[4] ?? '').replaceAll(':', ': ')
}

type Forged = Partial<Pick<ReceivedRequest, 'promptTokens'> & Pick<Exchange, 'action' | 'isReply'>> & {
  readonly before?: string
  readonly previous?: Parameters<typeof checkExchange>[0]['previous']
}

function checksOf(items: readonly (number | string)[], forged: Forged = {}): readonly string[] {
  const recording = madeRecording('own', 'one', messages)
  const counter = openPromptCounter((text) => text.length)
  const subject = createSubject({ recording, counter })
  const body = subject.body(6, false)
  const rawMessages = items.map(sent)
  const received: ReceivedRequest = {
    method: 'POST',
    path: '/v1/chat/completions',
    headers: {},
    body: Buffer.from(`${forged.before ?? String(body.before)}${rawMessages.join(',')}${String(body.after)}`),
    messages: rawMessages.map((text) => rawMessage(text).message),
    rawMessages,
    promptTokens: forged.promptTokens ?? 100,
    cachedTokens: 0,
    outputTokens: null,
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
    isReply: forged.isReply ?? true,
    answer: '',
  }
  const { previous = null } = forged
  const missingPins = openPins(subject, { count: (text) => text.length, sizeOf: ({ text }) => text.length })
  const checked = checkExchange({ job: job({}), subject, point: 6, body, exchange, missingPins, previous })
  return [...new Set(checked.problems.map(({ check }) => check))]
}
