import type { Pausable } from '../../json/source.ts'
import { fieldSet } from '../body-members.ts'
import { textPart } from '../content/content-parts.ts'
import { joinedMessages } from '../content/joined-content.ts'
import type { Dialect, Orphan, SummaryCalls } from '../contract.ts'
import { messagesBody } from './body.ts'
import { messagesCacheMarks } from './cache-control.ts'
import { describeBlock, parseBlock } from './describe.ts'
import { isLastEvent, messageEvents } from './reply/events.ts'
import { recallMessages, unboundMessages } from './reply/turns.ts'
import { goOnWith } from '../turns.ts'
import { messageAnswerWire } from './reply/wire.ts'
import { joiningOf } from '../joined-reply.ts'
import { errorEvent } from '../typed-events.ts'
import { blockSlots, editedBlock, withoutBlockMedia } from './slots.ts'
import type { Answers } from '../answer-contract.ts'
import { isTellingMessageEvent, openMessageStream, readMessageAnswer } from './read-answer.ts'
import { type ErrorCode, type FoldgateError, httpStatusOf } from '../../errors.ts'
import {
  isJsonObject,
  objectsOf,
  type JsonObject,
  parseJsonText,
  stringifyJson,
  stringOr,
} from '../../json/json-value.ts'
import { blockKindOf } from './block-kinds.ts'
import type { Message } from '../../conversation/message.ts'
import type { Source } from '../../json/source.ts'
import { NO_RESULT } from '../repair.ts'

/** @internal exported for tests. Reads what a server answers to a request for a message. */
export const messagesAnswers: Answers = {
  streamType: 'text/event-stream',
  // What was left out of a prompt stands in the first event, block by block; longer ones hold media.
  limits: { eventCharactersMax: 4 * 1024 * 1024, undecidedCharactersMax: 1024 * 1024, endingBytes: 4_096 },
  read: readMessageAnswer,
  openStream: openMessageStream,
  isTelling: isTellingMessageEvent,
  eventsOf: messageEvents,
}

/**
 * System messages as the one that says what is left of them in the end: the API takes no two in a row. What is added and taken
 * away again, or the other way round, is not said; null where nothing is left.
 *
 * @internal exported for tests
 */
export function* joinedSystems(entries: Iterable<string>): Pausable<string | null> {
  const parsed: JsonObject[] = []
  const blocks: JsonObject[] = []
  const changes = new Map<string, JsonObject>()
  for (const entry of entries) {
    yield
    const message = parseJsonText(entry)
    if (!isJsonObject(message)) continue
    parsed.push(message)
    for (const block of blocksIn(message['content'])) {
      blocks.push(block)
      const tool = changedTool(block)
      if (tool === null) continue
      const before = changes.get(tool)
      if (before === undefined) changes.set(tool, block)
      else if (before['type'] !== block['type']) changes.delete(tool)
    }
  }
  yield
  const standing = new Set<unknown>(changes.values())
  const content = blocks.filter((block) => changedTool(block) === null || standing.has(block))
  if (content.length === 0) return null
  return JSON.stringify(Object.assign({}, ...parsed, { content }))
}

// --- internal ---

/**
 * A text, and apart from it the tag that opens it: what is marked at the tag ends before what stands within, which is
 * another one after each compaction.
 */
function openedTexts(text: string): readonly string[] {
  const tag = /^<[a-z-]+>\n/.exec(text)?.[0] ?? ''
  return [tag, text.slice(tag.length)].filter((part) => part !== '')
}

function textBlock(text: string): object {
  return { type: 'text', text }
}

/** The body of an error answer, in the shape that Anthropic's clients read, with Foldgate's own code beside the type. */
function messagesErrorBody({ code, message, param }: FoldgateError): string {
  const type = errorTypeOf[httpStatusOf[code]]
  return JSON.stringify({ type: 'error', error: { type, message, param, code }, request_id: null })
}

/** What Anthropic's API calls the errors of a status, or of the nearest that it answers with. */
const errorTypeOf: Readonly<Record<(typeof httpStatusOf)[ErrorCode], string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  413: 'request_too_large',
  426: 'invalid_request_error',
  431: 'request_too_large',
  500: 'api_error',
  502: 'api_error',
  503: 'overloaded_error',
  504: 'timeout_error',
}

