import {
  isJsonObject,
  isPresent,
  objectsOf,
  type JsonObject,
  parseJson,
  parseJsonText,
  stringifyJson,
  stringOr,
} from '../../json/json-value.ts'
import { errorBody } from '../../errors.ts'
import { fieldSet, spanOfWords, spanOpening } from '../body-members.ts'
import { contentParts, textOf } from '../content/content-parts.ts'
import { joinedMessages } from '../content/joined-content.ts'
import type { BodyFacts, BodyShape, Dialect, Orphan, SummaryCalls } from '../contract.ts'
import { describeItem, parseItem, unnamed } from './describe.ts'
import { isDone, responseEvents } from './reply/events.ts'
import { recallItems, unboundItems } from './reply/turns.ts'
import { goOnWith } from '../turns.ts'
import { responseAnswerWire } from './reply/wire.ts'
import { joiningOf } from '../joined-reply.ts'
import { errorEvent } from '../typed-events.ts'
import { editedItem, inputTextPart, itemSlots, withoutItemMedia } from './slots.ts'
import type { Answers } from '../answer-contract.ts'
import { isTellingEvent, openStream, readResponse } from './read-answer.ts'
import type { Source } from '../../json/source.ts'
import type { ValueSpan } from '../../json/body-spans.ts'
import { firstOf, valueIn } from '../content/slots.ts'
import { callIdOf, kindOf, picturesBeside, saidIn } from './item-kinds.ts'
import type { Message } from '../../conversation/message.ts'
import { readable } from '../shortened-message.ts'
import { NO_RESULT } from '../repair.ts'

/**
 * The fields that a request of a client key confined to profiles may have: those of OpenAI's API, and what servers take beside
 * them. None chooses a model but `model`. Not here are `prompt`, which names a stored prompt with a model of its own, and what
 * may choose one at some gateway.
 */
const responsesFields = fieldSet(
  // OpenAI
  `model input instructions background client_metadata context_management conversation image include
   max_output_tokens max_tool_calls metadata parallel_tool_calls previous_response_id prompt_cache_key
   prompt_cache_options prompt_cache_retention reasoning safety_identifier service_tier store stream
   stream_options temperature text tool_choice tools top_logprobs top_p truncation user`,
  // vLLM, SGLang, OpenRouter
  `cache_salt enable_response_messages frequency_penalty include_stop_str_in_output min_p
   mm_processor_kwargs modalities presence_penalty previous_input_messages priority provider
   repetition_penalty request_id seed session_id stop stop_token_ids structured_outputs top_k`,
)

/** How the body of a request for a response is written. */
const responsesBody: BodyShape = {
  keys: { history: 'input', content: null },
  knownFields: responsesFields,
  readNames: fieldSet(
    'model stream max_output_tokens store tool_choice previous_response_id conversation context_management',
  ),
  limitNames: ['max_output_tokens'],
  refusal: (source, { spans, values }) => {
    // vLLM's: a history in another form, which stands before the input.
    const before = spanOpening('[', source, spans.get('previous_input_messages'))
    const isKept = isPresent(values.get('previous_response_id')) || isPresent(values.get('conversation'))
    if (isKept || (before !== null && before.elements > 0)) return 'stateful'
    return compactsItself(values.get('context_management')) ? 'native' : null
  },
  fromText: (text) => ({ role: 'user', content: text }),
  facts: (source, { spans, values }) => ({
    canGoOn: values.get('store') === false && spanOpening('[', source, spans.get('input')) !== null,
    system: spanOfWords(source, spans.get('instructions')),
    schema: schemaOf(source, spans.get('text')),
  }),
}

/** @internal exported for tests. Reads what a server answers to a request for a response, or for a compaction. */
export const responsesAnswers: Answers = {
  // The last event of a stream repeats all of its output, and the first ones the instructions and the tools.
  streamType: 'text/event-stream',
  limits: {
    eventCharactersMax: 8 * 1024 * 1024,
    undecidedCharactersMax: 4 * 1024 * 1024,
    endingBytes: 256 * 1024,
  },
  read: readResponse,
  openStream,
  isTelling: isTellingEvent,
  eventsOf: responseEvents,
}

// --- internal ---

/** Whether the server is asked to compact the history from some size on. */
function compactsItself(management: unknown): boolean {
  return objectsOf(Array.isArray(management) ? management : [management]).some(
    ({ type }) => type === 'compaction',
  )
}

/** The form of the reply, if it is another than text. */
function schemaOf(source: Source, config: ValueSpan | undefined): BodyFacts['schema'] {
  const text = spanOpening('{', source, config)
  const format = text === null ? null : valueIn(source, text, 'format')
  if (text === null || format === null || firstOf(source, format) !== '{') return null
  const type = valueIn(source, format, 'type')
  const isText = type === null || source.latin1(type.start, type.end) === '"text"'
  return isText ? null : { ...format, elements: text.elements }
}

