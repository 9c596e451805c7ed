import type { AnswerFacts, Answers } from '../formats/answer-contract.ts'
import { parseAnswerText } from '../formats/answer-json.ts'
import { createEventReader, type ServerEvent } from '../formats/event-reader.ts'
import { createTextPieces } from '../formats/text-pieces.ts'
import type { Classification } from './classification.ts'
import { classifyFacts, joinEvents } from './classify.ts'

/** What an answer that was passed on turned out to be. */
export type TailReport = Pick<
  AnswerFacts,
  /** The last usage that was stated: some servers repeat a growing one in every chunk. */
  'usage' | 'model' | 'isOllama' | 'isError' | 'removedThoughts' | 'cacheMiss'
> & {
  /** An overflow that came with or after the output: it teaches, and the answer stands. */
  readonly overflow: Classification | null
}

/**
 * Observes an answer that is being passed on, of either shape, without holding it up. It takes decoded text, cut anywhere, and
 * tells once what the answer turned out to be, when that is over.
 */
export function createTailObserver(shape: 'stream' | 'json', answers: Answers) {
  return shape === 'stream' ? observeStream(answers) : observeJson(answers)
}

/** What a plain answer turned out to be that was read before it was passed on; null if it says nothing. */
export function reportOf(facts: AnswerFacts | null): TailReport {
  // An answer to a prompt beyond the window that we believe in says that we are wrong, not the upstream.
  const classification = classifyFacts(facts, { knownWindowTokens: null })
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

/** A longer plain answer is passed on unread. */
const jsonCharactersMax = 8 * 1024 * 1024
/** The model stands in every chunk; whoever leaves it out of the first ones never names it. */
const eventsWithModelMax = 4

function observeStream(answers: Answers) {
  const reader = createEventReader({ ...answers.limits, streamType: answers.streamType })
  const stream = joinEvents(answers)
  let events = 0

  function take(event: ServerEvent): void {
    events++
    const namesModel = events <= eventsWithModelMax && stream.facts().model === null
    if (namesModel || answers.isTelling(event)) stream.take(event)
  }

  return {
    feed: (text: string): void => reader.feed(text).forEach(take),
    end: (): TailReport => {
      reader.end().forEach(take)
      // Most of what has output in it was not read.
      return reportOf({ ...stream.facts(), hasOutput: true })
    },
  }
}

function observeJson(answers: Answers) {
  const pieces = createTextPieces()
  let characters = 0
  return {
    feed: (text: string): void => {
      characters += text.length
      if (characters <= jsonCharactersMax) pieces.add(text)
      else pieces.clear()
    },
    end: (): TailReport => {
      const report = reportOf(answers.read(parseAnswerText(pieces.joined())))
      pieces.clear()
      return report
    },
  }
}
