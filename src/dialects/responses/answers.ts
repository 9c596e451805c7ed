import type { Answers } from '../answer-contract.ts'
import { thoughtRefusalIn } from '../thought-refusals.ts'
import { readResponse } from './read-answer.ts'
import { isTellingEvent, openStream } from './read-stream.ts'
import { responseAsStream } from './reply/as-stream.ts'

/** Reads what a server answers to a request for a response, or for a compaction. */
export const responsesAnswers: Answers = {
  // The last event of a stream repeats all of its output, and the first ones the instructions and the tools.
  limits: {
    eventCharactersMax: 8 * 1024 * 1024,
    undecidedCharactersMax: 4 * 1024 * 1024,
    endingBytes: 256 * 1024,
  },
  read: readResponse,
  openStream,
  isTelling: isTellingEvent,
  asStream: responseAsStream,
  thoughtRefusal: thoughtRefusalIn,
  // Every stream states its usage.
  usageHider: null,
}
