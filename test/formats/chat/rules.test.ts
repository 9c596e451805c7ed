import { describe, expect, test } from 'vitest'
import {
  violationsOf,
  assistant,
  calling,
  messagesOf,
  result,
  system,
  user,
} from '../../support/chat-completions.ts'
import { runAtOnce } from '../../../src/json/source.ts'
import { structureOf } from '../../../src/conversation/structure.ts'
import { arbitraryMessages } from '../../support/arbitrary-conversation.ts'
import { forAll } from '../../support/property-runs.ts'
import { repairedOf } from '../../support/subject.ts'

function broken(messages: readonly object[]) {
  const shapes = messagesOf(messages).map(({ facts }) => facts)
  return violationsOf(shapes).map(({ index, rule }) => `${rule} ${index}`)
}

describe('what OpenAI demands', () => {
  test.each<[string, readonly object[], readonly string[]]>([
    ['nothing at all', [], []],
    ['a usual conversation', [system, user, calling('a', 'b'), result('b'), result('a'), assistant], []],
    ['system messages anywhere, roles in a row', [assistant, system, user, user, assistant, assistant], []],
    ['a result without a call', [user, result('a')], ['result-orphaned 1']],
    ['a result of another call', [calling('a'), result('b')], ['call-unanswered 0', 'result-orphaned 1']],
    ['a result twice', [calling('a'), result('a'), result('a')], ['result-orphaned 2']],
    ['a call without a result', [user, calling('a', 'b'), result('a'), user], ['call-unanswered 1']],
    ['a call at the end', [user, calling('a')], ['call-unanswered 1']],
    [
      'a user between call and result',
      [calling('a'), user, result('a')],
      ['call-unanswered 0', 'result-orphaned 2'],
    ],
    [
      'a user between results',
      [calling('a', 'b'), result('a'), user, result('b')],
      ['call-unanswered 0', 'result-orphaned 3'],
    ],
    ['one id in two rounds', [calling('a'), result('a'), calling('a'), result('a')], []],
    ['an empty list of calls', [user, { ...assistant, tool_calls: [] }], ['calls-emptied 1']],
    ['calls without ids', [calling(undefined, undefined), result(), result('x')], []],
    [
      'too few results for calls without ids',
      [calling(undefined, undefined), result()],
      ['call-unanswered 0'],
    ],
    ['a result without an id', [calling('a'), result()], ['call-unanswered 0', 'result-orphaned 1']],
    [
      'a legacy function call',
      [
        { role: 'assistant', function_call: { name: 'look' } },
        { role: 'function', name: 'look' },
      ],
      [],
    ],
  ])('%s', (_, messages, expected) => {
    expect(broken(messages)).toEqual(expected)
  })
})

test('a conversation cut at a frontier breaks no round that was whole', () => {
  forAll(200, arbitraryMessages, (messages) => {
    const all = messagesOf(messages)
    const { isFrontier } = runAtOnce(structureOf(all))
    const facts = all.map((message) => message.facts)
    const whole = violationsOf(facts)
    for (let cut = 0; cut <= all.length; cut += 1) {
      if (!isFrontier(cut)) continue
      const tail = violationsOf(facts.slice(cut))
      const expected = whole.filter(({ index }) => index >= cut)
      expect(tail.map(({ index, rule }) => [index + cut, rule])).toEqual(
        expected.map(({ index, rule }) => [index, rule]),
      )
    }
  })
})

const missing = '[no result was recorded for this call]'
const unanswered = (id: string) => ({ role: 'tool', tool_call_id: id, content: missing })
const answer = (id: string | undefined, content: unknown = 'seen') => ({
  role: 'tool',
  tool_call_id: id,
  content,
})

const repaired = (messages: readonly object[]): unknown[] =>
  repairedOf([user, ...messages]).texts.map((text): unknown => JSON.parse(text))

/** As JSON says it. */
const behindUser = (messages: readonly object[]): unknown => JSON.parse(JSON.stringify([user, ...messages]))

const gone = '[result of a tool call that is not in this conversation]'
const told = (content: unknown) => ({ role: 'user', content })
const legacy = { role: 'assistant', content: null, function_call: { name: 'look', arguments: '{}' } }
const image = { type: 'image_url', image_url: { url: 'https://a/b' } }
const textPart = (text: string) => ({ type: 'text', text })

type Repair = [string, readonly object[], readonly object[]]

test.each<Repair>([
  ['of a turn that was broken off gets one', [calling('a'), user], [calling('a'), unanswered('a'), user]],
  [
    'beside answered ones gets one behind them',
    [calling('a', 'b', 'c'), answer('c'), assistant],
    [calling('a', 'b', 'c'), answer('c'), unanswered('a'), unanswered('b'), assistant],
  ],
  [
    'of which another under the same id was answered gets its own',
    [calling('a', 'a'), answer('a'), assistant],
    [calling('a', 'a'), answer('a'), unanswered('a'), assistant],
  ],
  [
    'is not answered by a result of the same id in another round',
    [calling('a'), calling('a'), answer('a'), assistant],
    [calling('a'), unanswered('a'), calling('a'), answer('a'), assistant],
  ],
  [
    'without an id gets a result without one',
    [calling(undefined), assistant],
    [calling(undefined), { role: 'tool', content: missing }, assistant],
  ],
  [
    'of the legacy form gets a function message',
    [legacy, user],
    [legacy, { role: 'function', name: 'look', content: missing }, user],
  ],
  [
    'of the last round waits for its result',
    [calling('a', 'b'), answer('b')],
    [calling('a', 'b'), answer('b')],
  ],
  [
    'of the last round waits no longer once a result has come that answers none of its calls',
    [calling('a'), answer('A')],
    [calling('a'), answer('a', `${missing}\n\n${gone}\n\nseen`)],
  ],
])('a call without a result %s', (_, messages, expected) => {
  expect(repaired(messages)).toEqual(behindUser(expected))
})

