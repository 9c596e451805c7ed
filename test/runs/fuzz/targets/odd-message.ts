import * as fc from 'fast-check'
import { texts } from '../texts.ts'
import type { AnswerTexts } from './odd-answer.ts'

const odd = fc.oneof(
  fc.constantFrom<unknown>(null, '', 'a', [], {}, -1, 1e308, '\ud800', 'x'.repeat(100_000), 'end_turn'),
  fc.jsonValue({ maxDepth: 2 }),
)
const text = fc.oneof({ weight: 5, arbitrary: fc.string({ unit: 'grapheme', maxLength: 12 }) }, odd)
const place = fc.oneof({ weight: 5, arbitrary: fc.constantFrom(0, 1, 2) }, fc.constantFrom(-1, 1e9), odd)

const block = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record(
      {
        type: fc.oneof(
          {
            weight: 8,
            arbitrary: fc.constantFrom(
              'text',
              'thinking',
              'redacted_thinking',
              'tool_use',
              'server_tool_use',
              'compaction',
              'telepathy',
            ),
          },
          odd,
        ),
        id: fc.oneof({ weight: 5, arbitrary: fc.constantFrom('toolu_1', 'toolu_2') }, odd),
        text,
        thinking: text,
        signature: text,
        data: text,
        name: fc.oneof(fc.constantFrom('recall_conversation', 'f'), odd),
        input: fc.oneof(fc.constantFrom<unknown>({}, { search: 'a' }), odd),
        citations: odd,
        content: odd,
      },
      { requiredKeys: ['type'] },
    ),
  },
  { weight: 1, arbitrary: odd },
)

const usage = fc.oneof(
  odd,
  fc.record(
    {
      input_tokens: fc.oneof(fc.nat({ max: 5_000 }), odd),
      cache_read_input_tokens: fc.oneof(fc.nat({ max: 5_000 }), odd),
      cache_creation_input_tokens: odd,
      output_tokens: fc.nat({ max: 99 }),
      iterations: fc.oneof(
        fc.array(fc.record({ type: fc.constantFrom('message', 'compaction'), input_tokens: odd }), {
          maxLength: 3,
        }),
        odd,
      ),
    },
    { requiredKeys: [] },
  ),
)

const reason = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom<unknown>(
      null,
      'end_turn',
      'max_tokens',
      'tool_use',
      'refusal',
      'pause_turn',
      'model_context_window_exceeded',
    ),
  },
  odd,
)

const error = fc.oneof(
  { weight: 3, arbitrary: fc.constant(null) },
  fc.constant({ type: 'invalid_request_error', message: 'prompt is too long: 5000 tokens > 2000 maximum' }),
  odd,
)

const message = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.record(
      {
        id: text,
        type: fc.oneof(fc.constantFrom('message', 'error'), odd),
        role: fc.constantFrom<unknown>('assistant', null),
        model: text,
        content: fc.oneof({ weight: 8, arbitrary: fc.array(block, { maxLength: 4 }) }, odd),
        stop_reason: reason,
        error,
        usage,
        input_transformations: odd,
        diagnostics: odd,
      },
      { requiredKeys: [] },
    ),
  },
  { weight: 1, arbitrary: odd },
)

const names = texts`
  message_start ¦ content_block_start ¦ content_block_delta ¦ content_block_stop ¦ message_delta ¦ message_stop ¦ ping
  telepathy_delta
`

const delta = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record(
      {
        type: fc.constantFrom(
          'text_delta',
          'thinking_delta',
          'signature_delta',
          'input_json_delta',
          'citations_delta',
          'compaction_delta',
        ),
        text,
        thinking: text,
        signature: text,
        partial_json: fc.oneof(fc.constantFrom('{"search":', '"a"}', '{}'), text),
        citation: odd,
        content: odd,
        stop_reason: reason,
        stop_sequence: odd,
      },
      { requiredKeys: [] },
    ),
  },
  { weight: 1, arbitrary: odd },
)

const event = fc.oneof(
  {
    weight: 12,
    arbitrary: fc
      .record({
        name: fc.constantFrom(...names),
        isNamed: fc.boolean(),
        members: fc.record(
          { index: place, content_block: block, delta, usage, message },
          { requiredKeys: [] },
        ),
      })
      .map(({ name, isNamed, members }) => {
        const data = JSON.stringify({ type: name, ...members })
        return `${isNamed ? `event: ${name}\n` : ''}data: ${data}\n\n`
      }),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      ...texts`
        data: [DONE]\n\n ¦ : ping\n\n ¦ event: error\ndata: {"type":"error","error":{"type":"overloaded_error"}}\n\n
        data: {"\n\n ¦ event: message_stop\ndata: {}\n\n ¦ \n\n ¦ data: ${'['.repeat(50_000)}\n\n
        data: [${'{},'.repeat(200_000)}{}]\n\n
      `,
    ),
  },
)

/** What an upstream may say to a request for a message: as it should be, of wrong types, in a wrong order. */
export const messageTexts: AnswerTexts = {
  streamed: fc.array(event, { maxLength: 12 }).map((events) => events.join('')),
  plain: fc.oneof(
    { weight: 8, arbitrary: message.map((value) => JSON.stringify(value)) },
    { weight: 1, arbitrary: fc.constantFrom('', '{', 'null', '['.repeat(100_000), '<html>busy</html>') },
  ),
}
