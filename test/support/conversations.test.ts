import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { ruleBreaks } from './strict-upstream/message-rules.ts'
import { brokenConversation, growing, longRun, validConversation, type TestMessage } from './conversations.ts'
import { propertyRuns } from './property-runs.ts'

test('valid conversations break no rule at any request point', () => {
  fc.assert(
    fc.property(validConversation({ textCharactersMax: 200 }), (conversation) => {
      for (const messages of growing(conversation)) expect(ruleBreaks(messages, 'lenient')).toEqual([])
    }),
  )
})

test('broken conversations break every rule there is', () => {
  const seen = new Set<string>()
  fc.assert(
    fc.property(brokenConversation({ textCharactersMax: 50 }), (messages) => {
      for (const { rule } of ruleBreaks(messages, 'strict')) seen.add(rule)
    }),
    { seed: 7, numRuns: propertyRuns(500) },
  )
  expect([...seen].sort()).toEqual([
    'calls-empty',
    'calls-unanswered',
    'content-missing',
    'first-not-user',
    'message-shape',
    'result-orphan',
    'result-unknown-call',
    'roles-not-alternating',
    'system-not-first',
  ])
})

test('long runs are the same for the same seed, valid under a strict template, and as long as asked', () => {
  const run = longRun(300, 5)
  expect(run).toEqual(longRun(300, 5))
  expect(run).not.toEqual(longRun(300, 6))
  expect(run.filter((message) => message.role === 'assistant')).toHaveLength(300)
  expect([...growing(run)]).toHaveLength(301)
  expect(ruleBreaks(run, 'strict')).toEqual([])
  expect(JSON.stringify(run)).toContain(String.raw`\r`)
  expect(JSON.stringify(longRun(50, 5, 4)).length).toBeGreaterThan(2 * JSON.stringify(longRun(50, 5)).length)
})

test('a growing conversation yields what was sent before each answer, then all of it', () => {
  const [user, answer, more]: TestMessage[] = [{ role: 'user' }, { role: 'assistant' }, { role: 'user' }]
  const all = [user, answer, more].filter((message) => message !== undefined)
  expect([...growing(all)]).toEqual([[user], all])
})
