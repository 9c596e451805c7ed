import { type WireItem, partsOf } from './wire-item.ts'
import { sealedTokens } from '../strict-upstream/sealed-text.ts'
import type { RemovalReason } from './server-memory.ts'
import { textOf } from '../strict-upstream/wire-message.ts'
import { piecesOf } from '../strict-upstream/reply-script.ts'

/** What the Responses upstream answers to a request that it accepts. */
export type ResponsesScript = {
  readonly output: readonly ScriptedItem[]
  /** Default: completed. */
  readonly end?: ScriptedEnd
}

export type ScriptedItem =
  /** Its encrypted content comes from the upstream; `tokens` says how much was thought. Default 200. */
  | { readonly type: 'reasoning'; readonly tokens?: number }
  | { readonly type: 'message'; readonly text: string; readonly phase?: 'commentary' | 'final_answer' }
  | {
      readonly type: 'function_call'
      readonly callId: string
      readonly name: string
      readonly arguments: string
    }
  | {
      readonly type: 'custom_tool_call'
      readonly callId: string
      readonly name: string
      readonly input: string
    }
  /** What stands for the history from then on; its encrypted content comes from the upstream too. */
  | { readonly type: 'compaction' }
  /** Any other, as it is. */
  | { readonly type: 'verbatim'; readonly item: WireItem }

export type ScriptedEnd =
  | { readonly status: 'completed' }
  | { readonly status: 'incomplete'; readonly reason: 'max_output_tokens' | 'content_filter' }
  | { readonly status: 'failed'; readonly code: string; readonly message: string }

export type ItemMaking = {
  readonly idOf: (prefix: string) => string
  readonly sealed: (tokens: number) => string
  readonly status: 'completed' | 'incomplete'
}

/** A scripted item as it stands in the reply. */
export function scriptedItem(scripted: ScriptedItem, { idOf, sealed, status }: ItemMaking): WireItem {
  const { type } = scripted
  if (type === 'verbatim') return scripted.item
  if (type === 'compaction') return { type, id: idOf('cmp'), encrypted_content: sealed(COMPACTION_TOKENS) }
  if (type === 'reasoning') {
    const { tokens = REASONING_TOKENS } = scripted
    return { type, id: idOf('rs'), summary: [], encrypted_content: sealed(tokens) }
  }
  if (type === 'message') {
    const { text, phase } = scripted
    const content = [{ type: 'output_text', text, annotations: [], logprobs: [] }]
    return {
      type,
      id: idOf('msg'),
      status,
      role: 'assistant',
      content,
      ...(phase !== undefined && { phase }),
    }
  }
  const { callId, name } = scripted
  if (type === 'custom_tool_call')
    return { type, id: idOf('ctc'), status, call_id: callId, name, input: scripted.input }
  return { type, id: idOf('fc'), status, call_id: callId, name, arguments: scripted.arguments }
}

/** Null where the server states none. */
export type ResponsesUsage = {
  readonly promptTokens: number
  readonly cachedTokens: number
  readonly outputTokens: number
  readonly reasoningTokens: number
} | null

/** A reply with everything that stands in its body and events. */
export type WrittenReply = {
  readonly id: string
  readonly createdS: number
  /** Of the request, some of which is repeated. */
  readonly body: WireItem
  readonly output: readonly WireItem[]
  readonly end: ScriptedEnd
  readonly usage: ResponsesUsage
  readonly removed: readonly RemovedReasoning[]
}

/** Reasoning of the request that was left out of the prompt. */
export type RemovedReasoning = { readonly id: string; readonly reason: RemovalReason }

/** A reply as the object that bodies and events hold. */
export function responseOf(reply: WrittenReply, status: ScriptedEnd['status'] | 'in_progress') {
  const { body, end, usage, removed } = reply
  const isEnded = status !== 'in_progress'
  const failure = isEnded && end.status === 'failed' ? { code: end.code, message: end.message } : null
  return {
    id: reply.id,
    object: 'response',
    created_at: reply.createdS,
    status,
    background: false,
    error: failure,
    incomplete_details: isEnded && end.status === 'incomplete' ? { reason: end.reason } : null,
    instructions: body['instructions'] ?? null,
    ...(isEnded && removed.length > 0 && { input_transformations: removed.map(transformation) }),
    max_output_tokens: body['max_output_tokens'] ?? null,
    model: body['model'],
    output: isEnded ? reply.output : [],
    parallel_tool_calls: true,
    previous_response_id: body['previous_response_id'] ?? null,
    prompt_cache_key: body['prompt_cache_key'] ?? null,
    reasoning: { effort: null, summary: null },
    store: body['store'] !== false,
    temperature: 1,
    text: body['text'] ?? { format: { type: 'text' } },
    tool_choice: body['tool_choice'] ?? 'auto',
    tools: body['tools'] ?? [],
    top_p: 1,
    truncation: 'disabled',
    usage: isEnded && failure === null && usage !== null ? usageBody(usage) : null,
    user: null,
    metadata: {},
  }
}

