import { isObject, type WireMessage } from '../../support/strict-upstream/wire-message.ts'
import { chatOf as itemsOf } from '../../support/responses/items.ts'
import { chatOf as blocksOf, type Step } from '../../support/messages/chat.ts'
import type { WireBlock } from '../../support/messages/wire-block.ts'

export type Api = {
  readonly path: string
  readonly bodyOf: (asked: AskedFor) => string
  /** Why a plain answer is of no use; null where it is. */
  readonly plainProblem: (text: string) => string | null
  /** The same of a stream; `parts` is the data of its events. */
  readonly streamProblem: (parts: readonly unknown[], text: string) => string | null
  /** Whether an answer, or an event of one, holds a piece of what the model said. */
  readonly hasOutput: (part: unknown) => boolean
  readonly promptFigures: (part: unknown) => PromptFigures | null
}

type AskedFor = {
  readonly messages: readonly string[]
  readonly isStreamed: boolean
  readonly outputTokens: number
}

export type PromptFigures = {
  readonly tokens: number
  /** Those that were not in its cache; null where it does not tell. */
  readonly evaluatedTokens: number | null
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
  plainProblem: (text) =>
    finishOf(parsed(text)) === null ? `no answer: ${text.slice(0, SHOWN_CHARS)}` : null,
  streamProblem,
  hasOutput: (part) => {
    const choice = choiceOf(part)
    const said = choice?.['delta'] ?? choice?.['message']
    return isObject(said) && typeof said['content'] === 'string' && said['content'] !== ''
  },
  promptFigures: (part) => {
    if (!isObject(part) || !isObject(part['usage'])) return null
    const { usage, timings } = part
    const tokens = Number(usage['prompt_tokens'])
    return { tokens, evaluatedTokens: isObject(timings) ? Number(timings['prompt_n']) : null }
  },
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

export const responses: Api = {
  path: 'responses',
  bodyOf: ({ messages, isStreamed, outputTokens }) => {
    const { instructions, steps } = itemsOf(messages.map(messageOf), { system: 'instructions' })
    const input = steps.flatMap((step) => (step.kind === 'input' ? step.items : step.told))
    const more = isStreamed ? ',"stream":true' : ''
    return `"store":false,"max_output_tokens":${outputTokens}${more},"instructions":${JSON.stringify(instructions)},"input":${JSON.stringify(input)}`
  },
  plainProblem: (text) => (isCompleted(parsed(text)) ? null : `no answer: ${text.slice(0, SHOWN_CHARS)}`),
  streamProblem: (parts, text) =>
    isCompleted(endOf(parts.at(-1))) ? null : `a stream without an end: ${text.slice(-SHOWN_CHARS)}`,
  hasOutput: (part) =>
    isObject(part) && (part['type'] === 'response.output_text.delta' || Array.isArray(part['output'])),
  promptFigures: (part) => {
    const response = endOf(part) ?? part
    if (!isObject(response) || !isObject(response['usage'])) return null
    const { input_tokens: tokens, input_tokens_details: details } = response['usage']
    const cached = isObject(details) ? details['cached_tokens'] : null
    const evaluatedTokens = typeof cached === 'number' ? Number(tokens) - cached : null
    return { tokens: Number(tokens), evaluatedTokens }
  },
}

function messageOf(text: string): WireMessage {
  const message: WireMessage = JSON.parse(text)
  return message
}

/** The response that the last event of a stream tells. */
function endOf(part: unknown): unknown {
  return isObject(part) && part['type'] === 'response.completed' ? part['response'] : null
}

function isCompleted(response: unknown): boolean {
  return isObject(response) && response['status'] === 'completed' && Array.isArray(response['output'])
}

export const messages: Api = {
  path: 'messages',
  bodyOf: ({ messages: texts, isStreamed, outputTokens }) => {
    const { system, steps } = blocksOf(texts.map(messageOf))
    const more = isStreamed ? ',"stream":true' : ''
    const history = JSON.stringify(historyOf(steps))
    return `"max_tokens":${outputTokens}${more},"system":${JSON.stringify(system ?? '')},"messages":${history}`
  },
  plainProblem: (text) => (isWhole(parsed(text)) ? null : `no answer: ${text.slice(0, SHOWN_CHARS)}`),
  streamProblem: (parts, text) => {
    const end = parts.find((part) => isObject(part) && part['type'] === 'message_delta')
    const isEnded = isStopped(isObject(end) ? end['delta'] : null) && typeIn(parts.at(-1)) === 'message_stop'
    return isEnded ? null : `a stream without an end: ${text.slice(-SHOWN_CHARS)}`
  },
  hasOutput: (part) => typeIn(part) === 'content_block_delta' || isWhole(part),
  promptFigures: (part) => {
    const told = isObject(part) && typeIn(part) === 'message_start' ? part['message'] : part
    if (!isObject(told) || !isObject(told['usage']) || typeIn(told) !== 'message') return null
    const { input_tokens: anew, cache_read_input_tokens: read } = told['usage']
    const evaluatedTokens = typeof read === 'number' ? Number(anew) : null
    return { tokens: Number(anew) + (typeof read === 'number' ? read : 0), evaluatedTokens }
  },
}

/** All of it as a client sends it that was told each reply. */
function historyOf(steps: readonly Step[]): readonly object[] {
  const history: { role: string; content: readonly WireBlock[] }[] = []
  for (const step of steps) {
    const [role, content] = step.kind === 'input' ? [step.role, step.blocks] : ['assistant', step.told]
    const before = step.kind === 'input' && step.joins ? history.at(-1) : undefined
    if (before !== undefined) before.content = [...before.content, ...content]
    else if (content.length > 0) history.push({ role, content })
  }
  return history
}

function isWhole(message: unknown): boolean {
  return isObject(message) && Array.isArray(message['content']) && isStopped(message)
}

function isStopped(told: unknown): boolean {
  return isObject(told) && typeof told['stop_reason'] === 'string'
}
function typeIn(part: unknown): unknown {
  return isObject(part) ? part['type'] : null
}
