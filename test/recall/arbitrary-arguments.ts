import * as fc from 'fast-check'
import { anyCharacter } from '../support/any-character.ts'

/** Arguments of a call of the recall tool as any model might write them, sound or not. */
export const anyArguments: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc.json(),
  fc
    .record(
      { messages: fc.jsonValue(), search: fc.jsonValue(), offset: fc.jsonValue() },
      { requiredKeys: [] },
    )
    .map((value) => JSON.stringify(value)),
)
