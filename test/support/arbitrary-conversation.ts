import fc from 'fast-check'
import { call, content, shortText, text, thoughts } from './arbitrary-content.ts'

const answered = fc.record({ made: call, result: content })

/** A tool round: mostly one to four calls, now and then eight at once. */
const round = fc
  .tuple(
    thoughts,
    fc.oneof(
      { weight: 6, arbitrary: fc.array(answered, { minLength: 1, maxLength: 4 }) },
      { weight: 1, arbitrary: fc.array(answered, { minLength: 5, maxLength: 8 }) },
    ),
    fc.shuffledSubarray(['call_1', 'call_2', 'call_3', 'call_4', 'call_5', 'call_6', 'call_7', 'call_8'], {
      minLength: 8,
    }),
  )
  .map(([fields, calls, ids]) => [
    {
      role: 'assistant',
      content: null,
      ...fields,
      tool_calls: calls.map(({ made }, index) => ({ id: ids[index], ...made })),
    },
    ...calls.map(({ result }, index) => ({ role: 'tool', tool_call_id: ids[index], content: result ?? '' })),
  ])

/** A round of the kind before `tool_calls`, as libraries write it that know both. */
const legacyRound = fc.tuple(text, text).map(([input, result]) => [
  {
    role: 'assistant',
    content: null,
    tool_calls: null,
    function_call: { name: 'run', arguments: JSON.stringify({ input }) },
  },
  { role: 'function', name: 'run', content: result },
])

const user = content.map((value) => [{ role: 'user', content: value ?? '' }])
const assistant = fc
  .tuple(text, thoughts)
  .map(([value, fields]) => [{ role: 'assistant', content: value, ...fields }])
const spoken = shortText.map((id) => [{ role: 'assistant', content: null, audio: { id } }])
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
