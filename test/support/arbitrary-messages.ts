import * as fc from 'fast-check'

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
