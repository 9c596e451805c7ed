import { chatOf as blocksOf } from '../../support/messages/chat.ts'
import * as inMessages from '../../support/messages/living.ts'
import { chatOf as itemsOf } from '../../support/responses/items.ts'
import * as inResponses from '../../support/responses/living.ts'
import { isObject, type WireMessage } from '../../support/strict-upstream/wire-message.ts'

export type Api = {
  readonly path: string
  readonly bodyOf: (asked: AskedFor) => string
  /** Why an answer is of no use; null where it is. `parts` is the data of its events, or what it says plainly. */
  readonly problem: (parts: readonly unknown[], text: string, isEvents: boolean) => string | null
  /** Whether an answer, or an event of one, holds a piece of what the model said. */
  readonly hasOutput: (part: unknown) => boolean
  readonly promptTokens: (part: unknown) => number | null
}

type AskedFor = {
  readonly messages: readonly string[]
  readonly isStreamed: boolean
  readonly outputTokens: number
}

export const SHOWN_CHARS = 160

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

export const chatCompletions: Api = {
  path: 'chat/completions',
  bodyOf: ({ messages, isStreamed, outputTokens }) => {
    const more = isStreamed ? ',"stream":true,"stream_options":{"include_usage":true}' : ''
    return `"max_tokens":${outputTokens}${more},"messages":[${messages.join(',')}]`
  },
  problem: (parts, text, isEvents) => {
    if (isEvents) return streamProblem(parts, text)
    return finishOf(parts[0]) === null ? `no answer: ${text.slice(0, SHOWN_CHARS)}` : null
  },
  hasOutput: (part) => {
    const choice = choiceOf(part)
    const said = choice?.['delta'] ?? choice?.['message']
    return isObject(said) && typeof said['content'] === 'string' && said['content'] !== ''
  },
  promptTokens: (part) =>
    isObject(part) && isObject(part['usage']) ? Number(part['usage']['prompt_tokens']) : null,
}

/** A stream finishes, ends with `[DONE]`, and has nothing between the two but the usage that was asked for. */
function streamProblem(parts: readonly unknown[], text: string): string | null {
  const failed = parts.find((part) => isObject(part) && 'error' in part)
  if (failed !== undefined) return `an error in the stream: ${JSON.stringify(failed).slice(0, SHOWN_CHARS)}`
  const finished = parts.findIndex((part) => finishOf(part) !== null)
  if (finished === -1) return `a stream without an end: ${text.slice(-SHOWN_CHARS)}`
  if (!text.trimEnd().endsWith('data: [DONE]')) return `no [DONE]: ${text.slice(-SHOWN_CHARS)}`
  const after = parts.slice(finished + 1).find((part) => !isUsageAlone(part))
  return after === undefined ? null : `after the finish: ${JSON.stringify(after).slice(0, SHOWN_CHARS)}`
}

function choiceOf(part: unknown): Record<string, unknown> | null {
  if (!isObject(part) || !Array.isArray(part['choices'])) return null
  const choice: unknown = part['choices'][0]
  return isObject(choice) ? choice : null
}

function finishOf(part: unknown): string | null {
  const finish = choiceOf(part)?.['finish_reason']
  return typeof finish === 'string' && finish !== '' ? finish : null
}

function isUsageAlone(part: unknown): boolean {
  return isObject(part) && isObject(part['usage']) && choiceOf(part) === null
}

/** An answer is good where a client that keeps the conversation itself finds a reply in it that has ended. */
const problemBy =
  (readReply: (text: string) => object | null): Api['problem'] =>
  (_parts, text) =>
    readReply(text) === null ? `no whole answer: … ${text.slice(-SHOWN_CHARS)}` : null

export const responses: Api = {
  path: 'responses',
  bodyOf: ({ messages, isStreamed, outputTokens }) => {
    const { instructions, steps } = itemsOf(messages.map(messageOf), { system: 'instructions' })
    const input = inResponses
      .openLife({ steps })
      .before(steps.length)
      .map(({ text }) => text)
    const more = isStreamed ? ',"stream":true' : ''
    return `"store":false,"max_output_tokens":${outputTokens}${more},"instructions":${JSON.stringify(instructions)},"input":[${input.join(',')}]`
  },
  problem: problemBy(inResponses.readReply),
  hasOutput: (part) =>
    isObject(part) && (part['type'] === 'response.output_text.delta' || Array.isArray(part['output'])),
  promptTokens: (part) => {
    const isEnd = isObject(part) && part['type'] === 'response.completed'
    const response = isEnd ? part['response'] : part
    return isObject(response) && isObject(response['usage'])
      ? Number(response['usage']['input_tokens'])
      : null
  },
}

function messageOf(text: string): WireMessage {
  const message: WireMessage = JSON.parse(text)
  return message
}

export const messages: Api = {
  path: 'messages',
  bodyOf: ({ messages: texts, isStreamed, outputTokens }) => {
    const { system, steps } = blocksOf(texts.map(messageOf))
    const lived = inMessages.openLife({ steps }).before(steps.length)
    const history = inMessages.messageTexts(lived, { marksNewest: false, shortensTexts: false })
    const more = isStreamed ? ',"stream":true' : ''
    return `"max_tokens":${outputTokens}${more},"system":${JSON.stringify(system ?? '')},"messages":[${history.join(',')}]`
  },
  problem: problemBy(inMessages.readReply),
  hasOutput: (part) =>
    isObject(part) && (part['type'] === 'content_block_delta' || Array.isArray(part['content'])),
  promptTokens: (part) => {
    const told = isObject(part) && part['type'] === 'message_start' ? part['message'] : part
    if (!isObject(told) || !isObject(told['usage']) || told['type'] !== 'message') return null
    const { input_tokens: anew, cache_read_input_tokens: read } = told['usage']
    return Number(anew) + (typeof read === 'number' ? read : 0)
  },
}