/** How a model is asked for a summary by the Responses API. */
const responsesSummaries: SummaryCalls = {
  headers: {},
  limitFields: ['max_output_tokens'],

  ownFields: fieldSet(
    `model input instructions stream stream_options tools tool_choice previous_response_id conversation
     background store`,
  ),

  asked: (system, user) => ({
    input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: user }] }],
    ...(system === '' ? {} : { instructions: system }),
    store: false,
  }),

  ofTheReply: fieldSet(
    `background include max_output_tokens max_tool_calls metadata stream stream_options top_logprobs
     truncation`,
  ),

  read: (body) => {
    if (!isJsonObject(body) || !Array.isArray(body['output'])) return null
    const items = objectsOf(body['output'])
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

function withoutRefusals(content: unknown): { readonly text: string; readonly isRefusal: boolean } {
  const parts: readonly unknown[] = Array.isArray(content) ? content : [content]
  const said = parts.filter((part) => !isJsonObject(part) || part['type'] !== 'refusal')
  const isRefusal = said.length < contentParts(content).length
  return { text: textOf(Array.isArray(content) ? said : content), isRefusal }
}

/** OpenAI's Responses API, as its own servers and those of others speak it. An entry is an item of the input. */
export const responses: Dialect = {
  name: 'responses',
  entryName: 'item',
  howToSendAll:
    'have the client send all of it, with store: false and neither previous_response_id nor conversation; in the Vercel AI SDK with providerOptions: { openai: { store: false } }',
  paths: ['responses', 'responses/compact'],
  bodies: responsesBody,
  entries: {
    describe: describeItem,
    parse: parseItem,
    slots: itemSlots,
    edited: editedItem,
    withoutMedia: withoutItemMedia,
    unbound: unnamed,
    user: (text) =>
      JSON.stringify({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] }),
    joined: (items, base) => joinedMessages(items, base, inputTextPart),
  },
  // A call is answered behind the reply that makes it and before the next one; what a user says meanwhile may stand between.
  rules: {
    entryIsReply: false,
    mayInterrupt: true,
    systemMayLead: true,
    missing: missingResults,
    standIn: standInFor,
  },
  answers: responsesAnswers,
  replies: {
    ...joiningOf(responseAnswerWire),
    isDone,
    errorEvent,
    answeredCalls: recallItems,
    goOn: goOnWith({ type: 'message' }),
    unbound: unboundItems,
    bindsThoughts: true,
  },
  summaries: responsesSummaries,
  recallTool: ({ name, description, properties }) => ({
    type: 'function',
    name,
    description,
    parameters: { type: 'object', properties },
    // Left out, it would be true, which wants every property to be required.
    strict: false,
  }),
  bindsThoughts: () => true,
  errorBody,
}

/** An item makes one call at most. */
function missingResults(source: Source, call: Message): readonly string[] {
  const form = readable(source, call)
  const item = parseJson(form.source, form.message)
  const output = isJsonObject(item) ? missingOutput(item) : null
  return output === null ? [] : [JSON.stringify(output)]
}

function missingOutput(call: JsonObject): JsonObject | null {
  const named = { call_id: callIdOf(call) }
  switch (call['type']) {
    case 'function_call':
      return { type: 'function_call_output', ...named, output: NO_RESULT }
    case 'custom_tool_call':
      return { type: 'custom_tool_call_output', ...named, output: NO_RESULT }
    case 'local_shell_call':
      return { type: 'local_shell_call_output', ...named, output: NO_RESULT }
    case 'apply_patch_call':
      return { type: 'apply_patch_call_output', ...named, status: 'failed', output: NO_RESULT }
    case 'shell_call': {
      const outcome = { type: 'exit', exit_code: 1 }
      return { type: 'shell_call_output', ...named, output: [{ stdout: '', stderr: NO_RESULT, outcome }] }
    }
    default:
      return null
  }
}

/** What a user says in the place of an output that answers no call. Its parts stay as they are, media among them. */
function standInFor({ mark, json }: Orphan): string {
  const parsed = parseJsonText(json)
  const item = isJsonObject(parsed) ? parsed : {}
  const pictures = picturesBeside(item)
  const output = pictures.length > 0 ? pictures : saidIn('result', item)
  const said: readonly unknown[] = Array.isArray(output)
    ? output
    : [{ type: 'input_text', text: stringOr(output, stringifyJson(output) ?? '') }]
  return JSON.stringify({
    type: 'message',
    role: 'user',
    content: [{ type: 'input_text', text: mark }, ...said],
  })
}
