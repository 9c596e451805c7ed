import * as fc from 'fast-check'
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
import type { Template } from '../../../src/dialects/contract.ts'
import { finish } from '../../../src/conversation/source.ts'
import { structureOf } from '../../../src/conversation/structure.ts'
import { arbitraryMessages } from '../../support/arbitrary-conversation.ts'
import { propertyRuns } from '../../support/property-runs.ts'
import { repairedOf } from '../../support/subject.ts'

function broken(messages: readonly object[], template: Template) {
  const shapes = messagesOf(messages).map(({ facts }) => facts)
  return violationsOf(shapes, template).map(({ index, rule }) => `${rule} ${index}`)
}

describe('lenient: what OpenAI demands', () => {
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
    expect(broken(messages, 'lenient')).toEqual(expected)
  })
})

describe('strict: what many chat templates demand', () => {
  test.each<[string, readonly object[], readonly string[]]>([
    ['a usual conversation', [system, user, calling('a'), result('a'), assistant, user], []],
    ['no system message', [user, assistant, user], []],
    ['a second system message', [system, system, user], ['system-misplaced 1']],
    ['a late system message', [user, { role: 'developer' }, assistant], ['system-misplaced 1']],
    ['an assistant first', [system, assistant, user], ['user-preceded 1']],
    ['a call first', [calling('a'), result('a'), assistant], ['user-preceded 0']],
    ['two users in a row', [user, user, assistant], ['role-repeated 1']],
    ['two assistants in a row', [user, assistant, assistant], ['role-repeated 2']],
    ['many rounds in a row', [user, calling('a'), result('a'), calling('b'), result('b'), assistant], []],
    ['nothing but a round between users', [user, calling('a'), result('a'), user], ['role-repeated 3']],
    ['what lenient demands too', [user, calling('a')], ['call-unanswered 1']],
  ])('%s', (_, messages, expected) => {
    expect(broken(messages, 'strict')).toEqual(expected)
  })
})

test('a conversation cut at a frontier breaks no round that was whole', () => {
  fc.assert(
    fc.property(arbitraryMessages, (messages) => {
      const all = messagesOf(messages)
      const { isFrontier } = finish(structureOf(all))
      const whole = violationsOf(
        all.map(({ facts }) => facts),
        'lenient',
      )
      for (let cut = 0; cut <= all.length; cut += 1) {
        if (!isFrontier(cut)) continue
        const tail = violationsOf(
          all.slice(cut).map(({ facts }) => facts),
          'lenient',
        )
        const expected = whole.filter(({ index }) => index >= cut)
        expect(tail.map(({ index, rule }) => [index + cut, rule])).toEqual(
          expected.map(({ index, rule }) => [index, rule]),
        )
      }
    }),
    { numRuns: propertyRuns(200) },
  )
})

const missing = '[no result was recorded for this call]'
const unanswered = (id: string) => ({ role: 'tool', tool_call_id: id, content: missing })
const answer = (id: string | undefined, content: unknown = 'seen') => ({
  role: 'tool',
  tool_call_id: id,
  content,
})

function repaired(messages: readonly object[]): unknown[] {
  return repairedOf(messages).texts.map((text): unknown => JSON.parse(text))
}

describe('a call without a result', () => {
  test.each<[string, readonly object[], readonly object[]]>([
    [
      'of a turn that was broken off gets one before what the user said next',
      [user, calling('a'), user],
      [user, calling('a'), unanswered('a'), user],
    ],
    [
      'beside answered ones gets one behind them',
      [user, calling('a', 'b', 'c'), answer('c'), assistant],
      [user, calling('a', 'b', 'c'), answer('c'), unanswered('a'), unanswered('b'), assistant],
    ],
    [
      'of which another under the same id was answered gets its own',
      [user, calling('a', 'a'), answer('a'), assistant],
      [user, calling('a', 'a'), answer('a'), unanswered('a'), assistant],
    ],
    [
      'is not answered by a result of the same id in another round',
      [user, calling('a'), calling('a'), answer('a'), assistant],
      [user, calling('a'), unanswered('a'), calling('a'), answer('a'), assistant],
    ],
    [
      'without an id gets a result without one',
      [user, calling(undefined), assistant],
      [user, calling(undefined), { role: 'tool', content: missing }, assistant],
    ],
    [
      'of the legacy form gets a function message',
      [user, { role: 'assistant', content: null, function_call: { name: 'look', arguments: '{}' } }, user],
      [
        user,
        { role: 'assistant', content: null, function_call: { name: 'look', arguments: '{}' } },
        { role: 'function', name: 'look', content: missing },
        user,
      ],
    ],
    [
      'of the last round waits for its result',
      [user, calling('a', 'b'), answer('b')],
      [user, calling('a', 'b'), answer('b')],
    ],
    [
      'of the last round waits no longer once a result has come that answers none of its calls',
      [user, calling('a'), answer('A')],
      [
        user,
        calling('a'),
        {
          ...unanswered('a'),
          content: `${missing}\n\n[result of a tool call that is not in this conversation]\n\nseen`,
        },
      ],
    ],
  ])('%s', (_name, messages, expected) => {
    expect(repaired(messages)).toEqual(JSON.parse(JSON.stringify(expected)))
  })
})

