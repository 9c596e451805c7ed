import { judgeJson, type JudgedJson, type WindowKnowledge } from './classify-ending.ts'
import type { Classification } from './classification.ts'
import type { AnswerFacts, Answers } from '../formats/answer-contract.ts'
import { createEventReader, type ServerEvent } from '../formats/event-reader.ts'
import { createStreamJudge } from './stream-judge.ts'
import { createTextPieces } from '../formats/text-pieces.ts'

/**
 * Whether an answer with status 200 that is still held back may be passed on. `overflow`: nothing of it has reached
 * the client and a smaller request may do. `refused`: another error, before any output. `empty`: a stream that ended
 * with nothing, as some servers end one whose prompt is too long.
 */
export type WatchDecision =
  | { readonly state: 'undecided' | 'good' | 'empty' }
  | { readonly state: 'overflow' | 'refused'; readonly classification: Classification }

export type AnswerWatch = {
  /** Takes decoded text, cut anywhere. After a decision it repeats that decision. */
  readonly feed: (text: string) => WatchDecision
  /** The answer is complete (or no longer worth holding): never undecided. */
  readonly end: () => WatchDecision
  /** What a plain answer says that was read to its end; null of any other. */
  readonly facts?: () => AnswerFacts | null
}

/** A plain answer that is longer has output in it. */
const heldJsonCharactersMax = 4 * 1024 * 1024

/**
 * Watches a streamed answer for its first output. Comments, deltas with only a role, empty contents, Azure's prompt
 * filter and usage decide nothing; content, reasoning, a refusal, audio or a call make it good; an error or an end
 * without output is judged. One that says nothing at all is only judged when no more can come.
 */
export function watchStream(answers: Answers, knowledge: WindowKnowledge): AnswerWatch {
  const reader = createEventReader({ eventCharactersMax: answers.limits.undecidedCharactersMax })
  const judge = createStreamJudge(answers, knowledge)
  let decision: WatchDecision = { state: 'undecided' }
  let characters = 0
  let hasEvents = false
  const unread = createTextPieces()

  function feed(text: string): WatchDecision {
    if (decision.state !== 'undecided') return decision
    characters += text.length
    if (!hasEvents) unread.add(text)
    judgeAll(reader.feed(text))
    if (decision.state === 'undecided' && characters > answers.limits.undecidedCharactersMax)
      decision = { state: 'good' }
    return decision
  }

  function end(): WatchDecision {
    if (decision.state === 'undecided') judgeAll(reader.end())
    if (decision.state === 'undecided') {
      const text = unread.joined()
      if (hasEvents ? judge.isEmpty() : isSilent(text)) decision = { state: 'empty' }
      // Some servers announce a stream and answer with a bare JSON error.
      else
        decision = hasEvents
          ? decideEnding(judge.ending())
          : decideJson(judgeJson(bareJson(text), answers, knowledge))
    }
    unread.clear()
    return decision
  }

  function judgeAll(events: readonly ServerEvent[]): void {
    for (const event of events) {
      hasEvents = true
      unread.clear()
      const verdict = judge.accept(event)
      if (verdict.state === 'output') decision = { state: 'good' }
      else if (verdict.state === 'ended' && !judge.isEmpty()) decision = decideEnding(judge.ending())
      else if (verdict.state === 'failed') decision = decideFailed(verdict.classification)
      if (decision.state !== 'undecided') return
    }
  }

  return { feed, end }
}

/** Watches a plain JSON answer, which can only be judged once it is complete. */
export function watchJson(answers: Answers, knowledge: WindowKnowledge): AnswerWatch {
  const pieces = createTextPieces()
  let characters = 0
  let decision: WatchDecision = { state: 'undecided' }
  let facts: AnswerFacts | null = null

  function feed(text: string): WatchDecision {
    if (decision.state !== 'undecided') return decision
    characters += text.length
    pieces.add(text)
    if (characters > heldJsonCharactersMax) {
      decision = { state: 'good' }
      pieces.clear()
    }
    return decision
  }

  function end(): WatchDecision {
    if (decision.state === 'undecided') {
      const judged = judgeJson(pieces.joined(), answers, knowledge)
      decision = decideJson(judged)
      facts = judged.facts
    }
    pieces.clear()
    return decision
  }

  return { feed, end, facts: () => facts }
}

// --- internal ---

/** Whether a stream without events holds at most comments. */
function isSilent(text: string): boolean {
  return text.split(/[\r\n]+/).every((line) => line.trim() === '' || line.startsWith(':'))
}

/** What follows the comments, if there were any. */
function bareJson(text: string): string {
  return text.slice(Math.max(0, text.search(/^[[{]/m)))
}

function decideJson({ facts, classification }: JudgedJson): WatchDecision {
  return facts?.isError === true ? decideFailed(classification) : decideEnding(classification)
}

function decideEnding(classification: Classification): WatchDecision {
  return classification.class === 'overflow' ? decideFailed(classification) : { state: 'good' }
}

function decideFailed(classification: Classification): WatchDecision {
  if (classification.afterOutput) return { state: 'good' }
  return { state: classification.class === 'overflow' ? 'overflow' : 'refused', classification }
}
