import { type WireBlock, typeOf } from './wire-block.ts'
import type { Transformation } from './judgement.ts'
import type { CacheUse } from './mark-cache.ts'
import { piecesOf } from '../strict-upstream/reply-script.ts'
import { textOf } from '../strict-upstream/wire-message.ts'

/** What the Messages upstream answers to a request that it accepts. */
export type MessagesScript = {
  readonly content: readonly ScriptedBlock[]
  /** Default: `tool_use` where a tool is called, else `end_turn`. */
  readonly stopReason?: string
}

export type ScriptedBlock =
  /** Its signature comes from the upstream. Without a text the signature is all there is of `tokens` of thoughts; default 200. */
  | { readonly type: 'thinking'; readonly tokens?: number; readonly text?: string }
  | { readonly type: 'redacted_thinking'; readonly tokens?: number }
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'tool_use'
      readonly id: string
      readonly name: string
      readonly input: Readonly<Record<string, unknown>>
    }
  /** What stands for the history from then on; its signature comes from the upstream too. */
  | { readonly type: 'compaction'; readonly text: string }
  /** Any other, as it is. */
  | { readonly type: 'verbatim'; readonly block: WireBlock }

/** Signs what a block shows for so many tokens of thoughts. */
export type Signing = (block: WireBlock, tokens: number) => string

/** A scripted block as it stands in the reply. */
export function scriptedBlock(scripted: ScriptedBlock, sign: Signing): WireBlock {
  const { type } = scripted
  if (type === 'verbatim') return scripted.block
  if (type === 'text') return { type, text: scripted.text }
  if (type === 'tool_use') return { type, id: scripted.id, name: scripted.name, input: scripted.input }
  if (type === 'compaction') {
    const block = { type, content: scripted.text }
    return { ...block, signature: sign(block, SIGNATURE_TOKENS) }
  }
  const { tokens = THINKING_TOKENS } = scripted
  if (type === 'redacted_thinking') return { type, data: sign({ type }, tokens) }
  const { text } = scripted
  const block = { type, thinking: text ?? '' }
  return { ...block, signature: sign(block, text === undefined ? tokens : SIGNATURE_TOKENS) }
}

export function stopReasonOf({ content, stopReason }: MessagesScript): string {
  if (stopReason !== undefined) return stopReason
  if (content.some(({ type }) => type === 'compaction')) return 'compaction'
  return content.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn'
}

/** Null where the server states none. */
export type MessagesUsage = {
  readonly promptTokens: number
  /** Null where the server says nothing of a cache. */
  readonly cache: CacheUse | null
  readonly outputTokens: number
} | null

/** A reply with everything that stands in its body and events. */
export type WrittenReply = {
  readonly id: string
  /** Of the request, some of which decides what is told. */
  readonly body: WireBlock
  readonly content: readonly WireBlock[]
  readonly stopReason: string
  readonly usage: MessagesUsage
  readonly transformations: readonly Transformation[]
}

/** A reply as the message that bodies and events hold: with its blocks, or as it begins. */
export function messageOf(reply: WrittenReply, state: 'begun' | 'whole') {
  const { id, body, content, usage, transformations, stopReason } = reply
  const isWhole = state === 'whole'
  return {
    id,
    type: 'message',
    role: 'assistant',
    model: body['model'],
    content: isWhole ? content : [],
    stop_reason: isWhole ? stopReason : null,
    stop_sequence: null,
    ...(usage !== null && { usage: usageBody(isWhole ? usage : { ...usage, outputTokens: 1 }) }),
    ...(transformations.length > 0 && { input_transformations: transformations }),
    ...(isWhole && contextManagementOf(reply)),
  }
}

/** What the server did to the history itself: nothing. It says so where it was asked. */
const contextManagementOf = ({ body }: WrittenReply) =>
  body['context_management'] === undefined ? {} : { context_management: { applied_edits: [] } }

/** As a body states it. */
function usageBody({ promptTokens, cache, outputTokens }: NonNullable<MessagesUsage>) {
  if (cache === null) return { input_tokens: promptTokens, output_tokens: outputTokens }
  const { read, written } = cache
  const created = written['5m'] + written['1h']
  return {
    input_tokens: promptTokens - read - created,
    cache_creation_input_tokens: created,
    cache_read_input_tokens: read,
    cache_creation: {
      ephemeral_5m_input_tokens: written['5m'],
      ephemeral_1h_input_tokens: written['1h'],
    },
    output_tokens: outputTokens,
    service_tier: 'standard',
  }
}

/** The events of a streamed answer. There is no `[DONE]`. */
export function* messageEvents(reply: WrittenReply): Generator<string> {
  yield event('message_start', { message: messageOf(reply, 'begun') })
  for (const [index, block] of reply.content.entries()) {
    yield event('content_block_start', { index, content_block: begun(block) })
    if (index === 0) yield event('ping', {})
    for (const delta of deltasOf(block)) yield event('content_block_delta', { index, delta })
    yield event('content_block_stop', { index })
  }
  const { stopReason, usage } = reply
  yield event('message_delta', {
    delta: { stop_reason: stopReason, stop_sequence: null },
    ...(usage !== null && { usage: usageBody(usage) }),
    ...contextManagementOf(reply),
  })
  yield event('message_stop', {})
}

const THINKING_TOKENS = 200
/** Of a signature that holds no thoughts. */
const SIGNATURE_TOKENS = 40

const event = (type: string, members: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`

/** A block as it is when it begins. */
function begun(block: WireBlock): WireBlock {
  const type = typeOf(block)
  if (type === 'text') return { ...block, text: '' }
  if (type === 'thinking') return { type, thinking: '', signature: '' }
  if (type === 'compaction') return { type, content: '' }
  return block['input'] === undefined ? block : { ...block, input: {} }
}

function* deltasOf(block: WireBlock): Generator<object> {
  const type = typeOf(block)
  if (type === 'text') for (const text of piecesOf(textOf(block['text']))) yield { type: 'text_delta', text }
  if (type === 'thinking')
    for (const thinking of piecesOf(textOf(block['thinking']))) yield { type: 'thinking_delta', thinking }
  if (type === 'compaction') yield { type: 'compaction_delta', content: block['content'] }
  if ((type === 'thinking' || type === 'compaction') && block['signature'] !== undefined)
    yield { type: 'signature_delta', signature: block['signature'] }
  if (block['input'] === undefined) return
  yield { type: 'input_json_delta', partial_json: '' }
  const input = JSON.stringify(block['input'])
  for (const partial_json of input === '{}' ? [] : piecesOf(input))
    yield { type: 'input_json_delta', partial_json }
}
