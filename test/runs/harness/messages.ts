import { BARE_MARK } from '../../../src/compaction/recap/recap.ts'
import { openBlockCounter, type BlockCounter } from '../../support/messages/block-tokens.ts'
import { chatOf, toolsOf } from '../../support/messages/chat.ts'
import { messageTexts, openLife, readReply, type LivedMessage } from '../../support/messages/living.ts'
import {
  startMessagesUpstream,
  type RecordedMessagesRequest,
} from '../../support/messages/messages-upstream.ts'
import type { ScriptedBlock } from '../../support/messages/script.ts'
import { blocksOf, isThinking, typeOf, type WireBlock } from '../../support/messages/wire-block.ts'
import { REPLY_TOKENS } from '../../support/strict-upstream/prompt-tokens.ts'
import { rawElements, rawMembers } from '../../support/strict-upstream/raw-request.ts'
import { isObject, textOf } from '../../support/strict-upstream/wire-message.ts'
import type {
  EntryReader,
  LivedChat,
  LivedChatOptions,
  LivedEntry,
  LivedReceived,
  LivedStage,
  LivedStageOptions,
} from './lived.ts'
import { isSystem, MODEL, messagesOf, toolsIn, type RawMessage, type Recording } from './recordings.ts'
import { standBetween, type Exchange } from './stage.ts'
import type { RequestBody } from './subject.ts'

/** A Foldgate before the strict Messages upstream. */
export async function openMessagesStage(options: LivedStageOptions): Promise<LivedStage> {
  const { profile, ...asked } = options
  let content: Script = []
  const upstream = await startMessagesUpstream({
    ...asked,
    outputReserveChecked: false,
    reply: () => ({ content }),
  })
  const { ask, ...stage } = await standBetween({
    upstream,
    // It is Anthropic, as far as it goes, at another address: Claude Code's line for billing stays.
    profile: { messages: { blank_billing: 'never' }, ...profile },
    endpoint: 'messages',
    headers: { 'anthropic-version': '2023-06-01' },
    isReply: (text) => readReply(text) !== null,
  })
  const send: Send = async (bytes, authorization, script) => {
    content = script
    const exchange = await ask(bytes, authorization)
    return { ...exchange, received: exchange.received.map(seen) }
  }
  return { ...stage, openChat: (recording, chat) => openChat(recording, chat, options.count, send) }
}

/** Whether these may stand before a reply: from a user's word on, and up to what is not the model's. */
export function isAskable(messages: readonly RawMessage[]): boolean {
  const said = messages.filter((message) => !isSystem(message))
  return said[0]?.message['role'] === 'user' && said.at(-1)?.message['role'] !== 'assistant'
}

/** The mark that clients set and move on. */
export const MARK = '"cache_control":{"type":"ephemeral"}'

/**
 * The entries of a message, without marks: each block of the model's messages and of those that hold results, in the message
 * around it; any other message as a whole.
 */
export function entriesOf(rawMessage: string): readonly string[] {
  const text = rawMessage.replaceAll(`,${MARK}`, '')
  const members = rawMembers(text)
  const content = members.get('content') ?? ''
  const blocks = rawElements(content)
  const isOfBlocks =
    members.get('role') === '"assistant"' || blocks.some((block) => block.includes('"tool_result"'))
  if (!isOfBlocks) return [text]
  const start = text.indexOf(content)
  return blocks.map((block) => `${text.slice(0, start)}[${block}]${text.slice(start + content.length)}`)
}

/** The entries of a client's messages. */
export const livedEntries = (messages: readonly LivedMessage[]): readonly LivedEntry[] =>
  messages.flatMap((message) => entriesOf(rawText(message)).map((text) => ({ text, reply: message.reply })))

/** Reads entries; `counter` is the judge's. */
export const blockReader =
  (counter: BlockCounter): EntryReader =>
  (text) => {
    const parsed: unknown = JSON.parse(text)
    const message: WireBlock = isObject(parsed) ? parsed : {}
    const { role } = message
    const blocks = blocksOf(message['content'])
    const [block = {}] = blocks
    const isWhole = role !== 'assistant' && typeOf(block) !== 'tool_result'
    return {
      kind: kindOf(role, block),
      identity: isWhole ? JSON.stringify([role, Object.keys(message)]) : blockIdentity(role, block),
      isRecap: role === 'user' && blocks.some(isRecap),
      unnamed: text,
      tokens: isWhole ? counter.message(blocks) : counter.block(block),
    }
  }

/** What the upstream is to answer. */
type Script = readonly ScriptedBlock[]
type Send = (body: Buffer, authorization: string, script: Script) => Promise<Exchange<LivedReceived>>

const ENDING: Script = [{ type: 'text', text: 'Replayed.' }]

