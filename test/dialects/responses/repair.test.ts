import { expect, test } from 'vitest'
import { finish } from '../../../src/conversation/source.ts'
import { createFactsReader, readEntries } from '../../../src/dialects/entry-facts.ts'
import { responses } from '../../../src/dialects/responses/responses.ts'
import { bodyLimits } from '../../support/body-limits.ts'
import { digest, sourceOf } from '../../support/source.ts'

const user = { type: 'message', role: 'user', content: 'Look.' }
const mark = expect.objectContaining({ type: 'input_text' })

// A client may lose the call of a screenshot. The picture became a text of its base64, which no window holds.
test('a screenshot whose call is gone stays a picture', () => {
  const picture = { type: 'computer_screenshot', image_url: 'data:image/png;base64,AAAA' }
  expect(repaired([user, { type: 'computer_call_output', call_id: 'a', output: picture }])).toEqual([
    user,
    { type: 'message', role: 'user', content: [mark, { ...picture, type: 'input_image' }] },
  ])
})

test.each<[string, object, readonly object[]]>([
  ['a text', { type: 'function_call_output', output: 'seen' }, [{ type: 'input_text', text: 'seen' }]],
  [
    'parts',
    { type: 'function_call_output', output: [{ type: 'input_image', file_id: 'f' }] },
    [{ type: 'input_image', file_id: 'f' }],
  ],
  [
    'what a shell printed',
    {
      type: 'shell_call_output',
      output: [{ stdout: 'a', stderr: 'b', outcome: { type: 'exit', exit_code: 0 } }],
    },
    [{ type: 'input_text', text: 'a\nb' }],
  ],
])('an output whose call is gone is told as the user’s: %s', (_, output, said) => {
  expect(repaired([user, { ...output, call_id: 'a' }])[1]).toEqual({
    type: 'message',
    role: 'user',
    content: [mark, ...said],
  })
})

// --- internal ---

/** The items of an input as they are sent, repaired. */
function repaired(input: readonly object[]): readonly unknown[] {
  const source = sourceOf(JSON.stringify({ model: 'm', input }))
  const read = finish(responses.bodies.read(source, bodyLimits, null))
  if (!read.read) throw new Error('the body cannot be read')
  const reader = createFactsReader(digest, { entriesMax: 100 })
  const messages = finish(readEntries(responses, read.body.entrySpans, source, 'scope', reader))
  if (messages === null || messages === 'stateful') throw new Error('the items cannot be read')
  const items = finish(responses.rules.repair(source, messages))?.items ?? []
  return items.map((item): unknown => (item.kind === 'made' ? JSON.parse(item.json) : input[item.index]))
}
