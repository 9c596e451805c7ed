import { judgeJson, type WindowKnowledge } from './classify-ending.ts'
import { classifyError } from './classify-error.ts'
import type { Classification } from './classification.ts'
import { collectErrorFacts, collectErrorFactsFrom } from './error-text.ts'
import { parseJsonText } from '../json/json-value.ts'
import type { Answers } from '../formats/answer-contract.ts'
import { createEventReader } from '../formats/event-reader.ts'
import { createStreamJudge } from './stream-judge.ts'

export type WholeAnswer = {
  readonly status: number
  /** The `content-type` header; empty if there was none. */
  readonly contentType: string
  /** The decoded body, complete or as much of it as the caller holds. */
  readonly body: string
}

/** Says what an answer means. Success is class `other`, with the prompt's size where `usage` states it. */
export function classifyAnswer(
  { status, contentType, body }: WholeAnswer,
  answers: Answers,
  knowledge: WindowKnowledge = { knownWindowTokens: null },
): Classification {
  if (status < 200 || status >= 300) {
    // Some gateways state the error of a refusal where that of an answer stands, such as in a choice.
    const stated = answers.read(parseJsonText(body))?.said ?? null
    const facts = stated === null ? collectErrorFacts(body) : collectErrorFactsFrom(stated)
    return classifyError(facts, status, knowledge)
  }
  if (isEventStream(contentType, body)) return classifyStream(body, answers, knowledge)
  return judgeJson(body, answers, knowledge).classification
}

// --- internal ---

function isEventStream(contentType: string, body: string): boolean {
  const isNamed = contentType.toLowerCase().includes('text/event-stream')
  return isNamed ? !/^\s*[[{]/.test(body) : /^\s*(?:data|event|error|):/.test(body)
}

function classifyStream(body: string, answers: Answers, knowledge: WindowKnowledge): Classification {
  const reader = createEventReader({ eventCharactersMax: answers.limits.eventCharactersMax })
  const judge = createStreamJudge(answers, knowledge)
  let failure: Classification | null = null
  for (const event of [...reader.feed(body), ...reader.end()]) {
    const verdict = judge.accept(event)
    if (verdict.state === 'failed') failure ??= verdict.classification
  }
  // The usage behind a finish reason makes the overflow that it announced more precise.
  const ending = judge.ending()
  return ending.class === 'overflow' ? ending : (failure ?? ending)
}
