import { textOf, isObject } from '../strict-upstream/wire-message.ts'
import {
  isServerCall,
  isServerResult,
  isThinking,
  readMessages,
  turnsOf,
  typeOf,
  type SentMessage,
  type Turn,
  type WireBlock,
} from './wire-block.ts'

export type BlockRule =
  | 'shape'
  | 'first-not-user'
  | 'prefill'
  | 'call-unanswered'
  | 'result-orphan'
  | 'result-twice'
  | 'call-twice'
  | 'server-pair'
  | 'thinking-last'
  | 'compaction-place'

/** A rule that a list of messages breaks, in Anthropic's words. */
export type BlockBreak = {
  readonly rule: BlockRule
  /** Index of the message at which it shows. */
  readonly index: number
  readonly message: string
  /** Only errors of what is new have one. */
  readonly errorCode: string | null
}

/** Every rule that the messages break, in their order; none for a valid conversation. */
export function blockBreaks(
  sent: readonly unknown[],
  options: { readonly allowsPrefill: boolean },
): readonly BlockBreak[] {
  const shapes = sent.flatMap((message, index) => {
    const broken = messageShapeBreak(message, index)
    return broken === null ? [] : [breakOf('shape', index, broken)]
  })
  const messages = readMessages(sent)
  const turns = turnsOf(messages)
  const found = [
    ...shapes,
    ...endBreaks(messages, options.allowsPrefill),
    ...callBreaks(messages, turns),
    ...turns.flatMap((turn, place) => turnBreaks(turn, place === turns.length - 1)),
    ...compactionBreaks(messages),
  ]
  return found.toSorted((left, right) => left.index - right.index)
}

/** What is wrong with an entry of `messages` by itself, with where it is; null if nothing is. Unknown blocks are taken as they are. */
function messageShapeBreak(message: unknown, index: number): string | null {
  const at = `messages.${index}`
  if (!isObject(message)) return `${at}: Input should be an object`
  const role = textOf(message['role'])
  if (!roles.has(role)) return `${at}.role: Input should be 'user', 'assistant' or 'system'`
  const { content } = message
  if (content === undefined) return `${at}.content: Field required`
  if (typeof content !== 'string' && !Array.isArray(content))
    return `${at}.content: Input should be a valid string or a valid list`
  if (content.length === 0)
    return `${at}: all messages must have non-empty content except for the optional final assistant message`
  if (typeof content === 'string') return textBreak(content, 'messages')
  for (const [place, block] of (content as readonly unknown[]).entries()) {
    const broken = blockBreak(block, role, `${at}.content.${place}`)
    if (broken !== null) return broken
  }
  return null
}

/** The same for `system`. */
export function systemBreak(system: unknown): string | null {
  if (system === undefined || typeof system === 'string') return null
  if (!Array.isArray(system)) return 'system: Input should be a valid string or a valid list'
  for (const [place, block] of (system as readonly unknown[]).entries()) {
    if (!isObject(block) || typeOf(block) !== 'text') return `system.${place}.type: Input should be 'text'`
    if (textOf(block['text']) === '') return 'system: text content blocks must be non-empty'
  }
  return null
}

const breakOf = (rule: BlockRule, index: number, message: string, errorCode?: string): BlockBreak => ({
  rule,
  index,
  message,
  errorCode: errorCode ?? null,
})

/** How a conversation begins and ends. */
function endBreaks(messages: readonly SentMessage[], allowsPrefill: boolean): readonly BlockBreak[] {
  const [first] = messages
  const breaks: BlockBreak[] = []
  const isCompacted = first?.blocks.some((block) => typeOf(block) === 'compaction') === true
  if (first !== undefined && first.role !== 'user' && !isCompacted)
    breaks.push(breakOf('first-not-user', 0, 'messages: first message must use the "user" role'))
  const last = messages.findLast(({ role }) => role !== 'system')
  if (last?.role !== 'assistant' || isPaused(last)) return breaks
  const { index } = last
  const refused =
    'This model does not support assistant message prefill. The conversation must end with a user message.'
  if (!allowsPrefill) breaks.push(breakOf('prefill', index, refused))
  else if (/\s$/.test(textOf(last.blocks.at(-1)?.['text'])))
    breaks.push(
      breakOf('prefill', index, 'messages: final assistant content cannot end with trailing whitespace'),
    )
  return breaks
}

