import type { FoldgateError } from '../../errors.ts'
import { isJsonObject, type JsonObject, objectsOf, stringOr } from '../../json/json-value.ts'
import type { Source, Span } from '../../json/source.ts'
import { emptySpan, fieldSet, positiveInteger } from '../body-members.ts'
import { valueIn } from '../content/slots.ts'
import type { BodyEdit, BodyFacts, BodyMembers, BodyShape, Dialect, SummaryCalls } from '../contract.ts'
import type { AnsweredCall, Reply } from '../answer-contract.ts'
import { isText } from '../answer-json.ts'
import { joiningOf } from '../joined-reply.ts'
import { NO_RESULT } from '../repair.ts'
import { functionTool } from '../tool-lists.ts'
import { goOnWith } from '../turns.ts'
import {
  chatMessageSlots,
  describeChatMessage,
  editedChatMessage,
  joinedChatMessages,
  parseChatMessage,
  saidByUser,
  withoutImages,
} from './chat-message.ts'
import { chatAnswers, isLastLine, lineOf, readChatAnswer } from './read-answer.ts'
import { ollamaAnswerWire } from './reply/wire.ts'

const OPTIONS = 'options'

/** What is asked for is an answer at once, and no summary of a part of what it should be of. */
const PLAIN_OR_REFUSED = { stream: false, truncate: false, shift: false } as const

const bodyShape: BodyShape = {
  keys: { history: 'messages', content: null },
  knownFields: fieldSet(
    'model messages stream format keep_alive tools options think truncate shift logprobs top_logprobs',
  ),
  isSurelyOwn: (_, { fieldNames }) => fieldNames.includes(OPTIONS) || fieldNames.includes('keep_alive'),
  readNames: fieldSet('model stream options'),
  // The limit stands among the options.
  limitNames: [],
  facts: (source, members) => {
    const { spans, values } = members
    const isStreamed = values.get('stream') !== false
    return {
      isStreamed,
      withoutStreaming: isStreamed ? [plainAnswer(members)] : null,
      ...optionsOf(source, spans.get('options'), values.get('options')),
      schema: spans.get('format') ?? null,
      errorsRequest: errorsRequest(members),
    }
  },
}

/** How a model is asked for a summary: under the options that it is loaded with, or it would be loaded anew. */
const ollamaSummaries: SummaryCalls = {
  headers: {},
  limitFields: [OPTIONS],
  limit: (tokens, options) => ({ ...withoutLimits(options ?? {}), num_predict: tokens }),

  ownFields: fieldSet('model messages stream tools format truncate shift'),

  asked: (system, user) => ({
    messages: [
      ...(system === '' ? [] : [{ role: 'system', content: system }]),
      { role: 'user', content: user },
    ],
    ...PLAIN_OR_REFUSED,
  }),

  ofTheReply: fieldSet('format logprobs top_logprobs'),
  alsoSaid: (body, fields) => ({
    ...PLAIN_OR_REFUSED,
    [OPTIONS]: { ...withoutLimits(objectIn(body)), ...objectIn(fields) },
  }),

  read: (body) => {
    const message = isJsonObject(body) ? body['message'] : null
    const facts = readChatAnswer(body)
    if (!isJsonObject(message) || facts === null) return null
    return {
      text: stringOr(message['content'], ''),
      hasThoughts: stringOr(message['thinking'], '') !== '',
      hasCalls: objectsOf(message['tool_calls']).length > 0,
      hasRefusal: false,
    }
  },
}

/** Ollama's own chat, as its server and those of others speak it. An entry is a message. */
export const ollamaChat: Dialect = {
  name: 'ollama',
  entryName: 'message',
  paths: ['api/chat'],
  bodies: bodyShape,
  entries: {
    describe: describeChatMessage,
    parse: parseChatMessage,
    slots: chatMessageSlots,
    edited: editedChatMessage,
    withoutMedia: withoutImages,
    unbound: (message) => message,
    user: (text) => JSON.stringify({ role: 'user', content: text }),
    joined: joinedChatMessages,
  },
  rules: {
    entryIsReply: true,
    mayInterrupt: true,
    systemMayLead: true,
    missing: (_, { facts }, positions) =>
      positions.map((position) =>
        JSON.stringify({ role: 'tool', tool_name: facts.callNames[position], content: NO_RESULT }),
      ),
    standIn: ({ mark, json }) => saidByUser(mark, json),
  },
  answers: chatAnswers,
  replies: {
    ...joiningOf(ollamaAnswerWire),
    isDone: isLastLine,
    errorEvent: lineOf,
    answeredCalls: recallTurns,
    goOn: goOnWith({}),
    unbound: (messages) => messages,
    bindsThoughts: false,
  },
  summaries: ollamaSummaries,
  recallTool: functionTool,
  bindsThoughts: () => false,
  errorBody: ({ code, message, param }: FoldgateError) => JSON.stringify({ error: message, code, param }),
}

// --- internal ---

/** The messages, as JSON, by which a model goes on after its calls were answered: results stand in the order of the calls. */
function recallTurns(said: string, reply: Reply, answered: readonly AnsweredCall[]): readonly string[] {
  return [
    { role: 'assistant', content: said, ...reply.kept, tool_calls: answered.map(({ call }) => call.json) },
    ...answered.map(({ call: { json, name }, answer }) => ({
      role: 'tool',
      tool_name: name,
      ...(isText(json['id']) ? { tool_call_id: json['id'] } : {}),
      content: answer,
    })),
  ].map((message) => JSON.stringify(message))
}

/** Who does not say so gets a stream. */
function plainAnswer({ spans, members }: BodyMembers): BodyEdit {
  const stream = spans.get('stream')
  if (stream !== undefined) return { at: { start: stream.start, end: stream.end }, text: 'false' }
  return { at: emptySpan(members[0]?.key.start ?? 1), text: '"stream":false,' }
}

/**
 * What has the server refuse a prompt that it would cut, and end a reply that it would make room for; null if the client has
 * said what it wants. It stands behind a member that is not the history, or the request is one for no model.
 */
function errorsRequest({ spans, members }: BodyMembers): BodyEdit | null {
  const history = spans.get('messages')
  const beside = members.find(({ value }) => value.start !== history?.start)
  if (spans.has('truncate') || spans.has('shift') || beside === undefined) return null
  return { at: emptySpan(beside.value.end), text: ',"truncate":false,"shift":false' }
}

/** What the options say of the window and of the reply. */
function optionsOf(source: Source, at: Span | undefined, options: unknown): Partial<BodyFacts> {
  if (at === undefined || !isJsonObject(options)) return {}
  const tokens = positiveInteger(options['num_predict'])
  const value = tokens === null ? null : valueIn(source, at, 'num_predict')
  return {
    windowTokens: wholeTokens(options['num_ctx']),
    modelOptions: options,
    outputLimit: tokens === null || value === null ? null : { field: 'num_predict', tokens, value },
  }
}

/** The server cuts a fraction off. */
function wholeTokens(value: unknown): number | null {
  return typeof value === 'number' ? positiveInteger(Math.trunc(value)) : null
}

/** Options without those that end the client's own reply. */
function withoutLimits({ num_predict: _limit, stop: _stop, ...options }: JsonObject): JsonObject {
  return options
}

function objectIn({ options }: JsonObject): JsonObject {
  return isJsonObject(options) ? options : {}
}
