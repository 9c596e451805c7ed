import type { AnswerFacts, Answers } from '../formats/answer-contract.ts'
import { parseAnswerText } from '../formats/answer-json.ts'
import { createEventReader, type ServerEvent } from '../formats/event-reader.ts'
import { createTextPieces } from '../formats/text-pieces.ts'
import type { Classification } from './classification.ts'
import { classifyFacts, joinEvents, type WindowKnowledge } from './classify.ts'

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

/**
 * Watches a streamed answer for its first output. Comments, deltas with only a role, empty contents, Azure's prompt
 * filter and usage decide nothing; content, reasoning, a refusal, audio or a call make it good; an error or an end
 * without output is judged. One that says nothing at all is only judged when no more can come.
 */
export function watchStream(answers: Answers, knowledge: WindowKnowledge): AnswerWatch {
  const { streamType } = answers
  const reader = createEventReader({ eventCharactersMax: answers.limits.undecidedCharactersMax, streamType })
  const stream = joinEvents(answers)
  let decision = undecided
  let characters = 0
  let hasEvents = false
  const beginning = createTextPieces()

  function feed(text: string): WatchDecision {
    if (decision.state !== 'undecided') return decision
    characters += text.length
    if (!hasEvents) beginning.add(text)
    takeAll(reader.feed(text))
    if (decision.state === 'undecided' && characters > answers.limits.undecidedCharactersMax) decision = good
    return decision
  }

  function end(): WatchDecision {
    if (decision.state === 'undecided') takeAll(reader.end())
    if (decision.state === 'undecided') {
      const text = beginning.joined()
      if (hasEvents ? saysNothing(stream.facts()) : isSilent(text)) decision = { state: 'empty' }
      // Some servers announce a stream and answer with a bare JSON error.
      else
        decision = decide(
          hasEvents ? stream.facts() : answers.read(parseAnswerText(bareJson(text))),
          knowledge,
        )
    }
    beginning.clear()
    return decision
  }

  function takeAll(events: readonly ServerEvent[]): void {
    for (const event of events) {
      hasEvents = true
      beginning.clear()
      const { kind } = stream.take(event)
      const facts = stream.facts()
      const { isError, hasOutput, finish, usage } = facts
      // An answer that ends empty is decided by its usage, which may come in an event of its own.
      const isEnded = kind === 'done' || (kind === 'facts' && finish !== null && usage !== null)
      if (isError || finish === 'window') decision = decide(facts, knowledge)
      else if (hasOutput) decision = good
      else if (isEnded && !saysNothing(facts)) decision = decide(facts, knowledge)
      if (decision.state !== 'undecided') return
    }
  }

  return { feed, end }
}

/** Watches a plain JSON answer, which can only be judged once it is complete. */
export function watchJson(answers: Answers, knowledge: WindowKnowledge): AnswerWatch {
  const pieces = createTextPieces()
  let facts: AnswerFacts | null = null
  return {
    feed: (text) => {
      pieces.add(text)
      return undecided
    },
    end: () => {
      facts = answers.read(parseAnswerText(pieces.joined()))
      pieces.clear()
      return decide(facts, knowledge)
    },
    facts: () => facts,
  }
}

// --- internal ---

const undecided: WatchDecision = { state: 'undecided' }
const good: WatchDecision = { state: 'good' }

function decide(facts: AnswerFacts | null, knowledge: WindowKnowledge): WatchDecision {
  const classification = classifyFacts(facts, knowledge)
  if (classification.afterOutput) return good
  if (classification.class === 'overflow') return { state: 'overflow', classification }
  return facts?.isError === true ? { state: 'refused', classification } : good
}

/** Whether a stream has said nothing so far: no output, no usage, and no reason to end but an ordinary one. */
function saysNothing({ hasOutput, usage, finish }: AnswerFacts): boolean {
  // LiteLLM adds up what it was not told: nothing.
  const isCounted = usage !== null && usage.promptTokens + (usage.completionTokens ?? 0) > 0
  return !hasOutput && !isCounted && (finish === null || finish === 'end')
}

/** Whether a stream without events holds at most comments. */
function isSilent(text: string): boolean {
  return text.split(/[\r\n]+/).every((line) => line.trim() === '' || line.startsWith(':'))
}

/** What follows the comments, if there were any. */
function bareJson(text: string): string {
  return text.slice(Math.max(0, text.search(/^[[{]/m)))
}
