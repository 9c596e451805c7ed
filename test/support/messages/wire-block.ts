import { isObject, textOf, valueDigest } from '../strict-upstream/wire-message.ts'

/**
 * A block, or another object of a body of the Messages API, as the upstream sees it: nothing of it is trusted. It is read
 * here anew, and not with the readers of `src/formats`, because this side judges what those produce.
 */
export type WireBlock = Readonly<Record<string, unknown>>

/** An entry of `messages`. */
export type SentMessage = {
  /** Its place in `messages`. */
  readonly index: number
  readonly role: string
  /** A text as content is one block. */
  readonly blocks: readonly WireBlock[]
}

/** Neighbours of one role, which the server takes as one message. */
export type Turn = { readonly role: string; readonly messages: readonly SentMessage[] }

export const typeOf = (block: WireBlock): string => textOf(block['type'])

/** Content in blocks: a text is one block of text. */
export function blocksOf(content: unknown): readonly WireBlock[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return Array.isArray(content) ? content.filter(isObject) : []
}

/** The system prompt but for the line in which Claude Code says who pays: the server reads it and takes it out. */
export function systemBlocks(body: WireBlock): readonly WireBlock[] {
  const blocks = blocksOf(body['system'])
  const isBilling = textOf(blocks[0]?.['text']).startsWith('x-anthropic-billing-header:')
  return isBilling ? blocks.slice(1) : blocks
}

export function readMessages(messages: unknown): readonly SentMessage[] {
  const sent: readonly unknown[] = Array.isArray(messages) ? messages : []
  return sent.map((each, index) => {
    const message = isObject(each) ? each : {}
    return { index, role: textOf(message['role']), blocks: blocksOf(message['content']) }
  })
}

export function turnsOf(messages: readonly SentMessage[]): readonly Turn[] {
  const turns: { role: string; messages: SentMessage[] }[] = []
  for (const message of messages) {
    const last = turns.at(-1)
    if (last?.role === message.role) last.messages.push(message)
    else turns.push({ role: message.role, messages: [message] })
  }
  return turns
}

export function isThinking(block: WireBlock): boolean {
  const type = typeOf(block)
  return type === 'thinking' || type === 'redacted_thinking'
}

/** A call that the server answers itself. */
export const isServerCall = (block: WireBlock): boolean =>
  typeOf(block) === 'server_tool_use' || typeOf(block) === 'mcp_tool_use'

/** What the server has answered to a call of that kind. */
export const isServerResult = (block: WireBlock): boolean =>
  typeOf(block) !== 'tool_result' && typeOf(block).endsWith('_tool_result')

/**
 * A digest of what a block says: the same for every spelling of the JSON and with any mark for the cache. The input of a
 * call is data, and all of it counts.
 */
export function meaningOf(block: WireBlock): string {
  const known = meanings.get(block) ?? valueDigest(withoutMark(block))
  meanings.set(block, known)
  return known
}

/** The text or the blocks of `system`, or the tools, without marks. */
export const unmarked = (list: unknown): readonly WireBlock[] => blocksOf(list).map(withoutMark)

/** Each block of a request is asked for several times. */
const meanings = new WeakMap<WireBlock, string>()

function withoutMark(block: WireBlock): WireBlock {
  const { cache_control: _, ...rest } = block
  if (typeOf(block) !== 'tool_result' || rest['content'] === undefined) return rest
  return { ...rest, content: unmarked(rest['content']) }
}
