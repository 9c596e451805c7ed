import * as fc from 'fast-check'
import { texts } from '../texts.ts'
import type { AnswerTexts } from './odd-answer.ts'

const odd = fc.oneof(
  fc.constantFrom<unknown>(null, '', 'a', [], {}, -1, 1e308, '\ud800', 'x'.repeat(100_000), 'completed'),
  fc.jsonValue({ maxDepth: 2 }),
)
const text = fc.oneof({ weight: 5, arbitrary: fc.string({ unit: 'grapheme', maxLength: 12 }) }, odd)
const place = fc.oneof({ weight: 5, arbitrary: fc.constantFrom(0, 1, 2) }, fc.constantFrom(-1, 1e9), odd)

const part = fc.record(
  { type: fc.oneof(fc.constantFrom('output_text', 'refusal'), odd), text, refusal: text, annotations: odd },
  { requiredKeys: ['type'] },
)

const item = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record(
      {
        type: fc.oneof(
          {
            weight: 8,
            arbitrary: fc.constantFrom('message', 'reasoning', 'function_call', 'web_search_call'),
          },
          odd,
        ),
        id: fc.oneof({ weight: 5, arbitrary: fc.constantFrom('a_1', 'a_2', 'a_3') }, odd),
        role: fc.constantFrom<unknown>('assistant', null),
        status: text,
        content: fc.oneof({ weight: 3, arbitrary: fc.array(part, { maxLength: 2 }) }, text),
        call_id: text,
        name: fc.oneof(fc.constantFrom('recall_conversation', 'f'), odd),
        arguments: fc.oneof(fc.constantFrom('{"query":"a"}', '{"que', '{}'), odd),
        summary: odd,
        encrypted_content: text,
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
      output_tokens: fc.nat({ max: 99 }),
      total_tokens: odd,
    },
    { requiredKeys: [] },
  ),
)

const response = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.record(
      {
        id: text,
        object: fc.oneof(fc.constantFrom('response', 'response.compaction'), odd),
        status: fc.oneof(fc.constantFrom('completed', 'incomplete', 'failed', 'in_progress'), odd),
        model: text,
        incomplete_details: fc.oneof(fc.constantFrom<unknown>(null, { reason: 'max_output_tokens' }), odd),
        error: fc.oneof(
          { weight: 3, arbitrary: fc.constant(null) },
          fc.constant({ code: 'context_length_exceeded', message: 'Your input exceeds the context window.' }),
          odd,
        ),
        output: fc.oneof({ weight: 8, arbitrary: fc.array(item, { maxLength: 4 }) }, odd),
        usage,
        store: fc.boolean(),
        input_transformations: odd,
      },
      { requiredKeys: [] },
    ),
  },
  { weight: 1, arbitrary: odd },
)

const names = texts`
  created ¦ in_progress ¦ completed ¦ incomplete ¦ failed ¦ output_item.added ¦ output_item.done ¦ content_part.added
  content_part.done ¦ output_text.delta ¦ output_text.done ¦ refusal.delta ¦ function_call_arguments.delta
  function_call_arguments.done ¦ reasoning_summary_text.delta ¦ telepathy.delta
`

const event = fc.oneof(
  {
    weight: 12,
    arbitrary: fc
      .record({
        name: fc.constantFrom(...names),
        isNamed: fc.boolean(),
        members: fc.record(
          {
            sequence_number: place,
            output_index: place,
            content_index: place,
            item_id: fc.oneof({ weight: 5, arbitrary: fc.constantFrom('a_1', 'a_2') }, odd),
            item,
            part,
            delta: text,
            text,
            arguments: text,
            response,
          },
          { requiredKeys: [] },
        ),
      })
      .map(({ name, isNamed, members }) => {
        const data = JSON.stringify({ type: `response.${name}`, ...members })
        return `${isNamed ? `event: response.${name}\n` : ''}data: ${data}\n\n`
      }),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      ...texts`
        data: [DONE]\n\n ¦ : ping\n\n ¦ event: error\ndata: {"error":{"code":"context_length_exceeded"}}\n\n ¦ data: {"\n\n
        event: ping\ndata: {}\n\n ¦ \n\n ¦ data: ${'['.repeat(50_000)}\n\n ¦ data: [${'{},'.repeat(200_000)}{}]\n\n
      `,
    ),
  },
)

/** What an upstream may say to a request for a response: as it should be, of wrong types, in a wrong order. */
export const responseTexts: AnswerTexts = {
  streamed: fc.array(event, { maxLength: 12 }).map((events) => events.join('')),
  plain: fc.oneof(
    { weight: 8, arbitrary: response.map((value) => JSON.stringify(value)) },
    { weight: 1, arbitrary: fc.constantFrom('', '{', 'null', '['.repeat(100_000), '<html>busy</html>') },
  ),
}
