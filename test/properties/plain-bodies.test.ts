import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { isJsonObject } from '../../src/conversation/json-value.ts'
import { finish } from '../../src/conversation/source.ts'
import { chatCompletions } from '../../src/dialects/chat-completions/chat-completions.ts'
import type { Dialect } from '../../src/dialects/contract.ts'
import { createFactsReader, readEntries } from '../../src/dialects/entry-facts.ts'
import { messages } from '../../src/dialects/messages/messages.ts'
import { responses } from '../../src/dialects/responses/responses.ts'
import { bodyLimits } from '../support/body-limits.ts'
import { digest, sourceOf } from '../support/source.ts'
import { forAll, weighed, propertyRuns } from '../support/property-runs.ts'

const text = fc.constantFrom('', 'Ask.', 'ä"😀', 'x-anthropic-billing-header: cc_version=2.1; cch=1;')
const pixel = 'data:image/png;base64,iVBORw0KGgo='
const partType = fc.constantFrom(
  ...'text input_text output_text tool_use tool_result image_url refusal'.split(' '),
)
const part = fc.record(
  {
    type: partType,
    text: fc.oneof(weighed(5, text), fc.constantFrom(null, 7)),
    id: fc.constantFrom('a', 'b', 7),
    tool_use_id: fc.constantFrom('a', 'b', null),
    name: fc.constantFrom('look', null),
    input: fc.constantFrom({}, 'x', null),
    content: fc.oneof(text, fc.constantFrom(null, [], [{ type: 'text', text: 'It is.' }])),
    image_url: fc.constant({ url: pixel }),
    cache_control: fc.constant({ type: 'ephemeral' }),
  },
  { requiredKeys: ['type', 'text'] },
)
const content = fc.oneof(text, fc.array(part, { maxLength: 3 }), fc.constantFrom(null, 7, {}, 'Ask.'))
const call = { id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } }
const entry = fc.record(
  {
    role: fc.constantFrom('system', 'developer', 'user', 'assistant', 'tool', 'function', 'critic', '', 7),
    content,
    type: fc.constantFrom(
      'message',
      'function_call',
      'function_call_output',
      'reasoning',
      'item_reference',
      7,
    ),
    tool_calls: fc.constantFrom(null, [], [call], [{ id: 7 }], 'x'),
    function_call: fc.constantFrom(null, { name: 'look', arguments: '{}' }, 7),
    tool_call_id: fc.constantFrom('a', null, 7),
    call_id: fc.constantFrom('a', null, 7),
    id: fc.constantFrom('msg_1', null),
    name: fc.constantFrom('look', null, 7),
    arguments: fc.constantFrom('{}', '{', null, 7),
    output: fc.oneof(text, fc.array(part, { maxLength: 2 }), fc.constantFrom(null, 7)),
    audio: fc.constantFrom(null, { id: 'audio_1' }),
    reasoning_content: fc.constantFrom('I think.', null),
  },
  { requiredKeys: [] },
)
const block = fc.constantFrom(
  { type: 'text', text: 'It is.' },
  { type: 'tool_use', id: 'a', name: 'look', input: {} },
  { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'It is.' }] },
  { type: 'tool_result', tool_use_id: 'a' },
)
const plainEntry = fc.record({
  role: fc.constantFrom('user', 'assistant'),
  content: fc.oneof(text, fc.array(block, { minLength: 1, maxLength: 3 })),
})
const history = fc.oneof(
  fc.array(fc.oneof(weighed(6, plainEntry), entry), { maxLength: 4 }),
  text,
  fc.constantFrom(null, 7),
)
const limit = fc.constantFrom(null, 0, 77, 1.5, -1, '77')
const around = fc.record(
  {
    system: fc.oneof(weighed(4, text), content),
    instructions: fc.oneof(weighed(4, text), content),
    tools: fc.constantFrom(null, [], 7),
    stream: fc.constantFrom(true, false, null, 7),
    max_tokens: limit,
    max_completion_tokens: limit,
    max_output_tokens: limit,
    thread: fc.constantFrom(null, null, null, null, 'thread_1'),
    container: fc.constantFrom(null, null, null, null, 'container_1'),
    context_management: fc.constantFrom(
      null,
      null,
      null,
      [],
      {},
      { edits: [{ type: 'clear_tool_uses_20250919' }] },
      [{ type: 'compaction' }],
    ),
    previous_response_id: fc.constantFrom(null, null, null, null, 'resp_0'),
    conversation: fc.constantFrom(null, null, null, null, 'conv_0'),
    prompt: fc.constantFrom(null, null, null, null, { id: 'pmpt_0' }),
  },
  { requiredKeys: [] },
)

const dialects: readonly (readonly [string, string, Dialect])[] = [
  ['chat completions', 'messages', chatCompletions],
  ['messages', 'messages', messages],
  ['responses', 'input', responses],
]

// A call in a user's message had an outline, though what it takes beside its text is not known.
test.each(dialects)(
  'a body of %s that has an outline is read, and is as plain as that says',
  (_, field, dialect) => {
    let plain = 0
    forAll(2_000, history, around, fc.constantFrom('m', 'm', '', 7), (entries, fields, model) => {
      const written = JSON.stringify({ model, ...fields, [field]: entries })
      const parsed: unknown = JSON.parse(written)
      const outline = isJsonObject(parsed) ? dialect.bodies.outline(parsed) : null
      if (outline === null) return
      plain += 1
      const source = sourceOf(written)
      const found = finish(dialect.bodies.read(source, bodyLimits, null))
      if (!found.read) expect.fail(found.reason)
      const { body } = found
      expect(outline).toEqual({ model: body.model, outputTokens: body.outputLimit?.tokens ?? null })
      expect(body.billingLine).toBeNull()
      const reader = createFactsReader(digest, { entriesMax: 100 })
      const read = finish(readEntries(dialect, body.entrySpans, source, 'scope', reader))
      if (read === null || read === 'stateful') expect.fail(String(read))
      expect(read.flatMap(({ facts }) => facts.media)).toEqual([])
    })
    expect(plain).toBeGreaterThan(propertyRuns(50))
  },
)
