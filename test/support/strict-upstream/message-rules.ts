import { callsOf, isObject, textOf, type WireCall, type WireMessage } from './wire-message.ts'

/**
 * `lenient`: what OpenAI accepts. `strict`: also what chat templates of open models ask for: one system
 * message at most and only in front, then a user message, then user and assistant in alternation, tool
 * rounds in between left out of it.
 */
export type Template = 'lenient' | 'strict'

export type MessageRule =
  | 'message-shape'
  | 'content-missing'
  | 'calls-empty'
  | 'calls-unanswered'
  | 'result-orphan'
  | 'result-unknown-call'
  | 'system-not-first'
  | 'first-not-user'
  | 'roles-not-alternating'

/** A rule that a conversation breaks, in the upstream's own words. */
export type RuleBreak = {
  readonly rule: MessageRule
  /** Index of the message at which it shows. */
  readonly index: number
  readonly message: string
  readonly param: string
  readonly code: string | null
}

/**
 * Every rule that the messages break, in their order; none for a valid conversation. Written apart from the
 * rules of `conversation/`, so that a mistake there is seen here. Calls and results without an id are
 * matched by count, since recorded conversations have such.
 */
export function ruleBreaks(messages: readonly unknown[], template: Template): readonly RuleBreak[] {
  const breaks: RuleBreak[] = []
  const read = messages.map((message, index): WireMessage => {
    const broken = shapeBreak(message, index)
    if (broken !== null) breaks.push(broken)
    return isObject(message) ? message : {}
  })
  breaks.push(...toolBreaks(read))
  if (template === 'strict') breaks.push(...templateBreaks(read))
  return breaks.sort((left, right) => left.index - right.index)
}

const roles = ['system', 'developer', 'user', 'assistant', 'tool', 'function']

function shapeBreak(message: unknown, index: number): RuleBreak | null {
  if (!isObject(message)) {
    const wrong = `Invalid type for 'messages[${index}]': expected an object.`
    return { rule: 'message-shape', index, message: wrong, param: `messages[${index}]`, code: 'invalid_type' }
  }
  const { role, content, tool_calls: calls } = message as WireMessage
  if (!roles.includes(textOf(role))) {
    const supported = roles.map((known) => `'${known}'`).join(', ')
    const wrong = `Invalid value: '${textOf(role)}'. Supported values are: ${supported}.`
    return {
      rule: 'message-shape',
      index,
      message: wrong,
      param: `messages[${index}].role`,
      code: 'invalid_value',
    }
  }
  if (Array.isArray(calls) && calls.length === 0) {
    const param = `messages[${index}].tool_calls`
    const wrong = `Invalid '${param}': empty array. Expected an array with minimum length 1, but got an empty array instead.`
    return { rule: 'calls-empty', index, message: wrong, param, code: 'empty_array' }
  }
  if (isContent(content) || (role === 'assistant' && mayLackContent(message))) return null
  const wrong = `Invalid value for 'content': expected a string, got ${content === undefined ? 'nothing' : 'null'}.`
  return { rule: 'content-missing', index, message: wrong, param: `messages.[${index}].content`, code: null }
}

const isContent = (content: unknown): boolean =>
  typeof content === 'string' || (Array.isArray(content) && content.length > 0)

const mayLackContent = (message: WireMessage & Record<string, unknown>): boolean =>
  callsOf(message).length > 0 || isObject(message['audio']) || typeof message['refusal'] === 'string'

const isResult = (message: WireMessage | undefined): boolean =>
  message?.role === 'tool' || message?.role === 'function'

function toolBreaks(messages: readonly WireMessage[]): RuleBreak[] {
  const breaks: RuleBreak[] = []
  let index = 0
  while (index < messages.length) {
    const message = messages[index] ?? {}
    const calls = message.role === 'assistant' ? callsOf(message) : []
    const resultsStart = index + 1
    let resultsEnd = resultsStart
    while (isResult(messages[resultsEnd])) resultsEnd += 1
    if (isResult(message)) breaks.push(orphan(index))
    if (calls.length > 0) {
      breaks.push(...roundBreaks(index, calls, messages.slice(resultsStart, resultsEnd)))
      index = resultsEnd
    } else {
      index += 1
    }
  }
  return breaks
}

function roundBreaks(
  start: number,
  calls: readonly WireCall[],
  results: readonly WireMessage[],
): RuleBreak[] {
  const breaks: RuleBreak[] = []
  const open = calls.map((call) => call.id)
  const unnamed: number[] = []
  results.forEach((result, offset) => {
    const id = textOf(result.tool_call_id)
    const place = open.indexOf(id)
    if (id === '') unnamed.push(start + 1 + offset)
    else if (place !== -1) open.splice(place, 1)
    else if (open.includes(null)) open.splice(open.indexOf(null), 1)
    else breaks.push(unknownCall(start + 1 + offset, id))
  })
  for (const index of unnamed) {
    const place = Math.max(0, open.indexOf(null))
    if (open.length === 0) breaks.push(orphan(index))
    else open.splice(place, 1)
  }
  if (open.length > 0) breaks.push(unanswered(start, open))
  return breaks
}

const orphan = (index: number): RuleBreak => ({
  rule: 'result-orphan',
  index,
  message:
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
  param: `messages.[${index}].role`,
  code: null,
})

const unknownCall = (index: number, id: string): RuleBreak => ({
  rule: 'result-unknown-call',
  index,
  message: `Invalid parameter: 'tool_call_id' of '${id}' not found in 'tool_calls' of previous message.`,
  param: `messages.[${index}].tool_call_id`,
  code: null,
})

const unanswered = (index: number, ids: readonly (string | null)[]): RuleBreak => ({
  rule: 'calls-unanswered',
  index,
  message: `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${ids.map((id) => id ?? '(none)').join(', ')}`,
  param: `messages.[${index + 1}].role`,
  code: null,
})

const isSystem = (message: WireMessage): boolean => message.role === 'system' || message.role === 'developer'

const alternation =
  'After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results.'

function templateBreaks(messages: readonly WireMessage[]): RuleBreak[] {
  const breaks: RuleBreak[] = []
  const add = (rule: MessageRule, index: number, message: string) =>
    breaks.push({ rule, index, message, param: `messages.[${index}].role`, code: null })

  const first = messages.findIndex((message) => !isSystem(message))
  if (first !== -1 && messages[first]?.role !== 'user') add('first-not-user', first, alternation)

  let previous: unknown = null
  messages.forEach((message, index) => {
    if (isSystem(message) && index > 0)
      add('system-not-first', index, 'System message must be at the beginning.')
    // The templates count users and plain assistants only; assistants with calls take no turn.
    if (message.role !== 'user' && (message.role !== 'assistant' || callsOf(message).length > 0)) return
    if (message.role === previous) add('roles-not-alternating', index, alternation)
    previous = message.role
  })
  return breaks
}
