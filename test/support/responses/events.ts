import { piecesOf } from '../strict-upstream/reply-script.ts'
import { textOf } from '../strict-upstream/wire-message.ts'
import { responseOf, type WrittenReply } from './reply.ts'
import { partsOf, type WireItem } from './wire-item.ts'

/** The events of a streamed answer. There is no `[DONE]`. */
export function* responseEvents(reply: WrittenReply): Generator<string> {
  const events = openEvents()
  yield* opening(events, reply)
  for (const [index, item] of reply.output.entries()) yield* itemEvents(events, item, index)
  const { status } = reply.end
  yield events(`response.${status}`, { response: responseOf(reply, status) })
}

/** A stream that fails before any output; an `error` event may come first. `errorType` stands beside the error. */
export function* failedEvents(
  reply: WrittenReply,
  errorEvent: 'none' | 'nested' | 'flat',
  errorType: string | undefined,
): Generator<string> {
  const events = openEvents()
  yield* opening(events, reply)
  if (reply.end.status !== 'failed') return
  const { code, message } = reply.end
  const error = { code, message, param: 'input' }
  if (errorEvent === 'nested') yield events('error', { error: { type: 'invalid_request_error', ...error } })
  if (errorEvent === 'flat') yield events('error', error)
  const stated = errorType === undefined ? {} : { error_type: errorType }
  yield events('response.failed', { response: responseOf(reply, 'failed'), ...stated })
}

// --- internal ---

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
  const summary = partsOf(item['summary'], 'output_text')[0]
  if (summary !== undefined) {
    const inPart = { ...inItem, summary_index: 0 }
    const text = textOf(summary['text'])
    yield events('response.reasoning_summary_part.added', { ...inPart, part: { ...summary, text: '' } })
    for (const delta of piecesOf(text)) {
      yield events('response.reasoning_summary_text.delta', { ...inPart, delta, obfuscation: '' })
    }
    yield events('response.reasoning_summary_text.done', { ...inPart, text })
    yield events('response.reasoning_summary_part.done', { ...inPart, part: summary })
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
