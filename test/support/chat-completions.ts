import type { EntrySpan } from '../../src/json/body-spans.ts'
import type { Message, MessageFacts, ParsedMessage } from '../../src/conversation/message.ts'
import { runAtOnce, type Source, type Pausable } from '../../src/json/source.ts'
import { chatCompletions } from '../../src/formats/chat/chat.ts'
import type { EntryShape, Violation } from '../../src/formats/contract.ts'
import * as entryFacts from '../../src/formats/entry-facts.ts'
import type { FactsReader } from '../../src/formats/entry-facts.ts'
import { callViolations } from '../../src/formats/call-rules.ts'
import * as answerWatch from '../../src/overflow/answer-watch.ts'
import * as classify from '../../src/overflow/classify.ts'
import * as tailObserver from '../../src/overflow/tail-observer.ts'
import { digest, sourceOf } from './source.ts'
import { entriesOf } from './body-limits.ts'

// What takes a dialect, for tests that speak chat completions.

const { answers, rules } = chatCompletions

type Knowledge = Parameters<typeof classify.classifyAnswer>[2]

export function classifyAnswer(
  answer: classify.WholeAnswer,
  knowledge?: Knowledge,
): ReturnType<typeof classify.classifyAnswer> {
  return classify.classifyAnswer(answer, answers, knowledge)
}

export const watchStream = (knowledge: NonNullable<Knowledge>): answerWatch.AnswerWatch =>
  answerWatch.watchStream(answers, knowledge)

export const watchJson = (knowledge: NonNullable<Knowledge>): answerWatch.AnswerWatch =>
  answerWatch.watchJson(answers, knowledge)

export const createTailObserver = (shape: 'stream' | 'json') =>
  tailObserver.createTailObserver(shape, answers)

export const parseMessage = (source: Source, message: Message): ParsedMessage =>
  entryFacts.parseEntry(chatCompletions, source, message)

export function* readMessages(
  spans: readonly EntrySpan[],
  source: Source,
  scope: string,
  readFactsOf: FactsReader,
): Pausable<readonly Message[] | null> {
  return ofChat(yield* entryFacts.readEntries(chatCompletions, spans, source, scope, readFactsOf))
}

export function* readFacts(source: Source, entry: EntrySpan): Pausable<MessageFacts | null> {
  const hash = source.hash(entry.start, entry.end)
  return ofChat(yield* entryFacts.readFacts(chatCompletions, source, entry, digest, hash))
}

/** No message of a chat completion stands for something that only the server has. */
function ofChat<Read>(read: Read | 'stateful'): Read {
  if (read === 'stateful') throw new Error('a chat completion is never stateful')
  return read
}

export const violationsOf = (entries: readonly EntryShape[]): readonly Violation[] =>
  runAtOnce(callViolations(entries, rules))

/** The facts of a message given as JSON text or as a value; throws where it is unreadable. */
export function factsOf(message: string | object): MessageFacts {
  const json = typeof message === 'string' ? message : JSON.stringify(message)
  const source = sourceOf(`[${json}]`)
  const [entry] = entriesOf(source)
  const facts = entry === undefined ? null : runAtOnce(readFacts(source, entry))
  if (facts === null) throw new Error('unreadable message')
  return facts
}

/** Messages without a body, for what looks at facts alone. */
export const messagesOf = (messages: readonly object[]): readonly Message[] =>
  messages.map((message) => {
    const facts = factsOf(message)
    return { start: 0, end: facts.bytes, facts }
  })

export const system = { role: 'system', content: 'be brief' }
export const user = { role: 'user', content: 'please' }
export const assistant = { role: 'assistant', content: 'done' }

/** An assistant message that calls `look` under each of the ids; an undefined id is left out. */
export function calling(...ids: readonly (string | undefined)[]): object {
  const calls = ids.map((id) => ({ id, type: 'function', function: { name: 'look', arguments: '{}' } }))
  return { role: 'assistant', content: null, tool_calls: calls }
}

export const result = (id?: string): object => ({ role: 'tool', tool_call_id: id, content: 'seen' })