describe('a result without a call', () => {
  test.each<[string, readonly object[], readonly object[]]>([
    [
      'where a client cut off the beginning is a user message in its place',
      [system, answer('gone', 'the file'), assistant],
      [
        system,
        {
          role: 'user',
          content: '[result of a tool call that is not in this conversation]\n\nthe file',
        },
        assistant,
      ],
    ],
    [
      'names its tool where it says its name',
      [user, { role: 'function', name: 'look', content: 'there' }],
      [
        user,
        { role: 'user', content: '[result of a call to look that is not in this conversation]\n\nthere' },
      ],
    ],
    [
      'that came when its round was over says so',
      [user, calling('a'), user, answer('a'), assistant],
      [
        user,
        calling('a'),
        unanswered('a'),
        user,
        { role: 'user', content: '[late result of a call to look]\n\nseen' },
        assistant,
      ],
    ],
    [
      'that answers a call for the second time stands behind the last result of its round',
      [user, calling('a', 'b'), answer('a', 'one'), answer('a', 'two'), answer('b'), assistant],
      [
        user,
        calling('a', 'b'),
        answer('a', 'one'),
        answer('b', 'seen\n\n[another result of a call to look]\n\ntwo'),
        assistant,
      ],
    ],
    [
      'keeps its parts, an image among them',
      [
        user,
        answer('x', [
          { type: 'text', text: 'see' },
          { type: 'image_url', image_url: { url: 'https://a/b' } },
        ]),
      ],
      [
        user,
        {
          role: 'user',
          content: [
            { type: 'text', text: '[result of a tool call that is not in this conversation]' },
            { type: 'text', text: 'see' },
            { type: 'image_url', image_url: { url: 'https://a/b' } },
          ],
        },
      ],
    ],
    [
      'takes its image along into a round',
      [
        user,
        calling('a'),
        answer('a'),
        answer('a', [{ type: 'image_url', image_url: { url: 'https://a/b' } }]),
      ],
      [
        user,
        calling('a'),
        answer('a', [
          { type: 'text', text: 'seen' },
          { type: 'text', text: '[another result of a call to look]' },
          { type: 'image_url', image_url: { url: 'https://a/b' } },
        ]),
      ],
    ],
    [
      'without a content leaves word of itself',
      [user, answer('x', null), { role: 'tool', tool_call_id: 'y' }],
      [
        user,
        { role: 'user', content: '[result of a tool call that is not in this conversation]' },
        { role: 'user', content: '[result of a tool call that is not in this conversation]' },
      ],
    ],
    [
      'with a content of an unknown shape is told with it',
      [user, answer('x', { ok: true })],
      [
        user,
        { role: 'user', content: '[result of a tool call that is not in this conversation]\n\n{"ok":true}' },
      ],
    ],
  ])('%s', (_name, messages, expected) => {
    expect(repaired(messages)).toEqual(JSON.parse(JSON.stringify(expected)))
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

describe('a result without an id', () => {
  test.each<[string, readonly object[], readonly object[]]>([
    [
      'gets that of its call, at the end too',
      [user, calling('a'), answer(undefined, 'one'), calling('b'), answer('', 'two')],
      [user, calling('a'), answer('a', 'one'), calling('b'), answer('b', 'two')],
    ],
    [
      'is taken for the calls in their order that no other result names',
      [user, calling('a', 'b', 'c'), answer(undefined, 'one'), answer('b'), answer(undefined, 'two')],
      [user, calling('a', 'b', 'c'), answer('a', 'one'), answer('b'), answer('c', 'two')],
    ],
    [
      'as a function message becomes a tool message',
      [user, calling('a'), { role: 'function', name: 'look', content: 'one' }, user],
      [user, calling('a'), { role: 'tool', name: 'look', content: 'one', tool_call_id: 'a' }, user],
    ],
    [
      'beyond the calls is text',
      [user, calling('a'), answer(undefined, 'one'), answer(undefined, 'two')],
      [
        user,
        calling('a'),
        answer('a', 'one\n\n[result of a tool call that is not in this conversation]\n\ntwo'),
      ],
    ],
    [
      'stays without one where the call has none',
      [user, calling(undefined), answer(undefined), user],
      [user, calling(undefined), answer(undefined), user],
    ],
  ])('%s', (_name, messages, expected) => {
    expect(repaired(messages)).toEqual(JSON.parse(JSON.stringify(expected)))
  })
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
  expect(repairedOf([answer('x'), calling('a', 'b'), user, answer('a')]).repairs).toEqual({
    answered: 2,
    paired: 0,
    orphans: 2,
    emptied: 0,
  })
})

test('a round of very many calls and results that answer none of them takes no longer than its size', () => {
  const ids = Array.from({ length: 10_000 }, (_, index) => `call_${index}`)
  const results = ids.map((id) => answer(`other_${id}`))
  const started = performance.now()
  expect(repairedOf([user, calling(...ids), ...results, user]).repairs).toEqual({
    answered: 10_000,
    paired: 0,
    orphans: 10_000,
    emptied: 0,
  })
  expect(performance.now() - started).toBeLessThan(5_000)
})
