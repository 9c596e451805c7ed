import { expect } from 'vitest'
import { isJsonObject, parseJsonText, type JsonObject, stringOr } from '../../src/json/json-value.ts'
import type { Finish, Replies, StreamEvent } from '../../src/formats/answer-contract.ts'
import { chatCompletions } from '../../src/formats/chat/chat.ts'
import { messages as messagesDialect } from '../../src/formats/messages/messages.ts'
import { ollamaChat } from '../../src/formats/ollama/ollama.ts'
import { responses as responsesDialect } from '../../src/formats/responses/responses.ts'
import * as deltas from './chat/reply/streamed.ts'
import { eventsIn } from './joined.ts'
import * as blocks from './messages/reply/streamed.ts'
import * as lines from './ollama/reply/streamed.ts'
import * as items from './responses/reply/streamed.ts'

const DONE = 'data: [DONE]\n\n'

const cited = { citations: [{ type: 'char_location', cited_text: 'x' }] }
const refusal = { content: [{ type: 'refusal', refusal: 'No.' }] }

/** How a dialect says the same as the others. */
export type ReplyDialect = {
  readonly name: string
  readonly replies: Replies
  readonly text: (words: string, place?: string) => JsonObject
  readonly thought: (place: string) => JsonObject
  /** A call with these arguments, which may be cut. */
  readonly call: (name: string, given?: string, place?: string) => JsonObject
  /** What else an answer may hold; what it says tells of which answer, and where it stands in it. */
  readonly makers: Readonly<Record<string, (place: string) => readonly JsonObject[]>>
  /** An answer, plain and streamed. */
  readonly answer: (
    parts: readonly JsonObject[],
    about: About,
  ) => { body: JsonObject; events: readonly StreamEvent[] }
  /** What a strict client makes of a stream. */
  readonly read: (out: readonly (StreamEvent | string)[]) => JsonObject
  readonly partsIn: (body: JsonObject) => readonly JsonObject[]
  readonly textsIn: (body: JsonObject) => readonly string[]
  /** Whether a call may come cut; if not, one that was cut does not come. */
  readonly cutsCalls: boolean
  /** How a reply with calls says that it ended. */
  readonly callsEnd: Finish
  /** What a reply says that was cut. */
  readonly cut: object
  /** A plain answer that is none, and what ends a stream beside its own end. */
  readonly failed: unknown
  readonly lastWords: readonly string[]
}

/** The first answer is at 0. */
type About = {
  readonly at: number
  readonly isCut: boolean
  readonly tokens: number | null
  readonly cachedTokens: number
  readonly pieceCharacters: number
}

const piecesOf = (text: string, characters: number) =>
  text.match(new RegExp(`[^]{1,${characters}}`, 'g')) ?? []

