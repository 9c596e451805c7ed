import { describe, expect, test } from 'vitest'
import { ruleBreaks, type MessageRule } from './message-rules.ts'

const system = { role: 'system', content: 'You are terse.' }
const user = { role: 'user', content: 'Hello' }
const answer = { role: 'assistant', content: 'Hi' }
const call = (...ids: (string | undefined)[]) => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'search', arguments: '{}' } })),
})
const result = (id?: string) => ({ role: 'tool', tool_call_id: id, content: 'found' })

const valid: Record<string, object[]> = {
  'a plain exchange': [user, answer, user],
  'system and developer messages anywhere': [user, system, answer, { role: 'developer', content: 'x' }, user],
  'several messages of one role in a row': [user, user, answer, answer, user],
  'parallel calls answered in any order': [user, call('a', 'b'), result('b'), result('a')],
  'an id used again in a later round': [user, call('a'), result('a'), call('a'), result('a')],
  'an id used twice in one round': [user, call('a', 'a'), result('a'), result('a')],
  'calls and results without ids, by count': [user, call(undefined, undefined), result(), result()],
  'a result without an id beside one with': [user, call('a', 'b'), result(), result('a')],
  'a legacy function call': [
    user,
    { role: 'assistant', content: null, function_call: { name: 'search', arguments: '{}' } },
    { role: 'function', name: 'search', content: 'found' },
  ],
  'content in parts': [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
}

const broken: [string, MessageRule[], unknown[]][] = [
  ['a result before any call', ['result-orphan'], [user, result('a')]],
  ['a call that ends the conversation', ['calls-unanswered'], [user, call('a')]],
  ['a call answered by the user', ['calls-unanswered'], [user, call('a'), user]],
  ['one of two parallel calls unanswered', ['calls-unanswered'], [user, call('a', 'b'), result('a'), user]],
  [
    'a user message between two results',
    ['calls-unanswered', 'result-orphan'],
    [user, call('a', 'b'), result('a'), user, result('b')],
  ],
  [
    'a result that names another call',
    ['calls-unanswered', 'result-unknown-call'],
    [user, call('a'), result('z')],
  ],
  ['one result too many', ['result-unknown-call'], [user, call('a'), result('a'), result('a')]],
  ['one result too many without ids', ['result-orphan'], [user, call(undefined), result(), result()]],
  ['empty tool_calls', ['calls-empty'], [user, { ...answer, tool_calls: [] }]],
  ['a user message without content', ['content-missing'], [{ role: 'user', content: null }]],
  ['an empty list of parts', ['content-missing'], [{ role: 'user', content: [] }]],
  ['an assistant that says and calls nothing', ['content-missing'], [user, { role: 'assistant' }]],
  ['an unknown role', ['message-shape'], [{ role: 'wizard', content: 'x' }]],
  ['a message that is no object', ['message-shape', 'message-shape'], ['hello', null]],
]

describe('leniently', () => {
  test.each(Object.entries(valid))('accepts %s', (_, messages) => {
    expect(ruleBreaks(messages, 'lenient')).toEqual([])
  })

  test.each(broken)('rejects %s', (_, rules, messages) => {
    expect(ruleBreaks(messages, 'lenient').map((found) => found.rule)).toEqual(rules)
  })

  test("names the calls that were not answered, in OpenAI's words", () => {
    expect(ruleBreaks([user, call('a', 'b', 'c'), result('b')], 'lenient')).toEqual([
      {
        rule: 'calls-unanswered',
        index: 1,
        message:
          "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: a, c",
        param: 'messages.[2].role',
        code: null,
      },
    ])
  })
})

describe('strictly', () => {
  test.each([
    ['a system message, then turns with tool rounds', [system, user, call('a'), result('a'), answer, user]],
    ['tool rounds one after the other', [user, call('a'), result('a'), call('b'), result('b')]],
    ['no system message', [user, answer, user, answer]],
  ])('accepts %s', (_, messages) => {
    expect(ruleBreaks(messages, 'strict')).toEqual([])
  })

  test.each<[string, MessageRule[], object[]]>([
    ['a second system message', ['system-not-first'], [system, system, user]],
    ['a system message in the middle', ['system-not-first'], [system, user, answer, system, user]],
    ['an assistant before the first user', ['first-not-user'], [system, answer, user]],
    ['tool rounds before the first user', ['first-not-user'], [system, call('a'), result('a'), user]],
    ['two user messages in a row', ['roles-not-alternating'], [user, user, answer]],
    ['a user message after a result', ['roles-not-alternating'], [user, call('a'), result('a'), user]],
    ['two answers in a row', ['roles-not-alternating'], [user, answer, answer, user]],
  ])('rejects %s', (_, rules, messages) => {
    expect(ruleBreaks(messages, 'strict').map((found) => found.rule)).toEqual(rules)
  })
})
