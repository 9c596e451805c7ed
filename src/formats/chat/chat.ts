import { errorBody } from '../../errors.ts'
import type { BodyEdit, BodyShape, Described, Dialect, SummaryCalls } from '../contract.ts'
import { chatLimits, isTelling, readAnswer, readEvent } from './answers.ts'
import { emptySpan, fieldSet, isForced, positiveInteger, spanOpening } from '../body-members.ts'
import { boundOf, hasThoughts, readThoughts, unboundMessage, unboundTurns } from './thoughts.ts'
import {
  contentIn,
  joinedMessages,
  valueText,
  withContent,
  withoutMembers,
} from '../content/joined-content.ts'
import { chatRules } from './rules.ts'
import { chatAnswerWire, chatEvents } from './reply/wire.ts'
import { joiningOf } from '../joined-reply.ts'
import { readEventText, writeEvent } from '../typed-events.ts'
import { recallTurn } from './reply/turns.ts'
import { goOnWith } from '../turns.ts'
import { type Call, readCalls, slotsOf } from './slots.ts'
import { addSaid, contentParts, type Said, textOf, textPart } from '../content/content-parts.ts'
import { edited, valueIn, withoutMedia } from '../content/slots.ts'
import { createUsageHider } from './usage-hider.ts'
import { isJsonObject, isPresent, type JsonObject, stringifyJson, stringOr } from '../../json/json-value.ts'
import type { Digest, Pausable } from '../../json/source.ts'
import type { ValueSpan } from '../../json/body-spans.ts'
import type { ParsedMessage, Role } from '../../conversation/message.ts'
import { functionTool } from '../tool-lists.ts'
import { audioReference } from '../media/media.ts'

/**
 * The fields that a chat completion of a client key confined to profiles may have: those of OpenAI's API, and what servers
 * and providers take beside them, by who made them up. None chooses a model but `model`. Not here is what does, or may do so
 * at some gateway: fallbacks, adapters, draft models, addresses, deployments. `metadata` is OpenAI's own and as common as
 * harmless, though a gateway can be set up to go by tags in it. Spelled otherwise they are other fields: servers in Go read
 * a field whatever the case of its letters.
 */
const chatFields = fieldSet(
  // OpenAI
  `model messages audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens
   max_tokens metadata modalities moderation n parallel_tool_calls prediction presence_penalty
   prompt_cache_key prompt_cache_options prompt_cache_retention reasoning_effort response_format
   safety_identifier seed service_tier stop store stream stream_options temperature tool_choice tools
   top_logprobs top_p user verbosity web_search_options`,
  // vLLM, SGLang
  `add_generation_prompt add_special_tokens allowed_token_ids bad_words best_of cache_salt chat_template
   chat_template_kwargs continue_final_message detokenize documents echo ebnf guided_choice
   guided_decoding_backend guided_grammar guided_json guided_regex guided_whitespace_pattern ignore_eos
   include_reasoning include_stop_str_in_output length_penalty logits_processors min_p min_tokens
   mm_processor_kwargs priority prompt_logprobs regex repetition_penalty request_id return_token_ids
   return_tokens_as_token_ids separate_reasoning skip_special_tokens spaces_between_special_tokens
   stop_token_ids stream_reasoning structured_outputs thinking_token_budget top_k truncate_prompt_tokens
   use_beam_search`,
  // llama.cpp
  `cache_prompt dry_allowed_length dry_base dry_multiplier dry_penalty_last_n dry_sequence_breakers
   dynatemp_exponent dynatemp_range grammar grammar_lazy grammar_triggers id_slot json_schema mirostat
   mirostat_eta mirostat_tau n_indent n_keep n_predict n_probs parse_tool_calls post_sampling_probs
   reasoning_format repeat_last_n repeat_penalty return_progress return_tokens samplers t_max_predict_ms
   thinking_forced_open timings_per_token top_n_sigma typical_p xtc_probability xtc_threshold`,
  // Ollama
  `format keep_alive options think`,
  // Mistral, DeepSeek, Qwen, xAI, Groq, Together, OpenRouter
  `cache_control compound_custom deferred disable_tool_validation do_sample enable_search enable_thinking
   exclude_reasoning incremental_output prompt_mode provider random_seed reasoning reasoning_budget
   reasoning_split repetition_penalty_range safe_prompt search_options search_parameters session_id
   thinking thinking_budget top_a transforms usage verbosity_level vl_high_resolution_images`,
)