export const chats: ReplyDialect = {
  name: 'chat completions',
  replies: chatCompletions.replies,
  text: (content) => ({ content }),
  thought: (place) => ({ reasoning_content: `I think ${place}. ` }),
  call: (name, given = '{}', place = name) => ({
    tool_calls: { id: `call_${place}`, type: 'function', function: { name, arguments: given } },
  }),
  makers: {},
  answer: (parts, { at, isCut, tokens, pieceCharacters }) => {
    const said = (key: string) => parts.map((part) => stringOr(part[key], '')).join('')
    const [content, thought] = [said('content'), said('reasoning_content')]
    const calls = parts.flatMap(({ tool_calls: call }) => (isJsonObject(call) ? [call] : []))
    const id = `chatcmpl-${at}`
    const reason = isCut ? 'length' : calls.length > 0 ? 'tool_calls' : 'stop'
    const usage = tokens === null ? {} : { usage: { prompt_tokens: tokens, completion_tokens: 1 } }
    const message = {
      role: 'assistant',
      content,
      ...(thought === '' ? {} : { reasoning_content: thought }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    }
    const pieces = calls.flatMap((call, index) => {
      const { name, arguments: given } = Object(call['function'])
      const begun = { index, ...call, function: { name, arguments: '' } }
      const grown = piecesOf(given, pieceCharacters).map((piece) => ({
        index,
        function: { arguments: piece },
      }))
      return [begun, ...grown].map((delta) => ({ tool_calls: [delta] }))
    })
    const texts = piecesOf(content, pieceCharacters).map((piece) => ({ content: piece }))
    const thoughts = piecesOf(thought, pieceCharacters).map((piece) => ({ reasoning_content: piece }))
    const begun = { role: 'assistant', content: '' }
    return {
      body: {
        id,
        object: 'chat.completion',
        created: id.length,
        model: 'm',
        choices: [{ index: 0, message, finish_reason: reason }],
        ...usage,
      },
      events: deltas.eventsOf([begun, ...thoughts, ...texts, ...pieces], { id, reason, ...usage }),
    }
  },
  read: (out) => {
    const { text, reasoning, calls, reasons, ids, roles, usage, done } = deltas.readAsClient(out)
    const [[id], [reason]] = [[...ids], reasons]
    expect([ids.size, reasons.length, roles, done]).toEqual([1, 1, 1, 1])
    const made = calls.map(({ id: callId, ...call }) => ({ id: callId, type: 'function', function: call }))
    const message = {
      role: 'assistant',
      content: text,
      ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
      ...(made.length === 0 ? {} : { tool_calls: made }),
    }
    return {
      id,
      object: 'chat.completion',
      created: String(id).length,
      model: 'm',
      choices: [{ index: 0, message, finish_reason: reason }],
      ...(usage === null ? {} : { usage }),
    }
  },
  partsIn: ({ choices }) =>
    objectsIn(choices).flatMap(({ message }) => objectsIn(Object(message).tool_calls)),
  textsIn: ({ choices }) =>
    objectsIn(choices).flatMap(({ message }) => stringOr(Object(message).content, '') || []),
  cut: { choices: [{ finish_reason: 'length' }] },
  cutsCalls: true,
  callsEnd: 'calls',
  failed: { choices: [1, 2] },
  lastWords: [DONE],
}

export const messages: ReplyDialect = {
  name: 'messages',
  replies: messagesDialect.replies,
  text: (said) => blocks.text(said),
  thought: (place) => blocks.thought(`I think ${place}`),
  call: (name, given = '{}', place = name) =>
    blocks.callOf(name, Object(parseJsonText(given) ?? { text: 'ab' }), `toolu_${place}`),
  makers: {
    secret: (place) => [{ type: 'redacted_thinking', data: `secret ${place}` }],
    cited: (place) => [blocks.text(`It says ${place}`, cited)],
    search: (place) => blocks.search(`srvtoolu_${place}`),
  },
  answer: (content, { at, isCut, tokens, cachedTokens, pieceCharacters }) => {
    const about = {
      id: `msg_${at}`,
      ...(isCut ? { reason: 'max_tokens' } : {}),
      usage: { input_tokens: tokens ?? 0, cache_read_input_tokens: cachedTokens, output_tokens: 1 },
    }
    return {
      body: blocks.messageOf(content, about),
      events: blocks.streamOf(content, about, pieceCharacters),
    }
  },
  read: blocks.readStrictly,
  partsIn: ({ content }) => objectsIn(content),
  textsIn: ({ content }) =>
    objectsIn(content).flatMap(({ type, text }) => (type === 'text' ? [String(text)] : [])),
  cutsCalls: true,
  callsEnd: 'calls',
  cut: { stop_reason: 'max_tokens' },
  failed: { ...blocks.messageOf([blocks.text('x')]), error: { type: 'api_error', message: 'x' } },
  lastWords: [DONE, 'event: error\ndata: {"type":"error","error":{"type":"api_error"}}\n\n'],
}

const failedResponse = items.responseOf([], {
  status: 'failed',
  more: { error: { code: 'server_error', message: 'x' } },
})

export const responses: ReplyDialect = {
  name: 'responses',
  replies: responsesDialect.replies,
  text: (said, place = said) => items.message(said, `msg_${place}`),
  thought: (place) => items.thought(`rs_${place}`),
  call: (name, given, place = name) => items.callOf(name, given, `fc_${place}`),
  makers: {
    refusal: (place) => [items.message('', `msg_${place}`, refusal)],
    search: (place) => [items.search(`ws_${place}`)],
  },
  answer: (output, { at, isCut, tokens, pieceCharacters }) => {
    const about = {
      id: `resp_${at}`,
      ...(isCut ? { reason: 'max_output_tokens' } : {}),
      ...(tokens === null ? {} : { usage: { input_tokens: tokens, output_tokens: 1 } }),
    }
    // A response in which there is nothing to show has no stream that says the same: one event is left out again.
    const whole = items.streamOf([...output, items.search('ws_last')], about, pieceCharacters)
    const body = items.responseOf(output, about)
    const events = eventsIn(whole)
      .filter((event) => !JSON.stringify([event['item'], event['item_id']]).includes('ws_last'))
      .map((event) => (isEnd(event) ? { ...event, response: body } : event))
    return { body, events: items.numbered(events) }
  },
  read: items.endOf,
  partsIn: ({ output }) => objectsIn(output),
  textsIn: ({ output }) =>
    objectsIn(output).flatMap(({ content }) =>
      Array.isArray(content)
        ? [
            objectsIn(content)
              .map(({ text }) => text)
              .join(''),
          ]
        : [],
    ),
  cutsCalls: true,
  callsEnd: 'calls',
  cut: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
  failed: failedResponse,
  lastWords: [DONE, `data: ${JSON.stringify({ type: 'response.failed', response: failedResponse })}\n\n`],
}

/** Its calls come whole, and a reply has no id: of which answer it is, its time tells. */
export const ollama: ReplyDialect = {
  name: 'ollama',
  replies: ollamaChat.replies,
  text: (content) => ({ content }),
  thought: (place) => ({ thinking: `I think ${place}. ` }),
  call: (name, given = '{}') => {
    const read = parseJsonText(given)
    return isJsonObject(read) ? { tool_calls: [{ function: { name, arguments: read } }] } : {}
  },
  makers: {},
  answer: (parts, { at, isCut, tokens, pieceCharacters }) => {
    const said = (key: string) => parts.map((part) => stringOr(part[key], '')).join('')
    const [content, thinking] = [said('content'), said('thinking')]
    const calls = parts.flatMap(({ tool_calls: list }) => objectsIn(list))
    const counts = {
      created_at: `at ${at}`,
      ...(tokens === null ? {} : { prompt_eval_count: tokens, eval_count: 1 }),
    }
    const reason = isCut ? 'length' : 'stop'
    const message = {
      content,
      ...(thinking === '' ? {} : { thinking }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    }
    const pieces = [
      ...piecesOf(thinking, pieceCharacters).map((piece) => ({ thinking: piece })),
      ...piecesOf(content, pieceCharacters).map((piece) => ({ content: piece })),
      ...calls.map((call) => ({ tool_calls: [call] })),
    ]
    return {
      body: lines.plainAnswer(message, reason, counts),
      events: lines.streamOf(pieces, counts, reason).map((text) => ({ text })),
    }
  },
  read: lines.readStrictly,
  partsIn: ({ message }) => objectsIn(Object(message).tool_calls),
  textsIn: ({ message }) => [stringOr(Object(message).content, '')].filter((text) => text !== ''),
  cutsCalls: false,
  callsEnd: 'end',
  cut: { done_reason: 'length' },
  failed: { ...lines.plainAnswer({ content: 'x' }, 'stop'), error: 'x' },
  lastWords: [],
}

const objectsIn = (list: unknown): readonly JsonObject[] =>
  Array.isArray(list) ? list.filter(isJsonObject) : []

const isEnd = ({ type }: JsonObject): boolean =>
  type === 'response.completed' || type === 'response.incomplete'
