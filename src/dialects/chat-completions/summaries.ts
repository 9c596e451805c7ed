import { isJsonObject, stringOr, type JsonObject } from '../../conversation/json-value.ts'
import { contentParts } from './content.ts'

/** Asks a model of this dialect for a summary. */
export type SummaryCalls = {
  /** The fields under which the limit of the output may stand, the one first that more servers take. */
  readonly limitFields: readonly string[]
  /** The field that holds what is asked. A system text may stand in the user's entry, for servers that take no other. */
  readonly asked: (system: string, user: string, systemPlace: 'own' | 'user') => JsonObject
  /**
   * A client's own body with other `entries`, `fields` beside them and one more tool: asked so, a server reads the
   * conversation from its cache. What belongs to the client's own answer is left out.
   */
  readonly continued: (
    body: JsonObject,
    entries: readonly string[],
    tool: JsonObject | null,
    fields: JsonObject,
  ) => string
  /** What was written in a plain answer; null if there is no place for it. */
  readonly read: (body: unknown) => WrittenText | null
}

/** The text of an answer, and what else is in it. */
export type WrittenText = {
  readonly text: string
  readonly hasThoughts: boolean
  readonly hasCalls: boolean
  readonly hasRefusal: boolean
}

/** How a model is asked for a summary by a chat completion. */
export const summaryCalls: SummaryCalls = {
  limitFields: ['max_tokens', 'max_completion_tokens'],

  asked: (system, user, systemPlace) => ({
    messages:
      system === ''
        ? [{ role: 'user', content: user }]
        : systemPlace === 'user'
          ? [{ role: 'user', content: `${system}\n\n${user}` }]
          : [
              { role: 'system', content: system },
              { role: 'user', content: user },
            ],
  }),

  continued: (body, entries, tool, fields) => {
    // As the upstream has just been sent them: every prompt begins with its tools.
    const { tools } = body
    const around = {
      ...body,
      ...Object.fromEntries(ofTheReply.map((name) => [name, undefined])),
      ...(tool === null || !Array.isArray(tools) ? {} : { tools: [...tools, tool] }),
      ...fields,
      messages: undefined,
    }
    return `${JSON.stringify(around).slice(0, -1)},"messages":[${entries.join(',')}]}`
  },

  read: (body) => {
    if (!isJsonObject(body) || !Array.isArray(body['choices'])) return null
    const [choice]: unknown[] = body['choices']
    const message = isJsonObject(choice) && isJsonObject(choice['message']) ? choice['message'] : {}
    const calls = message['tool_calls']
    const parts = contentParts(message['content'])
    return {
      text: parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n'),
      hasThoughts:
        thoughtFields.some((field) => isPresent(message[field])) ||
        parts.some(({ kind }) => kind === 'reasoning'),
      hasCalls: (Array.isArray(calls) && calls.length > 0) || isJsonObject(message['function_call']),
      hasRefusal: stringOr(message['refusal'], '') !== '',
    }
  },
}

// --- internal ---

const thoughtFields = ['reasoning_content', 'reasoning', 'reasoning_details', 'thinking_blocks', 'thinking']

function isPresent(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== null && value !== undefined && value !== ''
}

/** Fields of a client's request that say what its own reply is to be. */
const ofTheReply: readonly string[] = [
  'max_tokens',
  'max_completion_tokens',
  'stream',
  'stream_options',
  'n',
  'stop',
  'logprobs',
  'top_logprobs',
  'prediction',
  'store',
  'metadata',
  'audio',
  'modalities',
  'web_search_options',
  // Of vLLM, SGLang and llama.cpp: what an answer must look like, and that the last message is to be continued.
  'add_generation_prompt',
  'continue_final_message',
  'echo',
  'grammar',
  'guided_choice',
  'guided_grammar',
  'guided_json',
  'guided_regex',
  'ignore_eos',
  'json_schema',
  'min_tokens',
  'regex',
  'structured_outputs',
]
