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
