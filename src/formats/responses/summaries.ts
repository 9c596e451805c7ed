import { isJsonObject } from '../../json/json-value.ts'
import { contentParts, textOf } from '../content/content-parts.ts'
import { continuedBody } from '../continued-body.ts'
import { names } from '../body-members.ts'
import type { SummaryCalls } from '../contract.ts'
import { kindOf } from './item-kinds.ts'

/** How a model is asked for a summary by the Responses API. */
export const responsesSummaries: SummaryCalls = {
  headers: {},
  limitFields: ['max_output_tokens'],
  mustLimit: false,

  ownFields: names(
    `model input instructions stream stream_options tools tool_choice previous_response_id conversation
     background store`,
  ),

  asked: (system, user) => ({
    input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: user }] }],
    ...(system === '' ? {} : { instructions: system }),
    store: false,
  }),

  continued: (body, entries, tool, fields) =>
    continuedBody(body, 'input', entries, tool, fields, [...ofTheReply]),

  read: (body) => {
    if (!isJsonObject(body) || !Array.isArray(body['output'])) return null
    const items = body['output'].filter(isJsonObject)
    const messages = items.filter((item) => kindOf(item) === 'message')
    const said = messages.map(({ content }) => withoutRefusals(content))
    return {
      text: said.map(({ text }) => text).join('\n'),
      hasThoughts: items.some((item) => kindOf(item) === 'thought'),
      hasCalls: items.some((item) => kindOf(item) === 'call' || kindOf(item) === 'done'),
      hasRefusal: said.some(({ isRefusal }) => isRefusal),
    }
  },
}

// --- internal ---

function withoutRefusals(content: unknown): { readonly text: string; readonly isRefusal: boolean } {
  const parts: readonly unknown[] = Array.isArray(content) ? content : [content]
  const said = parts.filter((part) => !isJsonObject(part) || part['type'] !== 'refusal')
  const isRefusal = said.length < contentParts(content).length
  return { text: textOf(Array.isArray(content) ? said : content), isRefusal }
}

/** Fields of a client's request that say what its own reply is to be. */
const ofTheReply = names(
  `background include max_output_tokens max_tool_calls metadata stream stream_options top_logprobs
   truncation`,
)
