import type { EntrySpan } from '../../src/conversation/body-spans.ts'
import type { Message, MessageFacts, ParsedMessage } from '../../src/conversation/message.ts'
import { finish, type Source, type Steps } from '../../src/conversation/source.ts'
import { chatCompletions } from '../../src/dialects/chat-completions/chat-completions.ts'
import type { EntryShape, Template, Violation } from '../../src/dialects/contract.ts'
import * as entryFacts from '../../src/dialects/entry-facts.ts'
import type { FactsReader } from '../../src/dialects/entry-facts.ts'
import * as answerWatch from '../../src/overflow/answer-watch.ts'
import * as classify from '../../src/overflow/classify.ts'
import * as tailObserver from '../../src/overflow/tail-observer.ts'
import { digest } from './source.ts'

// What takes a dialect, for tests that speak chat completions.

const { answers, rules } = chatCompletions

type Knowledge = Parameters<typeof classify.classifyAnswer>[2]

export function classifyAnswer(
  answer: classify.WholeAnswer,
  knowledge?: Knowledge,
): ReturnType<typeof classify.classifyAnswer> {
  return classify.classifyAnswer(answer, answers, knowledge)
}

export function watchStream(knowledge: NonNullable<Knowledge>): answerWatch.AnswerWatch {
  return answerWatch.watchStream(answers, knowledge)
}

export function watchJson(knowledge: NonNullable<Knowledge>): answerWatch.AnswerWatch {
  return answerWatch.watchJson(answers, knowledge)
}

export function createTailObserver(shape: 'stream' | 'json'): tailObserver.TailObserver {
  return tailObserver.createTailObserver(shape, answers)
}

export function parseMessage(source: Source, message: Message): ParsedMessage {
  return entryFacts.parseEntry(chatCompletions, source, message)
}

export function* readMessages(
  spans: readonly EntrySpan[],
  source: Source,
  scope: string,
  readFactsOf: FactsReader,
): Steps<readonly Message[] | null> {
  return ofChat(yield* entryFacts.readEntries(chatCompletions, spans, source, scope, readFactsOf))
}

export function* readFacts(source: Source, entry: EntrySpan): Steps<MessageFacts | null> {
  const hash = source.hash(entry.start, entry.end)
  return ofChat(yield* entryFacts.readFacts(chatCompletions, source, entry, digest, hash))
}

/** No message of a chat completion stands for something that only the server has. */
function ofChat<Read>(read: Read | 'stateful'): Read {
  if (read === 'stateful') throw new Error('a chat completion is never stateful')
  return read
}

export function violationsOf(entries: readonly EntryShape[], template: Template): readonly Violation[] {
  return finish(rules.violations(entries, template))
}
