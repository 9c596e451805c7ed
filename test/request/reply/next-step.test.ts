import { expect, test } from 'vitest'
import { nextStep, type StepLimits } from '../../../src/request/reply/next-step.ts'
import { replyOf } from '../../../src/dialects/chat-completions/reply/reply.ts'

const limits: StepLimits = { toolName: 'recall', recallsLeft: 2, continuationsLeft: 2 }
const call = (name: string, argumentsText = '{}') => ({
  id: name,
  function: { name, arguments: argumentsText },
})

function stepAfter(message: object, reason: string, changed: Partial<StepLimits> = {}): string {
  return nextStep(replyOf({ ...message }, reason, null), { ...limits, ...changed }).kind
}

test.each([
  ['an ordinary end', { content: 'x' }, 'stop', 'end'],
  ['our call', { tool_calls: [call('recall')] }, 'tool_calls', 'recall'],
  ['our call, said to be an ordinary end', { tool_calls: [call('recall')] }, 'stop', 'recall'],
  ['our call beside the client’s', { tool_calls: [call('recall'), call('bash')] }, 'tool_calls', 'end'],
  ['the client’s call', { tool_calls: [call('bash')] }, 'tool_calls', 'end'],
  ['a text that was cut', { content: 'x' }, 'length', 'continue-text'],
  ['thoughts that were cut', { content: '', reasoning_content: 'x' }, 'length', 'end'],
  ['a refusal that was cut', { content: 'x', refusal: 'No' }, 'length', 'end'],
  ['a call that was cut', { tool_calls: [call('bash', '{"a')] }, 'length', 'repeat-call'],
  ['a call that was cut before its arguments', { tool_calls: [call('bash', '')] }, 'length', 'repeat-call'],
  ['a call that was complete', { tool_calls: [call('bash', '{"a":1}')] }, 'length', 'end'],
  ['a cut call beside a complete one', { tool_calls: [call('a'), call('b', '{"')] }, 'length', 'end'],
  ['content that is no text', { content: [{ type: 'text', text: 'x' }] }, 'length', 'end'],
  ['what a filter ended', { content: 'x' }, 'content_filter', 'end'],
])('what follows %s', (_, message, reason, step) => {
  expect(stepAfter(message, reason)).toBe(step)
})

test('everything is bounded', () => {
  expect(stepAfter({ content: 'x' }, 'length', { continuationsLeft: 0 })).toBe('end')
  expect(stepAfter({ tool_calls: [call('bash', '{')] }, 'length', { continuationsLeft: 0 })).toBe('end')
  expect(stepAfter({ tool_calls: [call('recall')] }, 'tool_calls', { recallsLeft: -1 })).toBe('end')
})

test('whoever asks once too often is told so, once', () => {
  const reply = replyOf({ tool_calls: [call('recall')] }, 'tool_calls', null)
  expect(nextStep(reply, { ...limits, recallsLeft: 0 })).toMatchObject({ isTooOften: true })
  expect(nextStep(reply, { ...limits, recallsLeft: 1 })).toMatchObject({ isTooOften: false })
})

test('a tool of the client’s with that name is the client’s, where ours was not offered', () => {
  expect(stepAfter({ tool_calls: [call('recall')] }, 'tool_calls', { toolName: null })).toBe('end')
})
