import fc from 'fast-check'

const oddTexts = ['', '\u001b[31mred\u001b[0m\rover', 'same\n'.repeat(400), '😀'.repeat(300)]

/** Texts of very different sizes: what agents read and write ranges from a word to a file. */
export const text = fc.oneof(
  { weight: 6, arbitrary: fc.string({ maxLength: 40 }) },
  { weight: 3, arbitrary: fc.integer({ min: 50, max: 900 }).map((length) => prose(length)) },
  { weight: 2, arbitrary: fc.integer({ min: 1_000, max: 12_000 }).map((length) => prose(length)) },
  { weight: 1, arbitrary: fc.constantFrom(...oddTexts) },
)

/** Texts that mostly are short: what stands where Foldgate cuts nothing. */
export const shortText = fc.oneof(
  { weight: 4, arbitrary: fc.string({ maxLength: 40 }) },
  { weight: 1, arbitrary: fc.integer({ min: 50, max: 900 }).map((length) => prose(length)) },
)

const textPart = text.map((value) => ({ type: 'text', text: value }))

const mediaPart = fc.constantFrom<object[]>(
  { type: 'image_url', image_url: { url: 'https://images.example/a.png' } },
  { type: 'image_url', image_url: { url: 'https://images.example/b.png', detail: 'low' } },
  { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
  { type: 'hologram', hologram: 'x'.repeat(400) },
)

/** A content of any usual shape: text, none, parts with and without media. */
export const content = fc.oneof(
  { weight: 8, arbitrary: text },
  { weight: 1, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: textPart.map((part) => [part]) },
  { weight: 1, arbitrary: fc.tuple(textPart, mediaPart).map((parts): object[] => parts) },
  { weight: 1, arbitrary: fc.array(fc.oneof(textPart, mediaPart), { minLength: 2, maxLength: 6 }) },
)

/** A block of thoughts as Anthropic and those after it write them, to be sent back as it came. */
export const thoughtBlock = fc.oneof(
  fc.record({ type: fc.constant('thinking'), thinking: shortText, signature: fc.string() }),
  fc.record({ type: fc.constant('redacted_thinking'), data: fc.string() }),
)

const detailed = (value: string) => ({
  reasoning: value,
  reasoning_details: [{ type: 'reasoning.text', text: value, signature: 'c2ln' }],
})

/** Fields of an assistant message that count and that nobody may rewrite; mostly none. */
export const thoughts = fc.oneof(
  { weight: 6, arbitrary: fc.constant({}) },
  { weight: 2, arbitrary: shortText.map((value) => ({ reasoning_content: value })) },
  { weight: 1, arbitrary: shortText.map(detailed) },
  { weight: 1, arbitrary: fc.record({ thinking_blocks: fc.array(thoughtBlock, { maxLength: 2 }) }) },
  { weight: 1, arbitrary: shortText.map((refusal) => ({ refusal })) },
)

const functionCall = text.map((value) => ({
  type: 'function',
  function: { name: 'read_file', arguments: JSON.stringify({ path: 'src/a.ts', text: value }) },
}))

/** A call without its id: mostly a function's; now and then a custom tool's with its free text. */
export const call = fc.oneof(
  { weight: 5, arbitrary: functionCall },
  { weight: 1, arbitrary: text.map((input) => ({ type: 'custom', custom: { name: 'apply_patch', input } })) },
)

export function prose(length: number): string {
  let value = ''
  for (let index = length % words.length; value.length < length; index += 1) {
    value += `${words[index % words.length]}${index % 11 === 10 ? '\n' : ' '}`
  }
  return value.slice(0, length)
}

const answered = fc.record({ made: call, result: content })

const roundIds = Array.from({ length: 8 }, (_, index) => `call_${index + 1}`)

/** A tool round: mostly one to four calls, now and then eight at once. */
const round = fc
  .tuple(
    thoughts,
    fc.oneof(
      { weight: 6, arbitrary: fc.array(answered, { minLength: 1, maxLength: 4 }) },
      { weight: 1, arbitrary: fc.array(answered, { minLength: 5, maxLength: 8 }) },
    ),
    fc.shuffledSubarray(roundIds, { minLength: 8 }),
  )
  .map(([fields, calls, order]) => [
    {
      role: 'assistant',
      content: null,
      ...fields,
      tool_calls: calls.map(({ made }, index) => ({ id: order[index], ...made })),
    },
    ...calls.map(({ result }, index) => ({
      role: 'tool',
      tool_call_id: order[index],
      content: result ?? '',
    })),
  ])

/** A round of the kind before `tool_calls`, as libraries write it that know both. */
const legacyRound = fc.tuple(text, text).map(([input, result]) => {
  const called = { name: 'run', arguments: JSON.stringify({ input }) }
  return [
    { role: 'assistant', content: null, tool_calls: null, function_call: called },
    { role: 'function', name: 'run', content: result },
  ]
})

const user = content.map((value) => [{ role: 'user', content: value ?? '' }])
const assistant = fc
  .tuple(text, thoughts)
  .map(([value, fields]) => [{ role: 'assistant', content: value, ...fields }])
const spoken = shortText.map((id) => [{ role: 'assistant', content: null, audio: { id } }])
const system = text.map((value) => [{ role: 'system', content: value.slice(0, 400) }])

const running = (argumentsText: string, more: object = {}) => ({
  ...more,
  type: 'function',
  function: { name: 'run', arguments: argumentsText },
})

/** Conversations that break the rules: unanswered calls, orphan and repeated results, missing ids, empty lists. */
const broken = fc.oneof(
  fc.constant([{ role: 'assistant', content: null, tool_calls: [running('{', { id: 'call_9' })] }]),
  text.map((value) => [{ role: 'tool', tool_call_id: 'call_8', content: value }]),
  text.map((value) => [{ role: 'tool', content: value }]),
  fc.constant([{ role: 'assistant', content: 'x', tool_calls: [] }]),
  fc.constant([
    { role: 'assistant', tool_calls: [running('{}')] },
    { role: 'tool', content: 'no id' },
  ]),
  fc.constant([{ role: 'critic', content: 'unknown role' }]),
  text.map((value) => [{ role: 'assistant', content: { answer: value } }]),
)

const piece = fc.oneof(
  { weight: 8, arbitrary: round },
  { weight: 1, arbitrary: legacyRound },
  { weight: 3, arbitrary: user },
  { weight: 3, arbitrary: assistant },
  { weight: 1, arbitrary: spoken },
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

const callIds = fc.array(fc.constantFrom('a', 'b', 'c', undefined), { maxLength: 3 })

/** Messages of any role in any order: ids repeat, are missing, are answered late, twice or never. */
export const arbitraryMessages: fc.Arbitrary<readonly object[]> = fc.array(
  fc.oneof(
    fc.constantFrom('system', 'developer', 'user', 'critic').map((role) => ({ role, content: 'x' })),
    callIds.map((ids) => ({ role: 'assistant', tool_calls: ids.map((id) => ({ id, function: {} })) })),
    fc.constantFrom('a', 'b', 'c', undefined).map((id) => ({ role: 'tool', tool_call_id: id })),
    fc.constant({ role: 'assistant', content: 'x' }),
  ),
  { maxLength: 24 },
)

const words =
  'the build failed in src/queue/retry.ts at line 4821 because maxRetries was undefined and'.split(' ')
