import { piecesOf } from '../strict-upstream/reply-script.ts'
import { textOf } from '../strict-upstream/wire-message.ts'
import { contextManagementOf, messageOf, usageBody, type WrittenReply } from './reply.ts'
import { typeOf, type WireBlock } from './wire-block.ts'

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

// --- internal ---

function event(type: string, members: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`
}

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
