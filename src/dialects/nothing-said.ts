import type { AnswerFacts } from './answer-contract.ts'

/** What an answer says that says nothing yet. */
export const nothingSaid: AnswerFacts = {
  hasOutput: false,
  finish: null,
  usage: null,
  model: null,
  isOllama: false,
  isError: false,
  removedThoughts: null,
  cacheMiss: null,
  said: null,
}
