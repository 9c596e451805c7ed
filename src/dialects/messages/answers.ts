import type { Answers } from '../answer-contract.ts'
import { thoughtRefusalIn } from '../thought-refusals.ts'
import { readMessageAnswer } from './read-answer.ts'
import { isTellingMessageEvent, openMessageStream } from './read-stream.ts'
import { messageAsStream } from './reply/as-stream.ts'

/** Reads what a server answers to a request for a message. */
export const messagesAnswers: Answers = {
  // What was left out of a prompt stands in the first event, block by block; longer ones hold media.
  limits: { eventCharactersMax: 4 * 1024 * 1024, undecidedCharactersMax: 1024 * 1024, endingBytes: 4_096 },
  read: readMessageAnswer,
  openStream: openMessageStream,
  isTelling: isTellingMessageEvent,
  asStream: messageAsStream,
  thoughtRefusal: thoughtRefusalIn,
  // Every stream states its usage.
  usageHider: null,
}
