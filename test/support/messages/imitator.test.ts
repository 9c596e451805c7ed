import { expect, test } from 'vitest'
import { startAsking } from './asking.ts'

const user = (text: string) => ({ role: 'user', content: text })
const hello = { messages: [user('hello')] }

const call = { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'look', input: {} }] }
const result = { type: 'tool_result', tool_use_id: 'a', content: 'seen' }
const results = { role: 'user', content: [result] }

test('an imitator takes what it does not know, and says nothing of a cache', async () => {
  const { ask } = await startAsking({
    imitator: { template: 'strict' },
    reply: () => ({
      content: [
        { type: 'thinking', text: 'Hm.' },
        { type: 'text', text: 'So.' },
      ],
    }),
  })
  const { status, text } = await ask(
    { messages: [user('look'), call, results], x_unknown: 1, max_tokens: undefined },
    { 'anthropic-version': '' },
  )
  expect([status, JSON.parse(text)]).toMatchObject([
    200,
    {
      content: [{ type: 'thinking', thinking: 'Hm.', signature: '' }, { type: 'text' }],
      usage: { input_tokens: 8 + 8 + 4 + 4 + 2 + 8 + 3, output_tokens: 6 },
    },
  ])
  expect(text).not.toContain('cache')
})

test.each([
  ['users in a row', [user('look'), user('there')]],
  [
    'words behind results',
    [user('look'), call, { role: 'user', content: [result, { type: 'text', text: 'Wait.' }] }],
  ],
  ['a system message in the middle', [user('look'), { role: 'system', content: 'Be brief.' }]],
])('an imitator has a template that may insist on alternation: %s', async (_, messages) => {
  const { ask } = await startAsking({ imitator: { template: 'strict' } })
  const { status, error } = await ask({ messages })
  expect([status, error]).toEqual([400, expect.stringMatching(/^Jinja Exception: .*(alternate|beginning)/)])
  const { ask: lenient } = await startAsking({ imitator: { template: 'lenient' } })
  expect((await lenient({ messages })).status).toBe(200)
})

test('an imitator refuses a prompt over its window in words of its own', async () => {
  const { ask } = await startAsking({ imitator: { template: 'strict' }, windowTokens: 11 })
  const { status, text } = await ask(hello)
  expect([status, JSON.parse(text)]).toMatchObject([
    400,
    {
      type: 'error',
      error: {
        message: 'request (12 tokens) exceeds the available context size (11 tokens), try increasing it',
      },
    },
  ])
})