function blocksIn(content: unknown): readonly JsonObject[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return objectsOf(content)
}

/** Which tool a block adds or takes away; null for any other block. */
function changedTool({ type, tool }: JsonObject): string | null {
  if (type !== 'tool_addition' && type !== 'tool_removal') return null
  const name = isJsonObject(tool) ? (tool['name'] ?? tool['tool_name']) : undefined
  return typeof name === 'string' ? name : JSON.stringify(tool)
}

/** How a model is asked for a summary by the Messages API. */
const messagesSummaries: SummaryCalls = {
  headers: { 'anthropic-version': '2023-06-01' },
  limitFields: ['max_tokens'],
  mustLimit: true,

  ownFields: fieldSet(
    'model messages system stream tools tool_choice thread compaction context_management mcp_servers',
  ),

  asked: (system, user) => ({
    messages: [{ role: 'user', content: user }],
    ...(system === '' ? {} : { system }),
  }),

  ofTheReply: fieldSet(
    `compaction container diagnostics fallbacks max_tokens metadata output_config output_format
     stop_sequences stream`,
  ),
  // A budget of thinking has to be below the limit of the whole reply, which is another one here.
  alsoSaid: ({ thinking }, fields) =>
    isJsonObject(thinking) && thinking['budget_tokens'] !== undefined ? { thinking: fields['thinking'] } : {},

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

/**
 * Anthropic's Messages API, as its own servers and those of others speak it. An entry is a block of an assistant's message, or of
 * a user's that brings results; every other message is one as a whole.
 */
export const messages: Dialect = {
  name: 'messages',
  entryName: 'block',
  howToSendAll: 'have the client send all of its messages, without thread',
  paths: ['messages'],
  bodies: messagesBody,
  entries: {
    describe: describeBlock,
    parse: parseBlock,
    slots: blockSlots,
    edited: editedBlock,
    withoutMedia: withoutBlockMedia,
    // Thoughts are blocks of their own, and nothing names them.
    unbound: (entry) => entry,
    user: (text) => JSON.stringify({ role: 'user', content: openedTexts(text).map(textBlock) }),
    joined: (entries, base) => joinedMessages(entries, base, textPart),
    joinedSystems,
  },
  rules: {
    entryIsReply: false,
    mayInterrupt: false,
    systemMayLead: false,
    isSorted: true,
    missing: missingResults,
    alone: (results) => `{"role":"user","content":[${results.join(',')}]}`,
    standIn: standInFor,
  },
  answers: messagesAnswers,
  replies: {
    ...joiningOf(messageAnswerWire),
    isDone: isLastEvent,
    errorEvent,
    answeredCalls: recallMessages,
    goOn: goOnWith({}),
    unbound: unboundMessages,
    bindsThoughts: true,
  },
  summaries: messagesSummaries,
  recallTool: ({ name, description, properties }) => ({
    name,
    description,
    input_schema: { type: 'object', properties },
  }),
  // Imitators sign with a UUID, or with whatever was sent.
  bindsThoughts: (names, isAnthropic) => isAnthropic || names.some((name) => /claude|anthropic/i.test(name)),
  cacheMarks: messagesCacheMarks,
  errorBody: messagesErrorBody,
}

function missingResults(_: Source, { facts }: Message, positions: readonly number[]): readonly string[] {
  return positions.map((position) =>
    JSON.stringify({ type: 'tool_result', tool_use_id: facts.callIds[position], content: NO_RESULT }),
  )
}

/** One block, with the words of the result or with what it shows. */
function standInFor({ mark, json }: Orphan): string {
  const block = parseJsonText(json)
  const content: unknown = isJsonObject(block) ? block['content'] : null
  const parts: readonly unknown[] = Array.isArray(content)
    ? content
    : [{ type: 'text', text: stringOr(content, '') }]
  const said = parts.map((part) =>
    isJsonObject(part) && typeof part['text'] === 'string' ? part['text'] : stringifyJson(part),
  )
  return JSON.stringify({ type: 'text', text: [mark, ...said].filter((text) => text !== '').join('\n') })
}
