import { classifyEnding, classifyInnerError, type WindowKnowledge } from './classify-completion.ts'
import { plainClassification, type Classification } from './classification.ts'
import type { Answers } from '../dialects/contract.ts'
import { parseJsonText } from '../conversation/json-value.ts'

export type JudgedJson = {
  /** The body states an error; otherwise it is an answer, if perhaps one that hides an overflow. */
  readonly isError: boolean
  readonly classification: Classification
}

/** Judges the body of a plain answer with status 200. What is no JSON is not ours to judge: no error, `other`. */
export function judgeJson(body: string, answers: Answers, knowledge: WindowKnowledge): JudgedJson {
  const facts = answers.read(parseJsonText(body))
  if (facts === null) return { isError: false, classification: plainClassification('other') }
  if (facts.error !== null)
    return { isError: true, classification: classifyInnerError(facts.error, facts.hasOutput, knowledge) }
  return { isError: false, classification: classifyEnding(facts, knowledge) }
}
