import { isJsonObject, parseJsonText, type JsonObject } from '../../../../src/json/json-value.ts'
import type { StreamEvent } from '../../../../src/formats/answer-contract.ts'
import { messages } from '../../../../src/formats/messages/messages.ts'
import { asStream } from '../../../../src/formats/typed-events.ts'
import { eventOf, eventsIn } from '../../joined.ts'

/** What a message says beside its content. */
export type About = {
  readonly id?: string
  readonly reason?: string
  readonly usage?: object
  readonly more?: object
}

export const text = (words: string, more: object = {}): JsonObject => ({ type: 'text', text: words, ...more })

export const thought = (words = 'Hm.', signature = `signed ${words}`): JsonObject => ({
  type: 'thinking',
  thinking: words,
  signature,
})

export const callOf = (name: string, input: object = {}, id = `toolu_${name}`): JsonObject => ({
  type: 'tool_use',
  id,
  name,
  input,
})

export function search(id = 'srvtoolu_1'): readonly JsonObject[] {
  const found = [{ type: 'web_search_result', url: 'https://a.example', encrypted_content: 'x' }]
  return [
    { type: 'server_tool_use', id, name: 'web_search', input: { query: 'q' } },
    { type: 'web_search_tool_result', tool_use_id: id, content: found },
  ]
}

export function messageOf(content: readonly JsonObject[], about: About = {}): JsonObject {
  const { id = 'msg_1', usage = { input_tokens: 5, output_tokens: 2 }, more } = about
  const calls = content.some(({ type }) => type === 'tool_use')
  return {
    id,
    type: 'message',
    role: 'assistant',
    model: 'm',
    content,
    stop_reason: about.reason ?? (calls ? 'tool_use' : 'end_turn'),
    stop_sequence: null,
    usage,
    ...more,
  }
}

/** The events of a message, as Anthropic sends them; texts come in pieces of so many characters. */
export function streamOf(
  content: readonly JsonObject[],
  about: About = {},
  pieceCharacters = 3,
): readonly StreamEvent[] {
  // One in which there is nothing to show has no stream that says the same: a block is left out again.
  const last = { type: 'container_upload', file_id: 'last' }
  const whole = asStream(messages.answers, messageOf([...content, last], about))?.text ?? ''
  const events = eventsIn(whole.split(/(?<=\n\n)/)).filter(({ index }) => index !== content.length)
  const reason = messageOf(content, about)['stop_reason']
  return events
    .flatMap((event) => {
      const { delta } = event
      if (event['type'] === 'message_delta' && isJsonObject(delta))
        return [{ ...event, delta: { ...delta, stop_reason: reason } }]
      if (!isJsonObject(delta)) return [event]
      const [key, words] =
        Object.entries(delta).find(([name]) => ['text', 'thinking', 'partial_json'].includes(name)) ?? []
      if (key === undefined || typeof words !== 'string') return [event]
      const parts = words.match(new RegExp(`[^]{1,${pieceCharacters}}`, 'g')) ?? []
      return parts.map((part) => ({ ...event, delta: { ...delta, [key]: part } }))
    })
    .map(eventOf)
}

export const ping: StreamEvent = eventOf({ type: 'ping' })

/**
 * The message that a strict client makes of a stream: one beginning and one end, the places of blocks follow each other without
 * gaps, none begins before the last has ended, and each delta is of the block that is being written. Throws if that is not so.
 */
export function readStrictly(events: readonly (StreamEvent | string)[]): JsonObject {
  let message: JsonObject = {}
  const content: Record<string, unknown>[] = []
  let json = ''
  let isOpen = false
  let [hasBegun, hasEnded, hasStopped] = [false, false, false]
  for (const event of eventsIn(events)) {
    const { type, index } = event
    const delta = objectOr(event['delta'])
    if (type === 'ping') continue
    const is = (right: boolean): void => {
      if (!right || hasStopped) throw new Error(`misplaced: ${JSON.stringify(event)}`)
    }
    switch (type) {
      case 'message_start':
        is(!hasBegun && isJsonObject(event['message']))
        hasBegun = true
        message = objectOr(event['message'])
        break
      case 'content_block_start':
        is(hasBegun && !isOpen && !hasEnded && index === content.length)
        content.push({ ...objectOr(event['content_block']) })
        ;[isOpen, json] = [true, '']
        break
      case 'content_block_delta': {
        is(isOpen && index === content.length - 1)
        const block = content.at(-1) ?? {}
        if (delta['type'] === 'text_delta') block['text'] = String(block['text']) + String(delta['text'])
        else if (delta['type'] === 'thinking_delta')
          block['thinking'] = String(block['thinking']) + String(delta['thinking'])
        else if (delta['type'] === 'signature_delta') block['signature'] = delta['signature']
        else if (delta['type'] === 'input_json_delta') json += String(delta['partial_json'])
        else if (delta['type'] === 'citations_delta')
          block['citations'] = [
            ...(Array.isArray(block['citations']) ? block['citations'] : []),
            delta['citation'],
          ]
        else throw new Error(`a delta of type ${String(delta['type'])}`)
        break
      }
      case 'content_block_stop':
        is(isOpen && index === content.length - 1)
        isOpen = false
        // One that broke off is read as far as it goes.
        if (json !== '') (content.at(-1) ?? {})['input'] = parseJsonText(json) ?? {}
        break
      case 'message_delta': {
        is(hasBegun && !isOpen)
        hasEnded = true
        message = {
          ...message,
          ...delta,
          usage: { ...objectOr(message['usage']), ...objectOr(event['usage']) },
        }
        break
      }
      case 'message_stop':
        is(hasEnded)
        hasStopped = true
        break
      default:
        throw new Error(`an event of type ${String(type)}`)
    }
  }
  if (!hasStopped) throw new Error('no end')
  return { ...message, content }
}

const objectOr = (value: unknown): JsonObject => (isJsonObject(value) ? value : {})
