import { isJsonObject, isPresent } from '../../json/json-value.ts'
import { errorBody } from '../../errors.ts'
import { type BodyShape, findHistory, names, readBody, spanOfWords, spanOpening } from '../body-members.ts'
import { textOf } from '../content/content-parts.ts'
import { joinedMessages } from '../content/joined-content.ts'
import type { BodyFacts, Dialect, RecallTools } from '../contract.ts'
import { describeItem, parseItem, unnamed } from './describe.ts'
import { responsesRules } from './rules.ts'
import { responsesReplies } from './reply/replies.ts'
import { editedItem, inputTextPart, itemSlots, withoutItemMedia } from './slots.ts'
import { responsesSummaries } from './summaries.ts'
import type { Answers } from '../answer-contract.ts'
import { thoughtRefusalIn } from '../thought-refusals.ts'
import { readResponse } from './read-answer.ts'
import { isTellingEvent, openStream } from './read-stream.ts'
import { responseAsStream } from './reply/as-stream.ts'
import type { Source } from '../../json/source.ts'
import type { ValueSpan } from '../../json/body-spans.ts'
import { firstOf, valueIn } from '../content/slots.ts'

/**
 * The fields that a request of a client key confined to profiles may have: those of OpenAI's API, and what servers take beside
 * them. None chooses a model but `model`. Not here are `prompt`, which names a stored prompt with a model of its own, and what
 * may choose one at some gateway.
 */
const responsesFields = names(
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
  readNames: names(
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
  mayBeText: true,
  facts: (source, { spans, values }) => ({
    canGoOn: values.get('store') === false && spanOpening('[', source, spans.get('input')) !== null,
    system: spanOfWords(source, spans.get('instructions')),
    schema: schemaOf(source, spans.get('text')),
  }),
}

/** @internal exported for tests. Reads what a server answers to a request for a response, or for a compaction. */
export const responsesAnswers: Answers = {
  // The last event of a stream repeats all of its output, and the first ones the instructions and the tools.
  limits: {
    eventCharactersMax: 8 * 1024 * 1024,
    undecidedCharactersMax: 4 * 1024 * 1024,
    endingBytes: 256 * 1024,
  },
  read: readResponse,
  openStream,
  isTelling: isTellingEvent,
  asStream: responseAsStream,
  thoughtRefusal: thoughtRefusalIn,
  // Every stream states its usage.
  usageHider: null,
}

const responsesRecallTools: RecallTools = {
  tool: ({ name, description, properties }) => ({
    type: 'function',
    name,
    description,
    parameters: { type: 'object', properties },
    // Left out, it would be true, which wants every property to be required.
    strict: false,
  }),

  namesIn: (tools) =>
    tools.flatMap((tool) => {
      if (!isJsonObject(tool)) return []
      const inNamespace = Array.isArray(tool['tools']) ? responsesRecallTools.namesIn(tool['tools']) : []
      return [...(typeof tool['name'] === 'string' ? [tool['name']] : []), ...inNamespace]
    }),
}

/** OpenAI's Responses API, as its own servers and those of others speak it. An entry is an item of the input. */
export const responses: Dialect = {
  name: 'responses',
  entryName: 'item',
  howToSendAll:
    'have the client send all of it, with store: false and neither previous_response_id nor conversation; in the Vercel AI SDK with providerOptions: { openai: { store: false } }',
  paths: ['responses', 'responses/compact'],
  bodies: {
    knownFields: responsesFields,
    findHistory: (source) => findHistory(source, 'input'),
    read: (source, limits, known) => readBody(responsesBody, source, limits, known),
    isSurelyOwn: () => false,
    systemText: (instructions) =>
      Array.isArray(instructions) ? instructions.map(textOfItem).join('\n') : textOf(instructions),
  },
  entries: {
    describe: describeItem,
    fromText: (text) => ({ role: 'user', content: text }),
    parse: parseItem,
    slots: itemSlots,
    edited: editedItem,
    withoutMedia: withoutItemMedia,
    unbound: unnamed,
    user: (text) =>
      JSON.stringify({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] }),
    joined: (items, base) => joinedMessages(items, base, inputTextPart),
    joinedSystems: null,
  },
  rules: responsesRules,
  answers: responsesAnswers,
  replies: responsesReplies,
  summaries: responsesSummaries,
  recall: responsesRecallTools,
  bindsThoughts: () => true,
  cacheMarks: null,
  errorBody,
}

// --- internal ---

function textOfItem(item: unknown): string {
  return isJsonObject(item) ? textOf(item['content']) : ''
}

/** Whether the server is asked to compact the history from some size on. */
function compactsItself(management: unknown): boolean {
  const edits = Array.isArray(management) ? management : [management]
  return edits.some((edit: unknown) => isJsonObject(edit) && edit['type'] === 'compaction')
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
