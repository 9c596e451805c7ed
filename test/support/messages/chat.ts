import {
  callsOf,
  isObject,
  textOf,
  textsOf,
  type WireCall,
  type WireMessage,
} from '../strict-upstream/wire-message.ts'
import type { ScriptedBlock } from './script.ts'
import type { WireBlock } from './wire-block.ts'

/** A chat as a client of the Messages API holds it: a step for each message, in their order. */
export type Chat = {
  /** Null where there is no system prompt. */
  readonly system: string | null
  readonly steps: readonly Step[]
}

export type Step =
  /** What the client says; nothing for a message that is in the system prompt. */
  | {
      readonly kind: 'input'
      readonly role: 'user' | 'system'
      readonly blocks: readonly WireBlock[]
      /** Whether they stand in the message before: a result beside the others of its round. */
      readonly joins: boolean
    }
  /** What the model answers. Its signature comes from the upstream; `told` are the blocks of a client that was only told it. */
  | { readonly kind: 'reply'; readonly script: readonly ScriptedBlock[]; readonly told: readonly WireBlock[] }

export type ChatOptions = {
  /** How much the model thinks before each reply, in tokens; 0: not at all. Default 200. */
  readonly thinkingTokens?: number
  /** Whether what a user says right after results stands in their message. Default: in one of its own. */
  readonly ridesBehindResults?: boolean
}

/** Messages of chat completions as a client of the Messages API has them. */
export function chatOf(messages: readonly WireMessage[], options: ChatOptions = {}): Chat {
  const first = messages.findIndex((message) => !isSystem(message))
  const leading = first === -1 ? messages.length : first
  const system = messages.slice(0, leading).map((message) => textsOf(message.content).join('\n'))
  const calls = openCallIds()
  let replies = 0
  return {
    system: leading === 0 ? null : system.join('\n\n'),
    steps: messages.map((message, index): Step => {
      if (index < leading) return { kind: 'input', role: 'user', blocks: [], joins: true }
      if (message.role === 'assistant') return replyOf(message, calls, thinkingOf(options, (replies += 1)))
      const isBehindResults = isResult(messages[index - 1])
      if (!isResult(message))
        return {
          kind: 'input',
          role: isSystem(message) ? 'system' : 'user',
          blocks: saidBlocks(message.content),
          joins: isBehindResults && !isSystem(message) && options.ridesBehindResults === true,
        }
      const result = {
        type: 'tool_result',
        tool_use_id: calls.answered(textOf(message.tool_call_id)),
        content: resultContent(message.content),
      }
      return { kind: 'input', role: 'user', blocks: [result], joins: isBehindResults }
    }),
  }
}

/** Tools as the Messages API has them. */
export function toolsOf(tools: unknown): readonly WireBlock[] {
  if (!Array.isArray(tools)) return []
  return tools.filter(isObject).map((tool) => {
    const described = isObject(tool['function']) ? tool['function'] : {}
    const { name, description, parameters = { type: 'object', properties: {} } } = described
    return { name, ...(description !== undefined && { description }), input_schema: parameters }
  })
}

/** Gives each call an id that stands once in the conversation, and finds the call that a result answers. */
function openCallIds() {
  let open: { readonly id: string | null; readonly toolUseId: string }[] = []
  let made = 0
  return {
    asked(calls: readonly WireCall[]): readonly string[] {
      open = calls.map(({ id }) => ({ id, toolUseId: `toolu_${String((made += 1)).padStart(6, '0')}` }))
      return open.map(({ toolUseId }) => toolUseId)
    },
    answered(id: string): string {
      const named = open.findIndex((call) => call.id === id)
      const place = named === -1 ? open.findIndex((call) => call.id === null || id === '') : named
      const [call] = place === -1 ? [] : open.splice(place, 1)
      return call?.toolUseId ?? id
    },
  }
}

const isSystem = ({ role }: WireMessage): boolean => role === 'system' || role === 'developer'

const isResult = (message: WireMessage | undefined): boolean =>
  message?.role === 'tool' || message?.role === 'function'

/** Every other time the thoughts can be read, and the rest of the time the signature is all that there is of them. */
function thinkingOf({ thinkingTokens: tokens = 200 }: ChatOptions, reply: number): readonly ScriptedBlock[] {
  if (tokens === 0) return []
  const text = reply % 2 === 0 ? {} : { text: 'so then '.repeat(Math.ceil(tokens / 2)) }
  return [{ type: 'thinking', tokens, ...text }]
}

function replyOf(
  message: WireMessage,
  ids: ReturnType<typeof openCallIds>,
  thinking: readonly ScriptedBlock[],
): Step {
  const asked = callsOf(message)
  const named = ids.asked(asked)
  const calls = asked.map(({ name, argumentsText }, place) => ({
    type: 'tool_use' as const,
    id: named[place] ?? '',
    name,
    input: inputOf(argumentsText),
  }))
  const text = textsOf(message.content).join('\n')
  const says = text.trim() !== '' || calls.length === 0
  const said = says ? [{ type: 'text' as const, text: spoken(text) }] : []
  return { kind: 'reply', script: [...thinking, ...said, ...calls], told: [...said, ...calls] }
}

function inputOf(argumentsText: string): Readonly<Record<string, unknown>> {
  try {
    const input: unknown = JSON.parse(argumentsText)
    return isObject(input) ? input : { input }
  } catch {
    return { input: argumentsText }
  }
}

/** This API takes no empty texts. */
const spoken = (text: string): string => (text.trim() === '' ? '(nothing)' : text)

function saidBlocks(content: unknown): readonly WireBlock[] {
  const parts = partsOf(content).filter(({ type, text }) => type !== 'text' || textOf(text).trim() !== '')
  return parts.length === 0 ? [{ type: 'text', text: '(nothing)' }] : parts
}

function resultContent(content: unknown): unknown {
  if (!Array.isArray(content)) return textsOf(content).join('\n')
  return partsOf(content).filter(({ type, text }) => type !== 'text' || text !== '')
}

function partsOf(content: unknown): readonly WireBlock[] {
  if (!Array.isArray(content)) return textsOf(content).map((text) => ({ type: 'text', text }))
  return content.filter(isObject).map(({ type, text, image_url: image }) => {
    if (type === 'text') return { type, text }
    const url = textOf(isObject(image) ? image['url'] : image)
    if (url === '') return { type: 'text', text: `(${textOf(type)})` }
    const [, mediaType, data] = /^data:([^;,]*)(?:;base64)?,(.*)$/s.exec(url) ?? []
    const source = data === undefined ? { type: 'url', url } : { type: 'base64', media_type: mediaType, data }
    return { type: 'image', source }
  })
}