/** A turn in which the server was at work is sent back as it is, so that it goes on. */
function isPaused({ blocks }: SentMessage): boolean {
  const last = blocks.at(-1)
  return last !== undefined && (isServerCall(last) || isServerResult(last))
}

/** Every call is answered in the message behind its turn, and every result answers a call of the turn before its message. */
function callBreaks(messages: readonly SentMessage[], turns: readonly Turn[]): readonly BlockBreak[] {
  const breaks: BlockBreak[] = []
  const seen = new Set<string>()
  const askedBefore = new Map<number, ReadonlySet<string>>()
  for (const turn of turns) {
    if (turn.role !== 'assistant') continue
    const next = (turn.messages.at(-1)?.index ?? 0) + 1
    const answered = leadingResults(messages[next])
    askedBefore.set(next, new Set(turn.messages.flatMap(({ blocks }) => idsOf(blocks))))
    for (const { index, blocks } of turn.messages) {
      const ids = idsOf(blocks)
      const open = ids.filter((id) => !answered.has(id))
      if (open.length > 0) breaks.push(breakOf('call-unanswered', index, unanswered(index, open)))
      for (const id of ids) {
        if (seen.has(id))
          breaks.push(breakOf('call-twice', index, `messages.${index}: \`tool_use\` ids must be unique`))
        seen.add(id)
      }
    }
  }
  const asked = (index: number): ReadonlySet<string> => askedBefore.get(index) ?? new Set()
  return [...breaks, ...messages.flatMap((message) => resultBreaks(message, asked(message.index)))]
}

const unanswered = (index: number, ids: readonly string[]): string =>
  `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`

const idsOf = (blocks: readonly WireBlock[]): readonly string[] =>
  blocks.filter((block) => typeOf(block) === 'tool_use').map((block) => textOf(block['id']))

/** The calls that a message answers: results stand before anything else in it. */
function leadingResults(message: SentMessage | undefined): ReadonlySet<string> {
  if (message?.role !== 'user') return new Set()
  const { blocks } = message
  const end = blocks.findIndex((block) => typeOf(block) !== 'tool_result')
  const results = end === -1 ? blocks : blocks.slice(0, end)
  return new Set(results.map((block) => textOf(block['tool_use_id'])))
}

function resultBreaks({ index, blocks }: SentMessage, asked: ReadonlySet<string>): readonly BlockBreak[] {
  const answered = new Set<string>()
  return blocks.flatMap((block, place) => {
    if (typeOf(block) !== 'tool_result') return []
    const id = textOf(block['tool_use_id'])
    const at = `messages.${index}.content.${place}`
    const orphan = `${at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`
    if (!asked.has(id)) return [breakOf('result-orphan', index, orphan)]
    const twice = `${at}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`
    if (answered.has(id)) return [breakOf('result-twice', index, twice)]
    answered.add(id)
    return []
  })
}

/** What a turn of the model's holds by itself. */
function turnBreaks({ role, messages }: Turn, isLast: boolean): readonly BlockBreak[] {
  if (role !== 'assistant') return []
  const last = messages.at(-1)
  const final = last?.blocks.at(-1)
  const thinking =
    last !== undefined && final !== undefined && isThinking(final)
      ? [
          breakOf(
            'thinking-last',
            last.index,
            `messages.${last.index}: The final block in an assistant message cannot be \`${typeOf(final)}\`.`,
          ),
        ]
      : []
  return [...thinking, ...serverBreaks(messages, isLast)]
}

