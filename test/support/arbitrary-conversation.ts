import fc from 'fast-check'

/** Texts of very different sizes: what agents read and write ranges from a word to a file. */
const text = fc.oneof(
  { weight: 6, arbitrary: fc.string({ maxLength: 40 }) },
  { weight: 3, arbitrary: fc.integer({ min: 50, max: 900 }).map((length) => prose(length)) },
  { weight: 2, arbitrary: fc.integer({ min: 1_000, max: 12_000 }).map((length) => prose(length)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('', '\u001b[31mred\u001b[0m\rover', 'same\n'.repeat(400), '😀'.repeat(300)),
  },
)

const content = fc.oneof(
  { weight: 8, arbitrary: text },
  { weight: 1, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: text.map((value) => [{ type: 'text', text: value }]) },
  {
    weight: 1,
    arbitrary: text.map((value) => [
      { type: 'text', text: value },
      { type: 'image_url', image_url: { url: 'https://images.example/a.png' } },
    ]),
  },
)

const id = fc.constantFrom('call_1', 'call_2', 'call_3')

const round = fc
  .array(fc.record({ callId: id, size: text, result: content }), { minLength: 1, maxLength: 4 })
  .map((calls) => {
    const unique = calls.filter(
      (call, index) => calls.findIndex((other) => other.callId === call.callId) === index,
    )
    return [
      {
        role: 'assistant',
        content: null,
        tool_calls: unique.map((call) => ({
          id: call.callId,
          type: 'function',
          function: { name: 'read_file', arguments: JSON.stringify({ path: 'src/a.ts', text: call.size }) },
        })),
      },
      ...unique.map((call) => ({ role: 'tool', tool_call_id: call.callId, content: call.result ?? '' })),
    ]
  })

const user = content.map((value) => [{ role: 'user', content: value ?? '' }])
const assistant = text.map((value) => [{ role: 'assistant', content: value }])
const system = text.map((value) => [{ role: 'system', content: value.slice(0, 400) }])

/** Conversations that break the rules: unanswered calls, orphan and repeated results, missing ids, empty lists. */
const broken = fc.oneof(
  fc.constant([
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'call_9', type: 'function', function: { name: 'run', arguments: '{' } }],
    },
  ]),
  text.map((value) => [{ role: 'tool', tool_call_id: 'call_8', content: value }]),
  text.map((value) => [{ role: 'tool', content: value }]),
  fc.constant([{ role: 'assistant', content: 'x', tool_calls: [] }]),
  fc.constant([
    { role: 'assistant', tool_calls: [{ type: 'function', function: { name: 'run', arguments: '{}' } }] },
    { role: 'tool', content: 'no id' },
  ]),
  fc.constant([{ role: 'critic', content: 'unknown role' }]),
)

const piece = fc.oneof(
  { weight: 8, arbitrary: round },
  { weight: 3, arbitrary: user },
  { weight: 3, arbitrary: assistant },
  { weight: 1, arbitrary: system },
)

const valid = fc.array(piece, { maxLength: 24 }).map((pieces) => pieces.flat())
const any = fc
  .array(fc.oneof({ weight: 4, arbitrary: piece }, { weight: 1, arbitrary: broken }), { maxLength: 24 })
  .map((pieces) => pieces.flat())
const started = fc
  .tuple(fc.option(system, { nil: [] }), user, valid)
  .map(([first, task, rest]) => [...first, ...task, ...rest])

/** A conversation of any shape: well begun, without a beginning, broken, only system messages. */
export const conversation: fc.Arbitrary<readonly object[]> = fc
  .oneof(
    { weight: 5, arbitrary: started },
    { weight: 3, arbitrary: any },
    { weight: 1, arbitrary: fc.array(system, { maxLength: 4 }).map((pieces) => pieces.flat()) },
  )
  .filter((messages) => messages.length > 0)

// --- internal ---

const words =
  'the build failed in src/queue/retry.ts at line 4821 because maxRetries was undefined and'.split(' ')

function prose(length: number): string {
  let value = ''
  for (let index = length % words.length; value.length < length; index += 1) {
    value += `${words[index % words.length]}${index % 11 === 10 ? '\n' : ' '}`
  }
  return value.slice(0, length)
}
