import { expect, test } from 'vitest'
import { entriesOf } from '../harness/messages.ts'
import { rawMessage } from '../harness/recordings.ts'
import { withoutId } from '../harness/responses.ts'
import { openBlockChatReader, openItemChatReader } from './chat-readers.ts'

const called = { id: 'a', type: 'function', function: { name: 'find', arguments: '{"at":1}' } }
// A spelling that a message which is written anew would not have.
const asking = rawMessage(
  `{"role": "assistant", "content":"I look.", "tool_calls":[${JSON.stringify(called)}]}`,
)
const said = (role: string, ...blocks: string[]) => `{"role":"${role}","content":[${blocks.join(',')}]}`
const parsed = (text: string): unknown => JSON.parse(text)

test('a reply of items is the recorded message, with its reasoning and without; changed, it is what came of it', () => {
  const thought = '{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gA"}'
  const words =
    '{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"I look."}]}'
  const call = '{"type":"function_call","id":"fc_1","call_id":"a","name":"find","arguments":"{\\"at\\":1}"}'
  const reader = openItemChatReader()
  reader.learn(asking, [thought, words, call])
  expect(reader.read([thought, words, call])).toEqual([asking.text])
  expect(reader.read([words, call].map(withoutId))).toEqual([asking.text])
  const cut = '{"type":"function_call_output","call_id":"a","output":"a [cut] b"}'
  const recap = '{"type":"message","role":"user","content":[{"type":"input_text","text":"of before"}]}'
  const developer = '{"type":"message","role":"developer","content":"Be brief."}'
  expect(reader.read([developer, recap, words.replace('look', 'see'), call, cut]).map(parsed)).toEqual([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'of before' },
    { role: 'assistant', content: 'I see.', tool_calls: [called] },
    { role: 'tool', tool_call_id: 'a', content: 'a [cut] b' },
  ])
  // Two replies next to each other are two messages.
  expect(reader.read([words, words])).toHaveLength(2)
  expect(reader.read([thought, call, thought, call.replace('"a"', '"b"')])).toHaveLength(2)
})

test('a reply of blocks is the recorded message, too, and its changed results stand under the recorded ids', () => {
  const thought = '{"type":"thinking","thinking":"","signature":"Eq"}'
  const words = '{"type":"text","text":"I look."}'
  const call = '{"type":"tool_use","id":"toolu_1","name":"find","input":{"at":1}}'
  const result = '{"type":"tool_result","tool_use_id":"toolu_1","content":"a [cut] b"}'
  const recap = '{"type":"text","text":"of before"}'
  const reader = openBlockChatReader()
  const whole = said('assistant', thought, words, call)
  reader.learn(asking, entriesOf(whole))
  expect(reader.read([whole, said('assistant', words, call)])).toEqual([asking.text, asking.text])
  const sent = [
    said('user', recap),
    said('assistant', words.replace('look', 'see'), call),
    said('user', result, recap),
    '{"role":"system","content":"Be brief."}',
  ]
  expect(reader.read(sent).map(parsed)).toEqual([
    { role: 'user', content: 'of before' },
    { role: 'assistant', content: 'I see.', tool_calls: [called] },
    { role: 'tool', tool_call_id: 'a', content: 'a [cut] b' },
    { role: 'user', content: 'of before' },
    { role: 'system', content: 'Be brief.' },
  ])
})
