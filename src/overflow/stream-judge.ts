import { classifyEnding, classifyInnerError, type WindowKnowledge } from './classify-completion.ts'
import { classifyError } from './classify-error.ts'
import type { Classification } from './classification.ts'
import { readCompletion, type Usage } from '../dialects/chat-completions/completion.ts'
import { collectErrorFacts } from './error-text.ts'
import type { ServerEvent } from '../dialects/event-reader.ts'
import { parseJsonText } from '../conversation/json-value.ts'

/**
 * What the stream has shown so far: `waiting` (nothing that counts), `output`, `ended` (a finish reason or `[DONE]`
 * that leaves nothing open), or `failed` with what that means.
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

/** Judges the events of a streamed chat completion one by one. */
export function createStreamJudge(knowledge: WindowKnowledge): StreamJudge {
  let hasOutput = false
  let finishReason: string | null = null
  let usage: Usage | null = null

  function accept({ name, data, error }: ServerEvent): Verdict {
    if (error !== '') return failedBy(error)
    if (data.trim() === '[DONE]') return { state: 'ended' }
    if (name === 'error') return failedBy(data)
    const chunk = parseJsonText(data)
    const facts = readCompletion(chunk)
    if (facts === null) {
      // Nothing that we can read: it is the client's to judge, and must not be held back for us.
      if (data.trim() !== '') hasOutput = true
      return { state: data.trim() === '' ? 'waiting' : 'output' }
    }
    hasOutput ||= facts.hasOutput
    usage = facts.usage ?? usage
    finishReason = facts.finishReason ?? finishReason
    if (facts.isError || facts.finishReason === 'error') {
      return { state: 'failed', classification: classifyInnerError(chunk, hasOutput, knowledge) }
    }
    if (facts.finishReason === 'model_context_window_exceeded') {
      return { state: 'failed', classification: ending() }
    }
    if (hasOutput) return { state: 'output' }
    // An answer that ends empty is decided by its usage, which may come in an event of its own.
    return { state: finishReason === null || usage === null ? 'waiting' : 'ended' }
  }

  function failedBy(text: string): Verdict {
    const classification = {
      ...classifyError(collectErrorFacts(text), 200, knowledge),
      afterOutput: hasOutput,
    }
    return { state: 'failed', classification }
  }

  function ending(): Classification {
    return classifyEnding({ hasOutput, finishReason, usage }, knowledge)
  }

  function isEmpty(): boolean {
    // LiteLLM adds up what it was not told: nothing.
    const isCounted = usage !== null && usage.promptTokens + (usage.completionTokens ?? 0) > 0
    return !hasOutput && !isCounted && (finishReason === null || finishReason === 'stop')
  }

  return { accept, ending, isEmpty }
}