function openChat(
  recording: Recording,
  { messages, manner, thoughtTokens, outputTokens }: LivedChatOptions,
  count: (text: string) => number,
  send: Send,
): LivedChat {
  const { system, steps } = chatOf(messagesOf(messages), {
    ridesBehindResults: manner !== null && manner % 4 < 2,
    ...(thoughtTokens !== undefined && { thinkingTokens: thoughtTokens }),
  })
  const isClaudeCode = manner === null || manner % 2 === 0
  const tools = toolsOf(toolsIn(recording))
  const counter = openBlockCounter(count)
  const told = system === null ? 0 : counter.message([{ type: 'text', text: system }])
  const life = openLife({ steps, ...(manner !== null && { spell }) })
  let said: readonly LivedMessage[] = []
  return {
    aroundTokens: REPLY_TOKENS + counter.tools(tools) + told,
    readEntry: blockReader(counter),
    thoughtsIn: (answer) => thoughtNames(readReply(answer)?.blocks ?? []),
    before: (step) => {
      said = life.before(step)
      return livedEntries(said)
    },
    ask: async (step, isStreamed, authorization) => {
      const parts = said.map(rawText)
      const body = blocksBody({ system, isClaudeCode, tools, messages: said, isStreamed, outputTokens })
      const asked = steps[step]
      const exchange = await send(body.bytes, authorization, asked?.kind === 'reply' ? asked.script : ENDING)
      const reply = exchange.isReply ? readReply(exchange.answer) : null
      if (reply !== null && asked !== undefined) life.reply(reply.blocks)
      return { body, parts, exchange }
    },
  }
}

type BlocksBody = {
  readonly system: string | null
  /** Whether the client writes as Claude Code does: who pays first, and marks that move on with the conversation. */
  readonly isClaudeCode: boolean
  readonly tools: readonly WireBlock[]
  readonly messages: readonly LivedMessage[]
  readonly isStreamed: boolean
  readonly outputTokens: number
}

/** A request as a client makes it. */
function blocksBody(given: BlocksBody): RequestBody {
  const { isClaudeCode, tools, messages, isStreamed, outputTokens } = given
  const texts = messageTexts(messages, { marksNewest: isClaudeCode, shortensTexts: false })
  // Signed thoughts are bound where the model is Anthropic's.
  const before = Buffer.from(
    `{"model":"anthropic/${MODEL}","stream":${isStreamed},${systemMember(given)}"messages":[`,
  )
  const thinking = { type: 'adaptive' }
  const stated = { ...(tools.length > 0 && { tools }), max_tokens: outputTokens, thinking }
  // Spellings and values that a re-serialised body would lose.
  const odd = '"temperature":1.0,"metadata": {"user_id" : "agent","kept":[1e400]}'
  const after = Buffer.from(`],${JSON.stringify(stated).slice(1, -1)},${odd}}`)
  return { bytes: Buffer.concat([before, Buffer.from(texts.join(',')), after]), before, after }
}

function systemMember({ system, isClaudeCode, messages }: BlocksBody): string {
  const told = system === null || system.trim() === '' ? null : system
  if (!isClaudeCode) return told === null ? '' : `"system":${JSON.stringify(told)},`
  // Another one in each request.
  const billing = { type: 'text', text: `x-anthropic-billing-header: cc_version=2; cch=${messages.length};` }
  const marked = told === null ? '' : `,{"type":"text","text":${JSON.stringify(told)},${MARK}}`
  return `"system":[${JSON.stringify(billing)}${marked}],`
}

function seen(request: RecordedMessagesRequest): LivedReceived {
  const { rawMessages, messages, cache, transformations } = request
  return {
    ...request,
    cachedTokens: cache.read,
    rawParts: rawMessages,
    rawEntries: rawMessages.flatMap(entriesOf),
    thoughts: messages.flatMap(({ blocks }) => thoughtNames(blocks)),
    deadThoughts: transformations.length,
  }
}

/** A spelling that a re-serialised body would lose. */
const spell = (block: WireBlock): string => JSON.stringify(block).replace(':', ': ')

const rawText = ({ role, blocks }: LivedMessage): string =>
  `{"role":"${role}","content":[${blocks.join(',')}]}`

/** What names a block of thinking. */
const thoughtNames = (blocks: readonly WireBlock[]): readonly string[] =>
  blocks.filter(isThinking).map((block) => textOf(block['signature'] ?? block['data']))

function kindOf(role: unknown, block: WireBlock) {
  if (role === 'system') return 'told'
  if (role === 'assistant') return isThinking(block) ? 'thought' : 'other'
  return typeOf(block) === 'tool_result' ? 'other' : 'user'
}

function isRecap(block: WireBlock): boolean {
  const text = textOf(block['text'])
  return /<conversation-(?:recap|summary)/.test(text) || text === BARE_MARK
}

function blockIdentity(role: unknown, block: WireBlock): string {
  const { id, name, tool_use_id: answered } = block
  return JSON.stringify([role, typeOf(block), id, name, answered, Object.keys(block)])
}