const chatBody: BodyShape = {
  keys: { history: 'messages', content: null },
  knownFields: chatFields,
  readNames: fieldSet(
    'model stream stream_options max_completion_tokens max_tokens n tool_choice thinking function_call',
  ),
  limitNames: ['max_completion_tokens', 'max_tokens'],
  facts: (source, { spans, values }) => {
    const streamOptions = values.get('stream_options')
    return {
      repliesWanted: positiveInteger(values.get('n')) ?? 1,
      legacyTools: spanOpening('[', source, spans.get('functions')),
      schema: spanOpening('{', source, spans.get('response_format')),
      isToolForced: isForced(values.get('tool_choice')) || isForced(values.get('function_call')),
      showsUsage: isJsonObject(streamOptions) && streamOptions['include_usage'] === true,
      usageRequest: values.get('stream') === true ? usageRequestOf(spans, streamOptions) : null,
    }
  },
}

/** What a parsed message is; null if its role is no string, or if it is nested too deep. */
function* describeMessage(
  message: JsonObject,
  digest: Digest,
  unreadBytes: (text: string) => number,
): Pausable<Described | null> {
  const roleText = message['role']
  if (typeof roleText !== 'string') return null
  const role = Object.hasOwn(roleOf, roleText) ? (roleOf[roleText] ?? 'other') : 'other'
  const calls = readCalls(message)
  const said: Said = { content: [], media: [] }
  const { content, media } = said
  if (!(yield* addSaid(said, contentParts(message['content']), digest, unreadBytes))) return null
  const odd = oddContent(message)
  if (calls === null || odd === null) return null
  if (odd !== '') content.push({ kind: 'content', text: odd })
  const { refusal, audio } = message
  if (typeof refusal === 'string') content.push({ kind: 'text', text: refusal })
  if (isJsonObject(audio) && typeof audio['id'] === 'string') {
    const reference = audioReference(audio['id'], digest)
    media.push(reference)
    content.push({ kind: reference.kind, text: reference.digest })
  }
  const list = message['tool_calls']
  const isAssistant = role === 'assistant'
  const saysMore = calls.length > 0 || odd !== '' || typeof refusal === 'string' || isPresent(audio)
  return {
    facts: {
      role,
      ...(isAssistant ? boundOf(message, saysMore) : {}),
      emptyCalls: isAssistant && Array.isArray(list) && list.length === 0,
    },
    answers: role === 'tool' ? [stringOr(message['tool_call_id'], '')] : [],
    meaning: {
      role: role === 'other' ? roleText : role,
      name: stringOr(message['name'], null),
      content,
      calls,
    },
    media,
  }
}

/** @internal exported for tests. The texts of a parsed message. */
export function parseMessage(message: JsonObject): ParsedMessage & { readonly calls: readonly Call[] } {
  const { texts, opaqueCharacters } = readThoughts(message)
  const refusal = stringOr(message['refusal'], '')
  const odd = oddContent(message) ?? ''
  const uncut = new Set([...texts, refusal, odd])
  uncut.delete('')
  const besides = message['role'] === 'assistant' ? [odd, refusal] : [odd]
  return {
    text: textOf(message['content']),
    calls: readCalls(message) ?? [],
    uncut: [...uncut].join('\n'),
    besides: besides.filter((text) => text !== '').join('\n'),
    opaqueCharacters,
  }
}

// --- internal ---

/**
 * Users' messages, given as JSON, as they are joined: where not all bear one name none bears one, and each has its own before
 * its text. Else the words of all would be those of whoever spoke first.
 */