describe('a result without a call', () => {
  const another = '[another result of a call to look]'
  test.each<Repair>([
    [
      'is a user message in its place',
      [answer('x', 'the file'), assistant],
      [told(`${gone}\n\nthe file`), assistant],
    ],
    [
      'names its tool where it says its name',
      [{ role: 'function', name: 'look', content: 'there' }],
      [told('[result of a call to look that is not in this conversation]\n\nthere')],
    ],
    [
      'that came when its round was over says so',
      [calling('a'), user, answer('a'), assistant],
      [calling('a'), unanswered('a'), user, told('[late result of a call to look]\n\nseen'), assistant],
    ],
    [
      'that answers a call for the second time stands behind the last result of its round',
      [calling('a', 'b'), answer('a', 'one'), answer('a', 'two'), answer('b'), assistant],
      [calling('a', 'b'), answer('a', 'one'), answer('b', `seen\n\n${another}\n\ntwo`), assistant],
    ],
    [
      'keeps its parts, an image among them',
      [answer('x', [textPart('see'), image])],
      [told([textPart(gone), textPart('see'), image])],
    ],
    [
      'takes its image along into a round',
      [calling('a'), answer('a'), answer('a', [image])],
      [calling('a'), answer('a', [textPart('seen'), textPart(another), image])],
    ],
    [
      'without a content leaves word of itself',
      [answer('x', null), { role: 'tool' }],
      [told(gone), told(gone)],
    ],
    ['with one of an unknown shape is told with it', [answer('x', { ok: 1 })], [told(`${gone}\n\n{"ok":1}`)]],
  ])('%s', (_, messages, expected) => {
    expect(repaired(messages)).toEqual(behindUser(expected))
  })

  test('keeps the spelling of its text, and of what it stands behind', () => {
    const { texts } = repairedOf(
      String.raw`[{"role":"user","content":"x"},{"content": "\u0041\/" , "zz":1.0, "role":"assistant","tool_calls":[{"id":"a"}]},` +
        String.raw`{"n":1e2,"role":"tool","tool_call_id":"a","content":"\u00e4"},{"role":"tool","tool_call_id":"a","content":"\/é"}]`,
    )
    expect(texts[2]).toBe(
      String.raw`{"n":1e2,"role":"tool","tool_call_id":"a","content":"\u00e4\n\n[another result of a tool call]\n\n\/é"}`,
    )
  })
})

test.each<Repair>([
  [
    'gets that of its call, at the end too',
    [calling('a'), answer(undefined, 'one'), calling('b'), answer('', 'two')],
    [calling('a'), answer('a', 'one'), calling('b'), answer('b', 'two')],
  ],
  [
    'is taken for the calls in their order that no other result names',
    [calling('a', 'b', 'c'), answer(undefined, 'one'), answer('b'), answer(undefined, 'two')],
    [calling('a', 'b', 'c'), answer('a', 'one'), answer('b'), answer('c', 'two')],
  ],
  [
    'as a function message becomes a tool message',
    [calling('a'), { role: 'function', name: 'look', content: 'one' }, user],
    [calling('a'), { role: 'tool', name: 'look', content: 'one', tool_call_id: 'a' }, user],
  ],
  [
    'beyond the calls is text',
    [calling('a'), answer(undefined, 'one'), answer(undefined, 'two')],
    [calling('a'), answer('a', `one\n\n${gone}\n\ntwo`)],
  ],
  [
    'stays without one where the call has none',
    [calling(undefined), answer(undefined), user],
    [calling(undefined), answer(undefined), user],
  ],
])('a result without an id %s', (_, messages, expected) => {
  expect(repaired(messages)).toEqual(behindUser(expected))
})

describe('an empty list of calls', () => {
  test.each([
    ['{"role":"assistant","content":"x","tool_calls":[]}', '{"role":"assistant","content":"x"}'],
    ['{ "tool_calls" : [ ] , "role":"assistant","content":"x"}', '{ "role":"assistant","content":"x"}'],
    [
      String.raw`{"role":"assistant","tool_cal\u006cs":[],"content":null, "z":1.0}`,
      '{"role":"assistant","content":"", "z":1.0}',
    ],
    ['{"role":"assistant","tool_calls":[]}', '{"role":"assistant","content":""}'],
    [
      '{"role":"assistant","content":null,"tool_calls":[],"refusal":"no"}',
      '{"role":"assistant","content":null,"refusal":"no"}',
    ],
  ])('is taken out of %s', (message, expected) => {
    expect(repairedOf(`[${message}]`)).toMatchObject({
      texts: [expected],
      repairs: { answered: 0, paired: 0, orphans: 0, emptied: 1 },
    })
  })
})

test('what is repaired is counted, and what is sound is left alone', () => {
  expect(repairedOf([user, calling('a'), answer('a'), assistant]).repairs).toBeNull()
  const { repairs } = repairedOf([answer('x'), calling('a', 'b'), user, answer('a')])
  expect(repairs).toEqual({ answered: 2, paired: 0, orphans: 2, emptied: 0 })
})

test('a round of very many calls and results that answer none of them takes no longer than its size', () => {
  const ids = Array.from({ length: 10_000 }, (_, index) => `call_${index}`)
  const results = ids.map((id) => answer(`other_${id}`))
  const { repairs } = repairedOf([user, calling(...ids), ...results, user])
  expect(repairs).toEqual({ answered: 10_000, paired: 0, orphans: 10_000, emptied: 0 })
})
