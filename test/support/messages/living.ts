import { isObject, parseObject, textOf } from '../strict-upstream/wire-message.ts'
import type { Step } from './chat.ts'
import type { ScriptedBlock } from './script.ts'
import { isThinking, typeOf, type WireBlock } from './wire-block.ts'
import type { Dice } from '../responses/living.ts'

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
  return ended({ ...message, ...delta, content })
}

type AgentMessage = { readonly role: string; readonly blocks: readonly WireBlock[] }

const words = (count: number): string => 'quick brown fox jumps '.repeat(Math.ceil(count / 4)).trim()

/** What a model may do in one reply: think, in words or hidden, comment, call several tools at once, have the server search. */
export function replyOf(roll: Dice, made: number): readonly ScriptedBlock[] {
  const blocks: ScriptedBlock[] = []
  if (roll(8) > 0)
    blocks.push(
      roll(2) === 0
        ? { type: 'thinking', text: `Thought ${made}: ${words(10 + roll(150))}` }
        : { type: 'thinking', tokens: 20 + roll(200) },
    )
  if (roll(10) === 0) blocks.push({ type: 'redacted_thinking', tokens: 60 })
  if (roll(3) === 0) blocks.push({ type: 'text', text: words(4 + roll(60)) })
  if (roll(6) === 0) blocks.push(...search(made))
  if (roll(8) === 0) blocks.push({ type: 'thinking', tokens: 30 })
  const calls = roll(4)
  for (let call = 0; call < calls; call += 1)
    blocks.push({
      type: 'tool_use',
      id: `toolu_${made}_${call}`,
      name: 'read',
      input: { part: words(roll(60) + 1) },
    })
  if (calls === 0) blocks.push({ type: 'text', text: words(4 + roll(300)) })
  return blocks
}

/**
 * What a client sends behind a reply: all results in one message, in any order, with a word behind them, a system message, the
 * next question in a message of its own. With `isPlain` only what every chat template takes: results, or the next question.
 */
export function behind(
  content: readonly WireBlock[],
  roll: Dice,
  round: number,
  isPlain = false,
): readonly AgentMessage[] {
  const calls = content.filter((block) => typeOf(block) === 'tool_use')
  const results = (roll(2) === 0 ? calls : calls.toReversed()).map(({ id }): WireBlock => {
    const said = `${round} ${words(roll(900))}`
    const parts = roll(4) === 0 ? [{ type: 'text', text: said }] : said
    return { type: 'tool_result', tool_use_id: id, content: parts, ...(roll(3) === 0 && { is_error: true }) }
  })
  const messages: AgentMessage[] = []
  if (results.length > 0) {
    const riding = roll(4) === 0 && !isPlain ? [textBlock(`Wait ${round}: ${words(roll(80))}`)] : []
    messages.push({ role: 'user', blocks: [...results, ...riding] })
  }
  if (results.length === 0 || (roll(7) === 0 && !isPlain))
    messages.push({ role: 'user', blocks: [textBlock(`Then ${round}: ${words(roll(400))}`)] })
  if (roll(9) === 0 && !isPlain) messages.push({ role: 'system', blocks: [textBlock(`Rule ${round}.`)] })
  return messages
}

function ended(message: WireBlock): ReadReply | null {
  const { content, stop_reason: stopReason } = message
  return Array.isArray(content) && typeof stopReason === 'string'
    ? { blocks: content.filter(isObject) }
    : null
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

const parsed = (text: string): WireBlock => parseObject(text) ?? {}

const textBlock = (said: string): WireBlock => ({ type: 'text', text: said })

function search(made: number): readonly ScriptedBlock[] {
  const id = `srvtoolu_${made}`
  const found = { type: 'web_search_result', url: 'https://example.org/', encrypted_content: words(40) }
  return [
    {
      type: 'verbatim',
      block: { type: 'server_tool_use', id, name: 'web_search', input: { query: words(8) } },
    },
    { type: 'verbatim', block: { type: 'web_search_tool_result', tool_use_id: id, content: [found] } },
  ]
}
