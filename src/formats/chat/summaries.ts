import { isJsonObject, stringOr } from '../../json/json-value.ts'
import { continuedBody } from '../continued-body.ts'
import type { SummaryCalls } from '../contract.ts'
import { textOf } from '../content/content-parts.ts'
import { names } from '../body-members.ts'
import { hasThoughts } from './thoughts.ts'

/** How a model is asked for a summary by a chat completion. */
export const summaryCalls: SummaryCalls = {
  headers: {},
  limitFields: ['max_tokens', 'max_completion_tokens'],
  mustLimit: false,

  ownFields: names('model messages stream stream_options n tools tool_choice functions function_call'),

  asked: (system, user) => ({
    messages: [
      ...(system === '' ? [] : [{ role: 'system', content: system }]),
      { role: 'user', content: user },
    ],
  }),

  continued: (body, entries, tool, fields) =>
    continuedBody(body, 'messages', entries, tool, fields, [...ofTheReply]),

  read: (body) => {
    if (!isJsonObject(body) || !Array.isArray(body['choices'])) return null
    const [choice]: unknown[] = body['choices']
    const message = isJsonObject(choice) && isJsonObject(choice['message']) ? choice['message'] : {}
    const calls = message['tool_calls']
    return {
      text: textOf(message['content']),
      hasThoughts: hasThoughts(message),
      hasCalls: (Array.isArray(calls) && calls.length > 0) || isJsonObject(message['function_call']),
      hasRefusal: stringOr(message['refusal'], '') !== '',
    }
  },
}

// --- internal ---

/** Fields of a client's request that say what its own reply is to be. */
const ofTheReply = names(
  `max_tokens max_completion_tokens stream stream_options n stop logprobs top_logprobs prediction store
   metadata audio modalities web_search_options`,
  // Of vLLM, SGLang and llama.cpp: what an answer must look like, and that the last message is to be continued.
  `add_generation_prompt continue_final_message echo grammar guided_choice guided_grammar guided_json
   guided_regex ignore_eos json_schema min_tokens regex structured_outputs`,
)