/** Tokens of what a model has written, thoughts included. */
export function outputTokensOf(output: readonly WireItem[], count: (text: string) => number) {
  const reasoningTokens = output.reduce(
    (sum, item) => sum + sealedTokens(textOf(item['encrypted_content'])),
    0,
  )
  const texts = output.flatMap((item) => [
    ...partsOf(item['content'], 'output_text').map((part) => textOf(part['text'])),
    `${textOf(item['name'])}${textOf(item['arguments'] ?? item['input'])}`,
  ])
  return { reasoningTokens, outputTokens: texts.reduce((sum, text) => sum + count(text), reasoningTokens) }
}

/** As a body states it. */
export function usageBody(usage: NonNullable<ResponsesUsage>) {
  const { promptTokens, cachedTokens, outputTokens, reasoningTokens } = usage
  return {
    input_tokens: promptTokens,
    input_tokens_details: { cached_tokens: cachedTokens, cache_write_tokens: 0 },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: promptTokens + outputTokens,
  }
}

/** The events of a streamed answer. There is no `[DONE]`. */
export function* responseEvents(reply: WrittenReply): Generator<string> {
  const events = openEvents()
  yield* opening(events, reply)
  for (const [index, item] of reply.output.entries()) yield* itemEvents(events, item, index)
  const { status } = reply.end
  yield events(`response.${status}`, { response: responseOf(reply, status) })
}

/** A stream that fails before any output; an `error` event may come first. */
export function* failedEvents(reply: WrittenReply, errorEvent: 'none' | 'nested'): Generator<string> {
  const events = openEvents()
  yield* opening(events, reply)
  if (reply.end.status !== 'failed') return
  const { code, message } = reply.end
  const error = { type: 'invalid_request_error', code, message, param: 'input' }
  if (errorEvent === 'nested') yield events('error', { error })
  yield events('response.failed', { response: responseOf(reply, 'failed') })
}

const REASONING_TOKENS = 200
const COMPACTION_TOKENS = 300

const transformation = ({ id, reason }: RemovedReasoning) => ({
  type: 'reasoning',
  id,
  action: 'removed',
  reason,
})

type Events = (type: string, members: object) => string

/** Writes events numbered without gaps. */
function openEvents(): Events {
  let number = -1
  return (type, members) => {
    number += 1
    return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: number, ...members })}\n\n`
  }
}

function* opening(events: Events, reply: WrittenReply): Generator<string> {
  const response = responseOf(reply, 'in_progress')
  yield events('response.created', { response })
  yield events('response.in_progress', { response })
}

function* itemEvents(events: Events, item: WireItem, index: number): Generator<string> {
  const at = { output_index: index }
  const inItem = { ...at, item_id: item['id'] }
  yield events('response.output_item.added', { ...at, item: begun(item) })
  const part = partsOf(item['content'], 'output_text')[0]
  if (item['type'] === 'message' && part !== undefined) {
    const inPart = { ...inItem, content_index: 0 }
    const text = textOf(part['text'])
    yield events('response.content_part.added', { ...inPart, part: { ...part, text: '' } })
    for (const delta of piecesOf(text)) {
      yield events('response.output_text.delta', { ...inPart, delta, logprobs: [], obfuscation: '' })
    }
    yield events('response.output_text.done', { ...inPart, text, logprobs: [] })
    yield events('response.content_part.done', { ...inPart, part })
  }
  for (const [type, member, event] of callTexts) {
    if (item['type'] !== type) continue
    const text = textOf(item[member])
    for (const delta of piecesOf(text)) yield events(`${event}.delta`, { ...inItem, delta, obfuscation: '' })
    yield events(`${event}.done`, { ...inItem, name: item['name'], [member]: text })
  }
  yield events('response.output_item.done', { ...at, item })
}

/** Where the text of a call stands, and which events carry it. */
const callTexts = [
  ['function_call', 'arguments', 'response.function_call_arguments'],
  ['custom_tool_call', 'input', 'response.custom_tool_call_input'],
] as const

/** An item as it is when it begins. Encrypted content may be incomplete then. */
function begun(item: WireItem): WireItem {
  const { type, encrypted_content: sealed } = item
  if (type === 'message') return { ...item, status: 'in_progress', content: [] }
  if (type === 'function_call') return { ...item, status: 'in_progress', arguments: '' }
  if (type === 'custom_tool_call') return { ...item, status: 'in_progress', input: '' }
  if (type === 'reasoning') return { ...item, summary: [], encrypted_content: textOf(sealed).slice(0, 60) }
  return item
}
