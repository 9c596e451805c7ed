import { ruleBreaks, type RuleBreak } from '../strict-upstream/message-rules.ts'
import { callsOf, isObject, textOf, type WireMessage } from '../strict-upstream/wire-message.ts'

/**
 * Every rule that the messages of a chat with Ollama break, in their order; none for a valid conversation. Calls and results
 * pair as in chat completions: by ids where both have one, else by their order. Beyond that a text is a string, arguments are
 * an object, pictures are base64, and who names a tool names one that was called.
 */
export function chatBreaks(messages: readonly unknown[]): readonly RuleBreak[] {
  const read = messages.map((message): WireMessage => (isObject(message) ? message : {}))
  const own = [...read.flatMap(shapeBreaks), ...nameBreaks(read)]
  // An empty list of calls is none, and an assistant may say nothing.
  const shared = ruleBreaks(read.map(withoutNothing), 'lenient')
  return [...shared, ...own].sort((left, right) => left.index - right.index)
}

const roles: ReadonlySet<unknown> = new Set(['system', 'user', 'assistant', 'tool'])

function shapeBreaks(message: WireMessage, index: number): readonly RuleBreak[] {
  const { role, content, images, tool_calls: calls } = message
  const breaks: RuleBreak[] = []
  const add = (words: string) =>
    breaks.push({ rule: 'message-shape', index, message: words, param: `messages[${index}]`, code: null })
  if (!roles.has(role)) add(`unknown role ${JSON.stringify(role)}`)
  if (content !== undefined && content !== null && typeof content !== 'string')
    add('json: cannot unmarshal into Go struct field ChatRequest.messages.content of type string')
  const pictures: readonly unknown[] = Array.isArray(images) ? images : []
  if (pictures.some((picture) => typeof picture !== 'string' || !/^[\w+/]+=*$/.test(picture)))
    add('illegal base64 data')
  for (const call of Array.isArray(calls) ? calls : []) {
    const called = isObject(call) && isObject(call['function']) ? call['function'] : {}
    if (!isObject(called['arguments']))
      add('json: cannot unmarshal into Go struct field .function.arguments of type object')
    if (textOf(called['name']) === '') add('a call without a name')
  }
  return breaks
}

/** A result that says whose it is says so of a call in its round. */
function nameBreaks(messages: readonly WireMessage[]): readonly RuleBreak[] {
  let called: string[] = []
  return messages.flatMap((message, index): readonly RuleBreak[] => {
    if (message.role !== 'tool') {
      called = callsOf(message).map(({ name }) => name)
      return []
    }
    const name = textOf(message.tool_name)
    const place = called.indexOf(name)
    if (place !== -1) called.splice(place, 1)
    if (name === '' || place !== -1) return []
    const words = `a result of ${name}, which was not called`
    return [{ rule: 'result-unknown-call', index, message: words, param: `messages[${index}]`, code: null }]
  })
}

const withoutNothing = (message: WireMessage): WireMessage => {
  const { tool_calls: calls, content, ...others } = message
  const isNone = Array.isArray(calls) && calls.length === 0
  const said = content ?? (message.role === 'assistant' ? '' : content)
  return { ...others, content: said, ...(isNone || calls === undefined ? {} : { tool_calls: calls }) }
}
