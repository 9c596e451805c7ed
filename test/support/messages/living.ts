import { isObject, textOf } from '../strict-upstream/wire-message.ts'
import type { Step } from './chat.ts'
import type { ScriptedBlock } from './script.ts'
import { isThinking, typeOf, type WireBlock } from './wire-block.ts'

/** A request of a lived conversation. */
export type LivedRequest = {
  /** Of the step that answers it. */
  readonly index: number
  /** All messages so far. */
  readonly messages: readonly LivedMessage[]
  /** What the upstream is to answer. */
  readonly script: readonly ScriptedBlock[]
}

export type LivedMessage = {
  readonly role: string
  /** The JSON of each block, the same in every request. */
  readonly blocks: readonly string[]
  /** The step of the reply that it came with; null if the client said it or was only told it. */
  readonly reply: number | null
}

/** A conversation of a client that keeps its own history, lived reply by reply. */
export type Life = {
  /** All messages before a step. A reply before it that was not taken is told. */
  readonly before: (step: number) => readonly LivedMessage[]
  /** Takes the reply of the step whose messages were asked for last, for all later requests. */
  readonly reply: (blocks: readonly WireBlock[]) => void
}

type LifeOptions = {
  readonly steps: readonly Step[]
  /** How the client writes a block. Default `JSON.stringify`. */
  readonly spell?: (block: WireBlock) => string
}

type LivingOptions = LifeOptions & {
  /** The blocks of the reply; null where there was none, or where that reply is not asked for. */
  readonly ask: (request: LivedRequest) => Promise<readonly WireBlock[] | null>
}

export function openLife({ steps, spell = JSON.stringify }: LifeOptions): Life {
  const messages: LivedMessage[] = []
  let next = 0
  const add = (role: string, blocks: readonly WireBlock[], reply: number | null, joins = false) => {
    next += 1
    if (blocks.length === 0) return
    const open = joins ? messages.pop() : undefined
    messages.push({ role, blocks: [...(open?.blocks ?? []), ...blocks.map((block) => spell(block))], reply })
  }
  return {
    before: (step) => {
      for (const each of steps.slice(next, step)) {
        if (each.kind === 'input') add(each.role, each.blocks, null, each.joins)
        else add('assistant', each.told, null)
      }
      return messages
    },
    reply: (blocks) => add('assistant', blocks, next),
  }
}

/**
 * Lives a conversation as a client does: makes each request in turn, and takes the reply's blocks, with their signatures,
 * into all later ones. Returns the whole history.
 */
export async function live({ ask, ...options }: LivingOptions): Promise<readonly LivedMessage[]> {
  const { steps } = options
  const life = openLife(options)
  for (const [index, step] of steps.entries()) {
    if (step.kind === 'input') continue
    const reply = await ask({ index, messages: life.before(index), script: step.script })
    if (reply !== null) life.reply(reply)
  }
  return life.before(steps.length)
}

/** How a client writes its messages down. */
export type Writing = {
  /** Whether a mark for the cache stands on the newest block, as Claude Code sets it. */
  readonly marksNewest: boolean
  /** Whether a message of one text without a mark is written as a text. */
  readonly shortensTexts: boolean
}

/** The JSON of each message of a request. */
export function messageTexts(
  messages: readonly Omit<LivedMessage, 'reply'>[],
  writing: Writing,
): readonly string[] {
  const newest = writing.marksNewest ? messages.findLastIndex(({ role }) => role !== 'system') : -1
  return messages.map(({ role, blocks }, index) => {
    const texts = index === newest ? markedBlocks(blocks) : blocks
    const text = writing.shortensTexts && index !== newest ? onlyText(texts) : null
    return `{"role":"${role}","content":${text === null ? `[${texts.join(',')}]` : JSON.stringify(text)}}`
  })
}

/** What a client reads of an answer. */
export type ReadReply = {
  readonly blocks: readonly WireBlock[]
  readonly stopReason: string
  readonly usage: WireBlock
  /** What the server says that it did to thinking. */
  readonly transformations: readonly unknown[]
}

/** The reply in an answer, plain or streamed; null where there is none that has ended. */
export function readReply(text: string): ReadReply | null {
  if (!text.startsWith('event:')) return ended(parsed(text))
  const events = text
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => parsed(event.slice(event.indexOf('data: ') + 'data: '.length)))
  const ofType = (type: string) => events.filter((event) => event['type'] === type)
  const [start] = ofType('message_start')
  const [end] = ofType('message_delta')
  const message = start?.['message']
  const delta = end?.['delta']
  if (!isObject(message) || !isObject(delta) || ofType('message_stop').length !== 1) return null
  const content = ofType('content_block_start').map(({ index, content_block: begun }) =>
    wholeBlock(
      isObject(begun) ? begun : {},
      ofType('content_block_delta').flatMap((event) =>
        event['index'] === index && isObject(event['delta']) ? [event['delta']] : [],
      ),
    ),
  )
  const usage = isObject(end?.['usage']) ? end['usage'] : {}
  return ended({ ...message, ...delta, content, usage })
}

// --- internal ---

function ended(message: WireBlock): ReadReply | null {
  const { content, stop_reason: stopReason, input_transformations: transformations, usage } = message
  if (!Array.isArray(content) || typeof stopReason !== 'string') return null
  return {
    blocks: content.filter(isObject),
    stopReason,
    usage: isObject(usage) ? usage : {},
    transformations: Array.isArray(transformations) ? transformations : [],
  }
}

/** A block that came in pieces. */
function wholeBlock(begun: WireBlock, deltas: readonly WireBlock[]): WireBlock {
  const joined = (name: string) => deltas.map((delta) => textOf(delta[name])).join('')
  if (typeOf(begun) === 'text') return { ...begun, text: joined('text') }
  if (typeOf(begun) === 'thinking')
    return { ...begun, thinking: joined('thinking'), signature: joined('signature') }
  if (typeOf(begun) === 'compaction')
    return { ...begun, content: joined('content'), signature: joined('signature') }
  if (begun['input'] === undefined) return begun
  return { ...begun, input: parsed(joined('partial_json') || '{}') }
}

function markedBlocks(blocks: readonly string[]): readonly string[] {
  const at = blocks.findLastIndex((text) => !isThinking(parsed(text)))
  return blocks.map((text, place) =>
    place === at ? `${text.slice(0, -1)},"cache_control":{"type":"ephemeral"}}` : text,
  )
}

function onlyText(blocks: readonly string[]): string | null {
  const block = blocks.length === 1 ? parsed(blocks[0] ?? '') : {}
  const { type, text, ...others } = block
  return type === 'text' && typeof text === 'string' && Object.keys(others).length === 0 ? text : null
}

function parsed(text: string): WireBlock {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}