/** What the server's own tools were asked and what they answered stands in one turn; only the last may still be at work. */
function serverBreaks(messages: readonly SentMessage[], isLast: boolean): readonly BlockBreak[] {
  const breaks: BlockBreak[] = []
  const open = new Map<string, { readonly index: number; readonly call: WireBlock }>()
  for (const { index, blocks } of messages) {
    for (const [place, block] of blocks.entries()) {
      if (isServerCall(block)) open.set(textOf(block['id']), { index, call: block })
      if (!isServerResult(block)) continue
      const id = textOf(block['tool_use_id'])
      const type = typeOf(block)
      if (open.delete(id)) continue
      const called = type === 'mcp_tool_result' ? 'mcp_tool_use' : 'server_tool_use'
      const orphan = `messages.${index}.content.${place}: unexpected \`tool_use_id\` found in \`${type}\` blocks: ${id}. Each \`${type}\` block must have a corresponding \`${called}\` block before it.`
      breaks.push(breakOf('server-pair', index, orphan))
    }
  }
  if (isLast) return breaks
  for (const [id, { index, call }] of open) {
    const name = typeOf(call) === 'mcp_tool_use' ? 'mcp' : textOf(call['name'])
    const alone = `messages.${index}: \`${name}\` tool use with id \`${id}\` was found without a corresponding \`${name}_tool_result\` block`
    breaks.push(breakOf('server-pair', index, alone))
  }
  return breaks
}

/** What stands for the history opens a message of the model's; a signed one opens the conversation, and there is one at most. */
function compactionBreaks(messages: readonly SentMessage[]): readonly BlockBreak[] {
  let signed = 0
  return messages.flatMap(({ index, blocks }) =>
    blocks.flatMap((block, place) => {
      if (typeOf(block) !== 'compaction') return []
      const at = `messages.${index}.content.${place}`
      const isSigned = block['signature'] !== undefined
      if (isSigned) signed += 1
      if (signed > 1)
        return [
          breakOf(
            'compaction-place',
            index,
            `${at}: only one \`compaction\` block may stand for the history.`,
            'compaction_block_ambiguous',
          ),
        ]
      const isMisplaced = place > 0 || (isSigned && index > 0)
      const misplaced = `${at}: a \`compaction\` block must be the first block.`
      return isMisplaced ? [breakOf('compaction-place', index, misplaced, 'compaction_block_misplaced')] : []
    }),
  )
}

const roles = new Set(['user', 'assistant', 'system'])

/** Which members a block has to have, by its type. */
const requiredMembers: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  image: ['source'],
  document: ['source'],
  tool_use: ['id', 'name', 'input'],
  tool_result: ['tool_use_id'],
  thinking: ['thinking', 'signature'],
  redacted_thinking: ['data'],
}

const roleOf: Readonly<Record<string, string>> = {
  tool_use: 'assistant',
  thinking: 'assistant',
  redacted_thinking: 'assistant',
  compaction: 'assistant',
  tool_result: 'user',
}

function blockBreak(block: unknown, role: string, at: string): string | null {
  if (!isObject(block)) return `${at}: Input should be an object`
  const type = typeOf(block)
  if (type === '') return `${at}.type: Field required`
  const lacking = (requiredMembers[type] ?? []).find((name) => block[name] === undefined)
  if (lacking !== undefined) return `${at}.${type}.${lacking}: Field required`
  if (roleOf[type] !== undefined && roleOf[type] !== role)
    return `${at}: \`${type}\` blocks can only be in \`${roleOf[type]}\` messages`
  if (isThinking(block) && block['cache_control'] !== undefined)
    return `${at}.${type}.cache_control: Extra inputs are not permitted`
  if (type === 'text') return textBreak(textOf(block['text']), 'messages')
  if (type === 'tool_use') return callBreak(block, at)
  return type === 'tool_result' ? resultBreak(block, at) : null
}

function textBreak(text: string, at: string): string | null {
  if (text === '') return `${at}: text content blocks must be non-empty`
  return text.trim() === '' ? `${at}: text content blocks must contain non-whitespace text` : null
}

function callBreak(call: WireBlock, at: string): string | null {
  if (!/^[a-zA-Z0-9_-]+$/.test(textOf(call['id'])))
    return `${at}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`
  return isObject(call['input']) ? null : `${at}.tool_use.input: Input should be a valid dictionary`
}

function resultBreak({ content }: WireBlock, at: string): string | null {
  if (content === undefined || typeof content === 'string') return null
  if (!Array.isArray(content))
    return `${at}.tool_result.content: Input should be a valid string or a valid list`
  return content.some(isEmptyText) ? 'messages: text content blocks must be non-empty' : null
}

const isEmptyText = (part: unknown): boolean =>
  isObject(part) && typeOf(part) === 'text' && textOf(part['text']) === ''
