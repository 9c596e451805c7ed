import { expect, test } from 'vitest'
import { rawMessage } from '../../replay/recordings.ts'
import { openChatReader } from './chat-reader.ts'

const called = { id: 'a', type: 'function', function: { name: 'find', arguments: '{}' } }
// A spelling that a message which is written anew would not have.
const asking = rawMessage(
  `{"role": "assistant", "content":"I look.", "tool_calls":[${JSON.stringify(called)}]}`,
)

const thought = '{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gA"}'
const words =
  '{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"I look."}]}'
const call = '{"type":"function_call","id":"fc_1","call_id":"a","name":"find","arguments":"{}"}'

test('a reply that came as it was sent is the recorded message, with its reasoning and without', () => {
  const reader = openChatReader()
  reader.learn(asking, [thought, words, call])
  expect(reader.read([thought, words, call])).toEqual([asking.text])
  expect(reader.read([words, call].map((text) => text.replace(/"id":"[^"]*",/, '')))).toEqual([asking.text])
})

test('what was changed is a message with what was received of it', () => {
  const reader = openChatReader()
  reader.learn(asking, [thought, words, call])
  const cut = '{"type":"function_call_output","call_id":"a","output":"a [cut] b"}'
  const recap = '{"type":"message","role":"user","content":[{"type":"input_text","text":"of before"}]}'
  const developer = '{"type":"message","role":"developer","content":"Be brief."}'
  expect(reader.read([developer, recap, words.replace('look', 'see'), call, cut]).map(parsed)).toEqual([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'of before' },
    { role: 'assistant', content: 'I see.', tool_calls: [called] },
    { role: 'tool', tool_call_id: 'a', content: 'a [cut] b' },
  ])
})

test('two replies next to each other are two messages', () => {
  const reader = openChatReader()
  expect(reader.read([words, words]).length).toBe(2)
  expect(reader.read([thought, call, thought, call.replace('"a"', '"b"')]).length).toBe(2)
})

// --- internal ---

function parsed(text: string): unknown {
  return JSON.parse(text)
}
