import { classifyEnding, classifyInnerError, judgeFacts } from './classify-ending.ts'
import type { Classification } from './classification.ts'
import type {
  AnswerFacts,
  Answers,
  CacheMiss,
  Finish,
  RemovedThoughts,
  Usage,
} from '../formats/answer-contract.ts'
import { parseAnswerText } from '../formats/answer-json.ts'
import { createEventReader, type ServerEvent } from '../formats/event-reader.ts'
import { createTextPieces } from '../formats/text-pieces.ts'

/** What an answer that was passed on turned out to be. */
export type TailReport = {
  /** The last usage that was stated: some servers repeat a growing one in every chunk. */
  readonly usage: Usage | null
  /** The model that the server says has answered. */
  readonly model: string | null
  /** The server says that it is Ollama. */
  readonly isOllama: boolean
  /** An overflow that came with or after the output: it teaches, and the answer stands. */
  readonly overflow: Classification | null
  /** The stream stated an error of any kind. */
  readonly isError: boolean
  /** Thoughts that were left out of the prompt; null if the server does not say. */
  readonly removedThoughts: RemovedThoughts | null
  /** Why less than hoped was in the prompt cache; null if the server does not say. */
  readonly cacheMiss: CacheMiss | null
}

export type TailObserver = {
  /** Takes decoded text, cut anywhere. */
  readonly feed: (text: string) => void
  /** The answer is over; may be called once. */
  readonly end: () => TailReport
}

/** A longer plain answer is passed on unread. */
const jsonCharactersMax = 8 * 1024 * 1024
/** The model stands in every chunk; whoever leaves it out of the first ones never names it. */
const eventsWithModelMax = 4

/** Observes an answer that is being passed on, of either shape, without holding it up. */
export function createTailObserver(shape: 'stream' | 'json', answers: Answers): TailObserver {
  return shape === 'stream' ? observeStream(answers) : observeJson(answers)
}

/** What a plain answer turned out to be that was read before it was passed on; null if it says nothing. */
export function reportOf(facts: AnswerFacts | null): TailReport {
  const { classification } = judgeFacts(facts, nothingKnown)
  return {
    usage: facts?.usage ?? null,
    model: facts?.model ?? null,
    isOllama: facts?.isOllama ?? false,
    overflow: classification.class === 'overflow' ? classification : null,
    isError: facts?.isError === true,
    removedThoughts: facts?.removedThoughts ?? null,
    cacheMiss: facts?.cacheMiss ?? null,
  }
}

// --- internal ---

/** An answer with output to a prompt beyond the window that we believe in says that we are wrong, not the upstream. */
const nothingKnown = { knownWindowTokens: null }

function observeStream(answers: Answers): TailObserver {
  const reader = createEventReader({ eventCharactersMax: answers.limits.eventCharactersMax })
  const read = answers.openStream()
  let usage: Usage | null = null
  let finish: Finish | null = null
  let model: string | null = null
  let isOllama = false
  let failure: Classification | null = null
  let removedThoughts: RemovedThoughts | null = null
  let cacheMiss: CacheMiss | null = null
  let events = 0

  function feed(text: string): void {
    for (const event of reader.feed(text)) take(event)
  }

  function end(): TailReport {
    for (const event of reader.end()) take(event)
    const ending = classifyEnding({ hasOutput: true, finish, usage }, nothingKnown)
    const overflow = [ending, failure].find((each) => each?.class === 'overflow') ?? null
    return { usage, model, isOllama, overflow, isError: failure !== null, removedThoughts, cacheMiss }
  }

  function take(event: ServerEvent): void {
    events++
    const namesModel = model === null && events <= eventsWithModelMax
    if (!namesModel && !answers.isTelling(event)) return
    const said = read(event)
    if (said.kind !== 'facts') return
    const { facts } = said
    usage = facts.usage ?? usage
    finish = facts.finish ?? finish
    model ??= facts.model
    isOllama ||= facts.isOllama
    removedThoughts = facts.removedThoughts ?? removedThoughts
    cacheMiss = facts.cacheMiss ?? cacheMiss
    if (facts.isError) failure ??= classifyInnerError(facts.said, true)
  }

  return { feed, end }
}

function observeJson(answers: Answers): TailObserver {
  const pieces = createTextPieces()
  let characters = 0

  function feed(text: string): void {
    characters += text.length
    if (characters <= jsonCharactersMax) pieces.add(text)
    else pieces.clear()
  }

  function end(): TailReport {
    const report = reportOf(answers.read(parseAnswerText(pieces.joined())))
    pieces.clear()
    return report
  }

  return { feed, end }
}
