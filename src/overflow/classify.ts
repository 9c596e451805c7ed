import type { AnswerEvent, AnswerFacts, Answers } from '../formats/answer-contract.ts'
import { nothingSaid, parseAnswerText } from '../formats/answer-json.ts'
import { createEventReader, type ServerEvent } from '../formats/event-reader.ts'
import { parseJsonText } from '../json/json-value.ts'
import { plainClassification, type Classification } from './classification.ts'
import { classifyError, type ErrorKnowledge } from './classify-error.ts'
import { collectErrorFacts, collectErrorFactsFrom } from './error-text.ts'

export type WholeAnswer = {
  readonly status: number
  /** The `content-type` header; empty if there was none. */
  readonly contentType: string
  /** The decoded body, complete or as much of it as the caller holds. */
  readonly body: string
}

export type WindowKnowledge = ErrorKnowledge & {
  /**
   * The window that the model is known to have, in the server's tokens; null where it is a guess. With it, answers
   * that hide an overflow are seen: an empty one that ends with `length`, or a prompt larger than the window. They do not
   * state it: it is still only what we believe.
   */
  readonly knownWindowTokens: number | null
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
  if (!isEventStream(contentType, body)) return classifyFacts(answers.read(parseAnswerText(body)), knowledge)
  const reader = createEventReader({ ...answers.limits, streamType: answers.streamType })
  const stream = joinEvents(answers)
  for (const event of [...reader.feed(body), ...reader.end()]) stream.take(event)
  return classifyFacts(stream.facts(), knowledge)
}

/**
 * What an answer with status 200 means by what it says: an error, success, or an overflow that only its end shows. Null is
 * what is not ours to judge: no JSON, or no answer.
 */
export function classifyFacts(facts: AnswerFacts | null, knowledge: WindowKnowledge): Classification {
  if (facts === null) return plainClassification('other')
  const error = facts.isError
    ? {
        ...classifyError(collectErrorFactsFrom(facts.said), 200, knowledge),
        afterOutput: facts.hasOutput,
      }
    : null
  const isOfEnding = error === null || (facts.finish === 'window' && error.class !== 'overflow')
  return isOfEnding ? classifyEnding(facts, knowledge) : error
}

/** Joins what the events of one streamed answer say: the newest word stands, but the first model and the first error. */
export function joinEvents(answers: Answers) {
  const read = answers.openStream()
  let all = nothingSaid
  return {
    /** Returns what the event says by itself. */
    take: (event: ServerEvent): AnswerEvent => {
      const said = read(event)
      if (said.kind === 'facts') all = joined(all, said.facts)
      // It is the client's to judge, and must not be held back for us.
      else if (said.kind === 'unknown' && !all.isError) all = { ...all, hasOutput: true }
      return said
    },
    facts: (): AnswerFacts => all,
  }
}

// --- internal ---

function joined(before: AnswerFacts, now: AnswerFacts): AnswerFacts {
  return {
    // Output behind an error is none that came before it.
    hasOutput: before.hasOutput || (!before.isError && now.hasOutput),
    finish: now.finish ?? before.finish,
    usage: now.usage ?? before.usage,
    model: before.model ?? now.model,
    isOllama: before.isOllama || now.isOllama,
    isError: before.isError || now.isError,
    removedThoughts: now.removedThoughts ?? before.removedThoughts,
    cacheMiss: now.cacheMiss ?? before.cacheMiss,
    said: before.isError ? before.said : now.said,
  }
}

/** An empty answer that ends with `length` is an overflow when the prompt fills this share of the window (pi's rule). */
const fullShareMin = 0.99

function classifyEnding(
  { hasOutput, finish, usage }: AnswerFacts,
  { knownWindowTokens }: WindowKnowledge,
): Classification {
  const isCounted = usage !== null && usage.isSum !== true && usage.promptTokens > 0
  const plain: Classification = {
    ...plainClassification('other'),
    promptTokens: isCounted ? { tokens: usage.promptTokens, exact: true } : null,
    completionTokens: isCounted ? usage.completionTokens : null,
    afterOutput: hasOutput,
  }
  const overflow: Classification = { ...plain, class: 'overflow', remedy: 'compact' }
  // What prompt and reply come to would be the window, if it were counted whole: it is stated nowhere.
  if (finish === 'window') return overflow
  if (knownWindowTokens === null || usage === null || usage.isSum === true) return plain
  const isEmpty = !hasOutput && (usage.completionTokens ?? 0) === 0
  const isFull = finish === 'length' && isEmpty && usage.promptTokens >= fullShareMin * knownWindowTokens
  // Z.ai takes a prompt beyond the window without a word; LM Studio answers it with nothing (its tracker, #2339).
  const isHidden = isFull || usage.promptTokens > knownWindowTokens
  return isHidden ? { ...overflow, window: { tokens: knownWindowTokens, kind: 'total' } } : plain
}

function isEventStream(contentType: string, body: string): boolean {
  const isNamed = contentType.toLowerCase().includes('text/event-stream')
  return isNamed ? !/^\s*[[{]/.test(body) : /^\s*(?:data|event|error|):/.test(body)
}