function saidApart(messages: readonly string[]): readonly string[] {
  const names = messages.map((message) => valueText(message, 'name'))
  if (names.every((name) => name === names[0])) return messages
  return messages.map((message, position) => {
    const said = (names[position] ?? '').slice(1, -1)
    const content = contentIn(message)
    if (said === '' || content === null) return message
    const isEmpty = /^\[\s*\]$/.test(content.json)
    const named =
      content.kind === 'string'
        ? `"${said}: ${content.json.slice(1)}`
        : `[${textPart(`"${said}:"`)}${isEmpty ? '' : ','}${content.json.slice(1)}`
    return withContent(withoutMembers(message, NAME), named)
  })
}

const NAME: ReadonlySet<string> = new Set(['name'])

/** `streamOptions` as they were parsed; undefined if there are none. */
function usageRequestOf(spans: ReadonlyMap<string, ValueSpan>, streamOptions: unknown): BodyEdit | null {
  const stream = spans.get('stream')
  const options = spans.get('stream_options')
  if (stream === undefined) return null
  if (options === undefined) return { at: emptySpan(stream.end), text: `,"stream_options":{${askForUsage}}` }
  if (streamOptions === null) return { at: options, text: `{${askForUsage}}` }
  if (!isJsonObject(streamOptions) || Object.hasOwn(streamOptions, 'include_usage')) return null
  const isEmpty = Object.keys(streamOptions).length === 0
  return { at: emptySpan(options.start + 1), text: isEmpty ? askForUsage : `${askForUsage},` }
}

const askForUsage = '"include_usage":true'

const roleOf: Readonly<Record<string, Role>> = {
  system: 'system',
  developer: 'developer',
  user: 'user',
  assistant: 'assistant',
  tool: 'tool',
  function: 'tool',
}

/** A content that is neither text nor parts, as JSON; '' if it is one of these, null if it is nested too deep. */
function oddContent({ content }: JsonObject): string | null {
  const isOdd = isJsonObject(content) || typeof content === 'number' || typeof content === 'boolean'
  return isOdd ? stringifyJson(content) : ''
}

/** How a model is asked for a summary by a chat completion. */
const summaryCalls: SummaryCalls = {
  headers: {},
  limitFields: ['max_tokens', 'max_completion_tokens'],

  ownFields: fieldSet('model messages stream stream_options n tools tool_choice functions function_call'),

  asked: (system, user) => ({
    messages: [
      ...(system === '' ? [] : [{ role: 'system', content: system }]),
      { role: 'user', content: user },
    ],
  }),

  ofTheReply: fieldSet(
    `max_tokens max_completion_tokens stream stream_options n stop logprobs top_logprobs prediction store
     metadata audio modalities web_search_options`,
    // Of vLLM, SGLang and llama.cpp: what an answer must look like, and that the last message is to be continued.
    `add_generation_prompt continue_final_message echo grammar guided_choice guided_grammar guided_json
     guided_regex ignore_eos json_schema min_tokens regex structured_outputs`,
  ),

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

/** OpenAI's chat completions, as its own servers and those of many others speak it. An entry is a message. */
export const chatCompletions: Dialect = {
  name: 'chat-completions',
  entryName: 'message',
  paths: ['chat/completions'],
  bodies: chatBody,
  entries: {
    describe: describeMessage,
    parse: parseMessage,
    slots: slotsOf,
    edited: (source, message, texts, mediaKept) => edited(source, message, texts, mediaKept, textPart),
    withoutMedia: (source, message, kept, mark) =>
      withoutMedia(source, message, valueIn(source, message, 'content'), kept, mark, textPart),
    unbound: unboundMessage,
    user: (text) => JSON.stringify({ role: 'user', content: text }),
    joined: (messages, base) => joinedMessages(saidApart(messages), base, textPart),
  },
  rules: chatRules,
  answers: {
    streamType: 'text/event-stream',
    limits: chatLimits,
    read: readAnswer,
    openStream: () => readEvent,
    isTelling,
    eventsOf: chatEvents,
    usageHider: createUsageHider,
  },
  replies: {
    ...joiningOf(chatAnswerWire),
    isDone: (event) => readEventText(event).kind === 'done',
    errorEvent: (error) => writeEvent('', error),
    answeredCalls: recallTurn,
    goOn: goOnWith({}),
    unbound: unboundTurns,
    bindsThoughts: false,
  },
  summaries: summaryCalls,
  recallTool: functionTool,
  bindsThoughts: () => true,
  errorBody,
}
