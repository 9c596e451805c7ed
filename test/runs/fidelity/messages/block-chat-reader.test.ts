import { expect, test } from 'vitest'
import { entriesOf } from '../../replay/messages/read-block.ts'
import { rawMessage } from '../../replay/recordings.ts'
import { openBlockChatReader } from './block-chat-reader.ts'

const called = { id: 'a', type: 'function', function: { name: 'find', arguments: '{"at":1}' } }
// A spelling that a message which is written anew would not have.
const asking = rawMessage(
  `{"role": "assistant", "content":"I look.", "tool_calls":[${JSON.stringify(called)}]}`,
)

const thought = '{"type":"thinking","thinking":"","signature":"Eq"}'
const words = '{"type":"text","text":"I look."}'
const call = '{"type":"tool_use","id":"toolu_1","name":"find","input":{"at":1}}'
const result = '{"type":"tool_result","tool_use_id":"toolu_1","content":"a [cut] b"}'
const message = (role: string, ...blocks: string[]) => `{"role":"${role}","content":[${blocks.join(',')}]}`

test('a reply that came as it was sent is the recorded message, with its thinking and without', () => {
  const reader = openBlockChatReader()
  reader.learn(asking, entriesOf(message('assistant', thought, words, call)))
  const whole = message('assistant', thought, words, call)
  expect(reader.read([whole, message('assistant', words, call)])).toEqual([asking.text, asking.text])
})

test('what was changed is a message with what was received of it, under the recorded ids', () => {
  const reader = openBlockChatReader()
  reader.learn(asking, entriesOf(message('assistant', words, call)))
  const recap = '{"type":"text","text":"of before"}'
  const sent = [
    message('user', recap),
    message('assistant', words.replace('look', 'see'), call),
    message('user', result, recap),
    '{"role":"system","content":"Be brief."}',
  ]
  expect(reader.read(sent).map((text): unknown => JSON.parse(text))).toEqual([
    { role: 'user', content: 'of before' },
    { role: 'assistant', content: 'I see.', tool_calls: [called] },
    { role: 'tool', tool_call_id: 'a', content: 'a [cut] b' },
    { role: 'user', content: 'of before' },
    { role: 'system', content: 'Be brief.' },
  ])
})
