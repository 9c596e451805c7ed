import fc from 'fast-check'

/** Texts of very different sizes: what agents read and write ranges from a word to a file. */
export const text = fc.oneof(
  { weight: 6, arbitrary: fc.string({ maxLength: 40 }) },
  { weight: 3, arbitrary: fc.integer({ min: 50, max: 900 }).map((length) => prose(length)) },
  { weight: 2, arbitrary: fc.integer({ min: 1_000, max: 12_000 }).map((length) => prose(length)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('', '\u001b[31mred\u001b[0m\rover', 'same\n'.repeat(400), '😀'.repeat(300)),
  },
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
  {
    weight: 1,
    arbitrary: fc.array(fc.oneof(textPart, mediaPart), { minLength: 2, maxLength: 6 }),
  },
)

/** A block of thoughts as Anthropic and those after it write them, to be sent back as it came. */
export const thoughtBlock = fc.oneof(
  fc.record({ type: fc.constant('thinking'), thinking: shortText, signature: fc.string() }),
  fc.record({ type: fc.constant('redacted_thinking'), data: fc.string() }),
)

/** Fields of an assistant message that count and that nobody may rewrite; mostly none. */
export const thoughts = fc.oneof(
  { weight: 6, arbitrary: fc.constant({}) },
  { weight: 2, arbitrary: shortText.map((value) => ({ reasoning_content: value })) },
  {
    weight: 1,
    arbitrary: shortText.map((value) => ({
      reasoning: value,
      reasoning_details: [{ type: 'reasoning.text', text: value, signature: 'c2ln' }],
    })),
  },
  {
    weight: 1,
    arbitrary: fc.array(thoughtBlock, { maxLength: 2 }).map((thinking_blocks) => ({ thinking_blocks })),
  },
  { weight: 1, arbitrary: shortText.map((refusal) => ({ refusal })) },
)

const functionCall = text.map((value) => ({
  type: 'function',
  function: { name: 'read_file', arguments: JSON.stringify({ path: 'src/a.ts', text: value }) },
}))

/** A call without its id: mostly a function's; now and then a custom tool's with its free text. */
export const call = fc.oneof(
  { weight: 5, arbitrary: functionCall },
  {
    weight: 1,
    arbitrary: text.map((input) => ({ type: 'custom', custom: { name: 'apply_patch', input } })),
  },
)

export function prose(length: number): string {
  let value = ''
  for (let index = length % words.length; value.length < length; index += 1) {
    value += `${words[index % words.length]}${index % 11 === 10 ? '\n' : ' '}`
  }
  return value.slice(0, length)
}

// --- internal ---

const words =
  'the build failed in src/queue/retry.ts at line 4821 because maxRetries was undefined and'.split(' ')
