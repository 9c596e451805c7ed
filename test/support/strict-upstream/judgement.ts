import { hash } from 'node:crypto'
import { ruleBreaks, type MessageRule, type RuleBreak, type Template } from './message-rules.ts'
import { openPrefixCache, type PromptPart } from './prefix-cache.ts'
import { MESSAGE_TOKENS, openPromptCounter, REPLY_TOKENS } from './prompt-tokens.ts'
import { cutRawRequest } from './raw-request.ts'
import { isObject, parseObject, textOf, type WireMessage } from './wire-message.ts'

export type JudgeOptions = {
  /** Tokens of prompt and output together. */
  readonly windowTokens: number
  readonly template: Template
  /** Default `enforced`; `unchecked` accepts broken sequences too, for recordings that are broken themselves. */
  readonly rules?: 'enforced' | 'unchecked'
  /** Whether the output that a request asks for has to fit beside its prompt, as at OpenAI. */
  readonly outputReserveChecked: boolean
  /** What a sequence breaks. Default: the rules of chat completions. */
  readonly breaksOf?: (messages: readonly unknown[]) => readonly RuleBreak[]
  readonly count: (text: string) => number
}

type RejectionReason = MessageRule | 'body' | 'parameter' | 'window'

/** A refusal as OpenAI words it, always with status 400. */
export type Rejection = {
  readonly reason: RejectionReason
  readonly message: string
  readonly param: string | null
  readonly code: string | null
}

export type Verdict = {
  readonly body: Record<string, unknown>
  readonly messages: readonly WireMessage[]
  /** The raw JSON text of each message. */
  readonly rawMessages: readonly string[]
  /** 0 where the request was refused before it was counted. */
  readonly promptTokens: number
  readonly cachedTokens: number
  /** What the request asks for; null where it sets no limit. */
  readonly outputTokens: number | null
  readonly rejection: Rejection | null
}

/** What is known of a request that was not read. */
export const unread: Verdict = {
  body: {},
  messages: [],
  rawMessages: [],
  promptTokens: 0,
  cachedTokens: 0,
  outputTokens: null,
  rejection: null,
}

/** Judges request bodies one after the other; `owner` is whose prompt cache it is. */
export type Judge = (bodyText: string, owner: string) => Verdict

export function openJudge(options: JudgeOptions): Judge {
  const counter = openPromptCounter(options.count)
  const cache = openPrefixCache({ count: options.count })
  const { breaksOf = (messages) => ruleBreaks(messages, options.template) } = options

  return function judge(bodyText, owner) {
    const body = parseObject(bodyText)
    if (body === null) return { ...unread, rejection: bodyRejection }
    const parameter = parameterRejection(body)
    if (parameter !== null) return { ...unread, body, rejection: parameter }

    const raw = cutRawRequest(bodyText)
    const sent: readonly unknown[] = Array.isArray(body['messages']) ? body['messages'] : []
    const messages: readonly WireMessage[] = sent.filter(isObject)
    const broken = options.rules === 'unchecked' ? undefined : breaksOf(sent)[0]
    const read = { ...unread, body, messages, rawMessages: raw.messages, outputTokens: outputTokensOf(body) }
    if (broken !== undefined) return { ...read, rejection: { ...broken, reason: broken.rule } }

    const parts = messages.map((message, index): PromptPart => {
      const key = hash('sha1', raw.messages[index] ?? '')
      return { hash: key, tokens: counter.message(key, message), text: sharedTextOf(message) }
    })
    const toolsHash = hash('sha1', raw.tools)
    const toolsTokens = counter.tools(toolsHash, body['tools'])
    const messagesTokens = REPLY_TOKENS + parts.reduce((sum, part) => sum + part.tokens, 0)
    const promptTokens = messagesTokens + toolsTokens
    const rejection = windowRejection(options, messagesTokens, toolsTokens, read.outputTokens)
    if (rejection !== null) return { ...read, promptTokens, rejection }

    const tools: PromptPart = { hash: toolsHash, tokens: toolsTokens, text: null }
    const cachedTokens = cache.serve(`${owner} ${textOf(body['model'])}`, [tools, ...parts])
    return { ...read, promptTokens, cachedTokens, rejection: null }
  }
}

/** What is said of a body that is no JSON. */
export const bodyRejection = {
  reason: 'body',
  message:
    'We could not parse the JSON body of your request. (HINT: This likely means you aren’t using your HTTP library correctly. The API expects a JSON payload, but what was sent was not valid JSON.)',
  param: null,
  code: null,
} as const

function parameterRejection(body: Record<string, unknown>): Rejection | null {
  const { messages } = body
  for (const param of ['model', 'messages']) {
    if (body[param] !== undefined) continue
    return badParameter(`Missing required parameter: '${param}'.`, param, 'missing_required_parameter')
  }
  if (!Array.isArray(messages)) {
    return badParameter(
      "Invalid type for 'messages': expected an array of objects.",
      'messages',
      'invalid_type',
    )
  }
  if (messages.length === 0) {
    const empty =
      "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead."
    return badParameter(empty, 'messages', 'empty_array')
  }
  for (const param of ['max_tokens', 'max_completion_tokens']) {
    const limit = body[param]
    if (typeof limit !== 'number' || limit >= 1) continue
    const low = `Invalid '${param}': integer below minimum value. Expected a value >= 1, but got ${limit} instead.`
    return badParameter(low, param, 'integer_below_min_value')
  }
  return null
}

const badParameter = (message: string, param: string, code: string): Rejection => ({
  reason: 'parameter',
  message,
  param,
  code,
})

function outputTokensOf(body: Record<string, unknown>): number | null {
  const limit = body['max_completion_tokens'] ?? body['max_tokens']
  return typeof limit === 'number' ? limit : null
}

function windowRejection(
  options: JudgeOptions,
  messagesTokens: number,
  toolsTokens: number,
  outputTokens: number | null,
): Rejection | null {
  const output = options.outputReserveChecked ? (outputTokens ?? 0) : 0
  const total = messagesTokens + toolsTokens + output
  if (total <= options.windowTokens) return null

  const parts = [{ tokens: messagesTokens, name: 'messages' }]
  if (toolsTokens > 0) parts.push({ tokens: toolsTokens, name: 'functions' })
  if (output > 0) parts.push({ tokens: output, name: 'completion' })
  const split = ` (${listed(
    parts.map((part) => `${part.tokens} in the ${part.name}`),
    ', ',
    ', and ',
  )})`
  const asked =
    output > 0
      ? `you requested ${total} tokens${split}`
      : `your messages resulted in ${total} tokens${parts.length > 1 ? split : ''}`
  const reducible = listed(
    parts.map((part) => part.name),
    ' or ',
    ', or ',
  )
  return {
    reason: 'window',
    message: `This model's maximum context length is ${options.windowTokens} tokens. However, ${asked}. Please reduce the length of the ${reducible}.`,
    param: 'messages',
    code: 'context_length_exceeded',
  }
}

/** Two things have one word between them, three have commas and the word before the last, as OpenAI writes. */
function listed(things: readonly string[], between: string, beforeLast: string): string {
  if (things.length < 3) return things.join(between)
  return things.slice(0, -1).join(', ') + beforeLast + things.slice(-1).join('')
}

/** Two messages may share the beginning of a text when nothing that stands before it in the prompt differs. */
function sharedTextOf(message: WireMessage): PromptPart['text'] {
  if (typeof message.content !== 'string') return null
  const frame = JSON.stringify([message.role, message.name, message.tool_call_id])
  return { frame, frameTokens: MESSAGE_TOKENS, content: message.content }
}
