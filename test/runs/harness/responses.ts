import { BARE_MARK } from '../../../src/compaction/recap/recap.ts'
import { openItemCounter } from '../../support/responses/item-tokens.ts'
import { chatOf, toolsOf } from '../../support/responses/items.ts'
import { openLife, readReply } from '../../support/responses/living.ts'
import {
  startResponsesUpstream,
  type RecordedResponsesRequest,
} from '../../support/responses/responses-upstream.ts'
import type { ScriptedItem } from '../../support/responses/script.ts'
import { callIdOf, partsOf, typeOf, type WireItem } from '../../support/responses/wire-item.ts'
import { REPLY_TOKENS } from '../../support/strict-upstream/prompt-tokens.ts'
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
import { MODEL, messagesOf, toolsIn, type Recording } from './recordings.ts'
import { standBetween, type Exchange } from './stage.ts'
import type { RequestBody } from './subject.ts'

/** A Foldgate before the strict Responses upstream. */
export async function openResponsesStage(options: LivedStageOptions): Promise<LivedStage> {
  const { profile, refusesOddly = false, ...asked } = options
  let output: Script = []
  const upstream = await startResponsesUpstream({
    ...asked,
    overflow: refusesOddly ? { shape: 'stream', errorEvent: 'nested' } : { shape: 'status' },
    outputReserveChecked: true,
    reply: () => ({ output }),
  })
  const { ask, ...stage } = await standBetween({
    upstream,
    profile,
    endpoint: 'responses',
    isReply: (text) => readReply(text) !== null,
  })
  const send: Send = async (bytes, authorization, script) => {
    output = script
    const exchange = await ask(bytes, authorization)
    return { ...exchange, received: exchange.received.map(seen) }
  }
  return { ...stage, openChat: (recording, chat) => openChat(recording, chat, options.count, send) }
}

type ItemsBody = {
  readonly instructions: string | null
  readonly tools: readonly WireItem[]
  /** The JSON of each. */
  readonly items: readonly string[]
  readonly isStreamed: boolean
  readonly outputTokens: number
}

/** A request as a client with `store: false` makes it. */
export function itemsBody({ instructions, tools, items, isStreamed, outputTokens }: ItemsBody): RequestBody {
  const asked = { model: MODEL, stream: isStreamed, ...(instructions !== null && { instructions }) }
  const stated = {
    ...(tools.length > 0 && { tools }),
    tool_choice: 'auto',
    store: false,
    include: ['reasoning.encrypted_content'],
    max_output_tokens: outputTokens,
  }
  // Spellings and fields that a re-serialised body would lose.
  const odd = '"temperature":1.0,"x_unknown": {"kept" : [1e400]}'
  const before = Buffer.from(`${JSON.stringify(asked).slice(0, -1)},"input":[`)
  const after = Buffer.from(`],${JSON.stringify(stated).slice(1, -1)},${odd}}`)
  return { bytes: Buffer.concat([before, Buffer.from(items.join(',')), after]), before, after }
}

/** Reads the JSON of items; `tokensOf` is the judge's count. */
export const itemReader =
  (tokensOf: (item: WireItem) => number): EntryReader =>
  (text) => {
    const item = parsedItem(text)
    return {
      kind: kindOf(item),
      identity: identityOf(item),
      isRecap: isRecap(item),
      unnamed: withoutId(text),
      tokens: tokensOf(item),
    }
  }

export function parsedItem(text: string): WireItem {
  const parsed: unknown = JSON.parse(text)
  return isObject(parsed) ? parsed : {}
}

/** Its reasoning may have gone, and its id with it. */
export const withoutId = (text: string): string => text.replace(/"id":"[^"]*",/, '')

/** What the upstream is to answer. */
type Script = readonly ScriptedItem[]
type Send = (body: Buffer, authorization: string, script: Script) => Promise<Exchange<LivedReceived>>

const ENDING: Script = [{ type: 'message', text: 'Replayed.' }]

