import {
  callsOf,
  isObject,
  mediaCount,
  textOf,
  textsOf,
  type WireMessage,
} from '../strict-upstream/wire-message.ts'
import type { ScriptedItem } from './script.ts'
import type { WireItem } from './wire-item.ts'

/** A chat as a client of the Responses API holds it: a step for each message, in their order. */
export type Chat = {
  /** Null where system messages are items. */
  readonly instructions: string | null
  readonly steps: readonly Step[]
}

export type Step =
  /** What the client says; nothing for a system message that is among the instructions. */
  | { readonly kind: 'input'; readonly items: readonly WireItem[] }
  /**
   * What the model answers. Ids and encrypted content come from the upstream that is asked for it; `told` are the items of
   * a client that keeps neither.
   */
  | { readonly kind: 'reply'; readonly script: readonly ScriptedItem[]; readonly told: readonly WireItem[] }

export type ChatOptions = {
  /** Where the system messages go that a conversation begins with; later ones are developer messages. */
  readonly system: 'instructions' | 'developer'
  /** How much the model thinks before each reply, in tokens; 0: there is no reasoning. Default 200. */
  readonly reasoningTokens?: number
}

/** Messages of chat completions as a client of the Responses API has them. */
export function chatOf(messages: readonly WireMessage[], options: ChatOptions): Chat {
  const first = messages.findIndex((message) => !isSystem(message))
  const leading = options.system === 'developer' ? 0 : first === -1 ? messages.length : first
  const told = messages.slice(0, leading).map((message) => textsOf(message.content).join('\n'))
  const calls = openCallIds()
  return {
    instructions: leading === 0 ? null : told.join('\n\n'),
    steps: messages.map((message, index): Step => {
      if (index < leading) return { kind: 'input', items: [] }
      if (message.role === 'assistant') return replyOf(message, calls, options)
      return { kind: 'input', items: [inputOf(message, calls)] }
    }),
  }
}

/** Tools as the Responses API has them: a function's name stands beside its type. */
export function toolsOf(tools: unknown): readonly WireItem[] {
  if (!Array.isArray(tools)) return []
  return tools.filter(isObject).map((tool) => {
    const { function: described, ...rest } = tool
    return isObject(described) ? { ...rest, ...described } : tool
  })
}

/** Gives calls without an id one, and finds the call that a result answers. */
function openCallIds() {
  const open: { readonly id: string | null; readonly callId: string }[] = []
  let unnamed = 0
  return {
    asked(id: string | null): string {
      const callId = id ?? `call_unnamed_${(unnamed += 1)}`
      open.push({ id, callId })
      return callId
    },
    answered(id: string): string {
      const named = open.findIndex((call) => call.id === id)
      const place = named === -1 ? open.findIndex((call) => call.id === null || id === '') : named
      const [call] = place === -1 ? [] : open.splice(place, 1)
      return call?.callId ?? id
    },
  }
}

const isSystem = ({ role }: WireMessage): boolean => role === 'system' || role === 'developer'

function inputOf(message: WireMessage, calls: ReturnType<typeof openCallIds>): WireItem {
  const { role, content } = message
  if (role === 'tool' || role === 'function') {
    const call_id = calls.answered(textOf(message.tool_call_id))
    const output = Array.isArray(content) ? inputParts(content) : textsOf(content).join('\n')
    return { type: 'function_call_output', call_id, output }
  }
  return { type: 'message', role: isSystem(message) ? 'developer' : 'user', content: inputParts(content) }
}

function inputParts(content: unknown): readonly WireItem[] {
  if (mediaCount(content) === 0) return textsOf(content).map((text) => ({ type: 'input_text', text }))
  const parts: readonly unknown[] = Array.isArray(content) ? content : []
  return parts.filter(isObject).map(inputPart)
}

function inputPart(part: WireItem): WireItem {
  const { type, image_url: image, file } = part
  if (type === 'text') return { type: 'input_text', text: part['text'] }
  if (type === 'image_url') {
    const url = isObject(image) ? image['url'] : image
    return { type: 'input_image', detail: 'auto', image_url: url }
  }
  return type === 'file' && isObject(file) ? { type: 'input_file', ...file } : part
}

function replyOf(message: WireMessage, calls: ReturnType<typeof openCallIds>, options: ChatOptions): Step {
  const asked = callsOf(message).map(({ id, name, argumentsText }) => ({
    callId: calls.asked(id),
    name,
    arguments: argumentsText,
  }))
  const text = textsOf(message.content).join('\n')
  const says = text !== '' || asked.length === 0
  const { reasoningTokens: tokens = 200 } = options
  const content = [{ type: 'output_text', text, annotations: [] }]
  return {
    kind: 'reply',
    script: [
      ...(tokens > 0 ? [{ type: 'reasoning' as const, tokens }] : []),
      ...(says ? [{ type: 'message' as const, text }] : []),
      ...asked.map((call) => ({ type: 'function_call' as const, ...call })),
    ],
    told: [
      ...(says ? [{ type: 'message', role: 'assistant', content }] : []),
      ...asked.map(({ callId, ...call }) => ({ type: 'function_call', call_id: callId, ...call })),
    ],
  }
}
