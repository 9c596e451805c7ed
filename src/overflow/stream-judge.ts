import { classifyEnding, classifyInnerError, type WindowKnowledge } from './classify-ending.ts'
import type { Classification } from './classification.ts'
import type { AnswerFacts, Answers, Finish, Usage } from '../formats/answer-contract.ts'
import type { ServerEvent } from '../formats/event-reader.ts'

/**
 * What the stream has shown so far: `waiting` (nothing that counts), `output`, `ended` (an end that leaves
 * nothing open), or `failed` with what that means.
 */
type Verdict =
  | { readonly state: 'waiting' | 'output' | 'ended' }
  | { readonly state: 'failed'; readonly classification: Classification }

export type StreamJudge = {
  readonly accept: (event: ServerEvent) => Verdict
  /** What the stream amounts to when nothing more comes: success, or an overflow that only its end shows. */
  readonly ending: () => Classification
  /** Whether it has said nothing so far: no output, no usage, and no reason to end but an ordinary one. */
  readonly isEmpty: () => boolean
}

/** Judges the events of a streamed answer one by one. */
export function createStreamJudge(answers: Answers, knowledge: WindowKnowledge): StreamJudge {
  const read = answers.openStream()
  let hasOutput = false
  let finish: Finish | null = null
  let usage: Usage | null = null

  function accept(event: ServerEvent): Verdict {
    const said = read(event)
    switch (said.kind) {
      case 'done':
        return { state: 'ended' }
      case 'empty':
        return { state: 'waiting' }
      case 'unknown':
        // It is the client's to judge, and must not be held back for us.
        hasOutput = true
        return { state: 'output' }
      case 'facts':
        return acceptFacts(said.facts)
    }
  }

  function acceptFacts(facts: AnswerFacts): Verdict {
    hasOutput ||= facts.hasOutput
    usage = facts.usage ?? usage
    finish = facts.finish ?? finish
    if (facts.isError) {
      return { state: 'failed', classification: classifyInnerError(facts.said, hasOutput, knowledge) }
    }
    if (facts.finish === 'window') return { state: 'failed', classification: ending() }
    if (hasOutput) return { state: 'output' }
    // An answer that ends empty is decided by its usage, which may come in an event of its own.
    return { state: finish === null || usage === null ? 'waiting' : 'ended' }
  }

  function ending(): Classification {
    return classifyEnding({ hasOutput, finish, usage }, knowledge)
  }

  function isEmpty(): boolean {
    // LiteLLM adds up what it was not told: nothing.
    const isCounted = usage !== null && usage.promptTokens + (usage.completionTokens ?? 0) > 0
    return !hasOutput && !isCounted && (finish === null || finish === 'end')
  }

  return { accept, ending, isEmpty }
}
