import { isJsonObject, stringOr, type JsonObject } from '../../json/json-value.ts'
import { continuedBody } from '../continued-body.ts'
import { names } from '../body-members.ts'
import type { SummaryCalls } from '../contract.ts'
import { blockKindOf } from './block-kinds.ts'

/** How a model is asked for a summary by the Messages API. */
export const messagesSummaries: SummaryCalls = {
  headers: { 'anthropic-version': '2023-06-01' },
  limitFields: ['max_tokens'],
  mustLimit: true,

  ownFields: names(
    'model messages system stream tools tool_choice thread compaction context_management mcp_servers',
  ),

  asked: (system, user) => ({
    messages: [{ role: 'user', content: user }],
    ...(system === '' ? {} : { system }),
  }),

  continued: (body, entries, tool, fields) =>
    continuedBody(body, 'messages', entries, tool, fields, [
      ...ofTheReply,
      ...(isBudgeted(body) ? ['thinking'] : []),
    ]),

  read: (body) => {
    if (!isJsonObject(body) || !Array.isArray(body['content'])) return null
    const blocks = body['content'].filter(isJsonObject)
    const kinds = new Set(blocks.map((block) => blockKindOf(block, 'assistant')))
    return {
      text: blocks
        .filter(({ type }) => type === 'text')
        .map(({ text }) => stringOr(text, ''))
        .join(''),
      hasThoughts: kinds.has('thought'),
      hasCalls: kinds.has('call') || kinds.has('done'),
      hasRefusal: body['stop_reason'] === 'refusal',
    }
  },
}

// --- internal ---

/** A budget of thinking has to be below the limit of the whole reply, which is another one here. */
function isBudgeted({ thinking }: JsonObject): boolean {
  return isJsonObject(thinking) && thinking['budget_tokens'] !== undefined
}

/** Fields of a client's request that say what its own reply is to be. */
const ofTheReply = names(
  `compaction container diagnostics fallbacks max_tokens metadata output_config output_format
   stop_sequences stream`,
)
