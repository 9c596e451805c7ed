import { callsOf, isObject, textOf } from './strict-upstream/wire-message.ts'
import { rawMessages } from './post-chat.ts'
import type { TestMessage } from './conversations.ts'
import { completion, type ReceivedRequest, type Script } from './fake-upstream.ts'
import type { Stand } from './stand.ts'

/** The usage of an answer, as a server states it. */
export type Usage = Record<string, unknown>

/** What a server makes of the texts of the messages that it received. */
export type CountTexts = (texts: readonly string[], received: ReceivedRequest) => number | Usage

/** So many common words: a token each to these servers, and about one to us. */
export const words = (count: number, seed = 0): string =>
  Array.from({ length: count }, (_, index) => commonWords[(index * 7 + seed) % commonWords.length]).join(' ')

/** The words in texts, and four for the frame of each. */
export const wordsOf = (texts: readonly string[]): number =>
  texts.reduce((sum, text) => sum + wordsIn(text), 0)

/** The same by a template that drops what the model thought. */
export const withoutThoughts = (texts: readonly string[]): number =>
  wordsOf(texts.map((text) => text.replace(/<think>.*<\/think>/, '')))

/** A word count that keeps the system message and as many of the newest as fit, as Ollama does. */
export const newestWithin =
  (windowTokens: number) =>
  (texts: readonly string[]): number => {
    const [system = '', ...rest] = texts
    let tokens = wordsIn(system)
    for (const [index, text] of rest.toReversed().entries()) {
      if (index > 0 && tokens + wordsIn(text) > windowTokens) break
      tokens += wordsIn(text)
    }
    return Math.min(tokens, windowTokens)
  }

/** Answers, and reports what `count` makes of what it received; `itself` is what else the answer says. */
export const reporting =
  (count: CountTexts, itself: Record<string, unknown> = {}): Script =>
  (received) => {
    const counted = count(textsIn(received), received)
    const usage = typeof counted === 'number' ? { prompt_tokens: counted } : counted
    return completion('Understood.', usage, 'fake-model', itself)
  }

/** The same of a server that calls itself Ollama: it is known to cut prompts to its window. */
export const ollama = (count: CountTexts): Script => reporting(count, { system_fingerprint: 'fp_ollama' })

/** The texts of the messages that a server received, calls with their arguments. */
export const textsIn = (received: ReceivedRequest): readonly string[] =>
  rawMessages(received).map((raw) => {
    const message: unknown = JSON.parse(raw)
    if (!isObject(message)) return ''
    const calls = callsOf(message).map(({ name, argumentsText }) => ` ${name} ${argumentsText}`)
    return textOf(message['content']) + calls.join('')
  })

/** A call and its result. */
export function round(index: number, result: string): readonly TestMessage[] {
  const id = `call_${index}`
  const called = { name: 'read_file', arguments: JSON.stringify({ path: `src/f${index}.ts` }) }
  return [
    { role: 'assistant', content: null, tool_calls: [{ id, type: 'function', function: called }] },
    { role: 'tool', tool_call_id: id, content: result },
  ]
}

/** The warnings that a prompt was cut: `known` where that was concluded, `suspected` where it may have been. */
export function cutWarnings(
  stand: Pick<Stand, 'foldgate'>,
  certainty: 'known' | 'suspected' = 'known',
): readonly string[] {
  const said = certainty === 'known' ? 'without saying so' : 'may have cut the prompt'
  return stand.foldgate.log.filter((line) => line.includes(said))
}

const commonWords = ['time', 'house', 'river', 'green', 'walk', 'paper', 'light', 'stone', 'music', 'table']

const wordsIn = (text: string): number => (text === '' ? 0 : text.split(' ').length) + 4