function openChat(
  recording: Recording,
  { messages, manner, thoughtTokens, outputTokens }: LivedChatOptions,
  count: (text: string) => number,
  send: Send,
): LivedChat {
  const { instructions, steps } = chatOf(messagesOf(messages), {
    // Both places of system messages are in use.
    system: manner !== null && manner % 2 === 0 ? 'instructions' : 'developer',
    ...(thoughtTokens !== undefined && { reasoningTokens: thoughtTokens }),
  })
  const tools = toolsOf(toolsIn(recording))
  const counter = openItemCounter(count)
  const told = instructions === null ? 0 : counter.item({ type: 'message', content: instructions })
  let place = 0
  const spell = (item: WireItem) => spellItem(item, (place += 1))
  const life = openLife({ steps, ...(manner !== null && { spell }) })
  let entries: readonly LivedEntry[] = []
  return {
    aroundTokens: REPLY_TOKENS + counter.tools(tools) + told,
    readEntry: itemReader((item) => counter.item(item)),
    thoughtsIn: (answer) => thoughtsAmong(readReply(answer)?.items ?? []),
    before: (step) => {
      const said = life.before(step)
      // One behind the last step stands for a request that a recording ends with; the next, for the client's wish that
      // the upstream compacts.
      entries = said
      if (step > steps.length)
        entries = [...said, { text: spell({ type: 'compaction_trigger' }), reply: null }]
      return entries
    },
    ask: async (step, isStreamed, authorization) => {
      const parts = entries.map(({ text }) => text)
      const body = itemsBody({ instructions, tools, items: parts, isStreamed, outputTokens })
      const asked = steps[step]
      const script = asked?.kind === 'reply' ? asked.script : step > steps.length ? [] : ENDING
      const exchange = await send(body.bytes, authorization, script)
      const reply = exchange.isReply ? readReply(exchange.answer) : null
      if (reply !== null && asked !== undefined) life.reply(reply.items)
      return { body, parts, exchange }
    },
  }
}

function seen(request: RecordedResponsesRequest): LivedReceived {
  const { rawItems, items, removed } = request
  const deadThoughts = removed.length
  return {
    ...request,
    rawParts: rawItems,
    rawEntries: rawItems,
    thoughts: thoughtsAmong(items),
    deadThoughts,
  }
}

const thoughtsAmong = (items: readonly WireItem[]): readonly string[] =>
  items.filter((item) => typeOf(item) === 'reasoning').map((item) => textOf(item['id']))

/** How the client writes an item: with ids of its own, and with what Codex keeps about it. */
function spellItem(item: WireItem, place: number): string {
  const prefix = ownIds[typeOf(item)]
  const named = item['id'] === undefined && item['role'] !== 'assistant' && prefix !== undefined
  const text = JSON.stringify(named ? { id: `${prefix}_own${place}`, ...item } : item)
  // A number that a re-serialised body would spell in another way.
  return `${text.slice(0, -1)}, "internal_chat_message_metadata_passthrough":{"create_time":1795415101.650}}`
}

const ownIds: Readonly<Record<string, string>> = { message: 'msg', function_call_output: 'fco' }

function kindOf(item: WireItem) {
  const { role } = item
  if (typeOf(item) === 'reasoning') return 'thought'
  if (role === 'developer' || role === 'system') return 'told'
  return role === 'user' ? 'user' : 'other'
}

function isRecap(item: WireItem): boolean {
  if (typeOf(item) !== 'message' || item['role'] !== 'user') return false
  return partsOf(item['content'], 'input_text').some((part) => {
    const text = textOf(part['text'])
    return /<conversation-(?:recap|summary)/.test(text) || text === BARE_MARK
  })
}

/** What shortening an item leaves as it is: the names of its fields but for the id, and what it belongs to. */
function identityOf(item: WireItem): string {
  const type = typeOf(item)
  const names = Object.keys(item).filter((name) => name !== 'id')
  const callId = type === 'message' || type === 'reasoning' ? '' : callIdOf(item)
  return JSON.stringify([type, item['role'], item['name'], callId, names])
}
