import { chatOf } from '../../support/responses/items.ts'
import { isObject, type WireMessage } from '../../support/strict-upstream/wire-message.ts'
import { parsed, SHOWN_CHARS, type Api } from './api.ts'

export const responses: Api = {
  path: 'responses',
  bodyOf: ({ messages, isStreamed, outputTokens }) => {
    const { instructions, steps } = chatOf(messages.map(messageOf), { system: 'instructions' })
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

// --- internal ---

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
