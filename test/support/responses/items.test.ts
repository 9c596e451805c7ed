import { expect, test } from 'vitest'
import { chatOf, toolsOf } from './items.ts'

const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'high' } }
const call = (id?: string) => ({ id, type: 'function', function: { name: 'look', arguments: '{"at":1}' } })

const messages = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: [{ type: 'text', text: 'What is it?' }, image] },
  { role: 'assistant', content: 'I look.', tool_calls: [call('a'), call()] },
  { role: 'tool', tool_call_id: 'a', content: 'A fox.' },
  { role: 'tool', content: [{ type: 'text', text: 'A hen.' }, image] },
  { role: 'system', content: 'Be kind.' },
  { role: 'assistant', content: 'A fox and a hen.' },
  { role: 'user', content: 'Thanks.' },
]

const seen = { type: 'input_image', detail: 'auto', image_url: 'data:image/png;base64,AAAA' }
const asked = { callId: 'a', name: 'look', arguments: '{"at":1}' }

test('messages become items, replies what the upstream has to answer', () => {
  const { instructions, steps } = chatOf(messages, { system: 'instructions', reasoningTokens: 50 })
  expect(instructions).toBe('Be brief.')
  expect(steps).toEqual([
    { kind: 'input', items: [] },
    {
      kind: 'input',
      items: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'What is it?' }, seen] },
      ],
    },
    {
      kind: 'reply',
      script: [
        { type: 'reasoning', tokens: 50 },
        { type: 'message', text: 'I look.' },
        { type: 'function_call', ...asked },
        { type: 'function_call', ...asked, callId: 'call_unnamed_1' },
      ],
      told: [
        {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'I look.', annotations: [] }],
        },
        { type: 'function_call', call_id: 'a', name: 'look', arguments: '{"at":1}' },
        { type: 'function_call', call_id: 'call_unnamed_1', name: 'look', arguments: '{"at":1}' },
      ],
    },
    { kind: 'input', items: [{ type: 'function_call_output', call_id: 'a', output: 'A fox.' }] },
    {
      kind: 'input',
      items: [
        {
          type: 'function_call_output',
          call_id: 'call_unnamed_1',
          output: [{ type: 'input_text', text: 'A hen.' }, seen],
        },
      ],
    },
    {
      kind: 'input',
      items: [{ type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Be kind.' }] }],
    },
    expect.objectContaining({
      script: [
        { type: 'reasoning', tokens: 50 },
        { type: 'message', text: 'A fox and a hen.' },
      ],
    }),
    {
      kind: 'input',
      items: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Thanks.' }] }],
    },
  ])
})

test('system messages may be developer messages all along', () => {
  const { instructions, steps } = chatOf(messages, { system: 'developer' })
  expect(instructions).toBeNull()
  expect(steps[0]).toEqual({
    kind: 'input',
    items: [{ type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Be brief.' }] }],
  })
})

test('tools lose the object around their function', () => {
  const described = { name: 'look', description: 'Looks.', parameters: {} }
  const search = { type: 'web_search' }
  expect(toolsOf([{ type: 'function', function: described }, search])).toEqual([
    { type: 'function', ...described },
    search,
  ])
  expect(toolsOf(undefined)).toEqual([])
})
