import { chatOf, toolsOf, type Chat } from '../../../support/responses/items.ts'
import { openItemCounter } from '../../../support/responses/item-tokens.ts'
import { live, readReply, type LivedItem } from '../../../support/responses/living.ts'
import type { ScriptedItem } from '../../../support/responses/script.ts'
import { typeOf, type WireItem } from '../../../support/responses/wire-item.ts'
import { REPLY_TOKENS } from '../../../support/strict-upstream/prompt-tokens.ts'
import { ruleBreaks } from '../../../support/strict-upstream/message-rules.ts'
import { textOf } from '../../../support/strict-upstream/wire-message.ts'
import type { LivedSubject } from '../lived/lived-subject.ts'
import { OUTPUT_TOKENS, requestPoints, type Recording } from '../recordings.ts'
import { repaired } from '../repair.ts'
import type { RequestBody } from '../subject.ts'
import { itemReader } from './read-item.ts'

/** What the upstream is to answer. */
export type ItemsScript = readonly ScriptedItem[]

type LivedSubjectOptions = {
  readonly count: (text: string) => number
  /** The most requests of a conversation, the last one among them; null: all. */
  readonly pointsMax: number | null
}

/** Every recording, repaired where its calls and results do not pair: this API refuses those. */
export function livedSubjects(
  recordings: readonly Recording[],
  options: LivedSubjectOptions,
): readonly LivedSubject<ItemsScript>[] {
  return recordings.map((recording, index) => {
    const isSound = ruleBreaks(messagesOf(recording.messages), 'lenient').length === 0
    const messages = isSound ? recording.messages : repaired(recording.messages, 'lenient')
    const isSingle = recording.points[0] === recording.messages.length
    const points = isSingle ? [messages.length] : requestPoints(messages)
    const { pointsMax } = options
    const kept = pointsMax === null ? points : points.slice(-pointsMax)
    // Both places of system messages are in use.
    const system = index % 2 === 0 ? 'instructions' : 'developer'
    const chat = chatOf(messagesOf(messages), { system })
    return livedSubject(recording, {
      chat,
      points: new Set([...kept, messages.length + 1]),
      isSound,
      count: options.count,
    })
  })
}

type LivedBody = {
  readonly instructions: string | null
  readonly tools: readonly WireItem[]
  /** The JSON of each. */
  readonly items: readonly string[]
  readonly isStreamed: boolean
  readonly outputTokens: number
}

/** A request as a client with `store: false` makes it. */
export function livedBody({ instructions, tools, items, isStreamed, outputTokens }: LivedBody): RequestBody {
  const asked = { model: MODEL, stream: isStreamed, ...(instructions !== null && { instructions }) }
  const before = Buffer.from(`${JSON.stringify(asked).slice(0, -1)},"input":[`)
  const after = Buffer.from(`],${afterInput(tools, outputTokens)}}`)
  return { bytes: Buffer.concat([before, Buffer.from(items.join(',')), after]), before, after }
}

// --- internal ---

/** How the client writes an item: with ids of its own, and with what Codex keeps about it. */
function spellItem(item: WireItem, place: number): string {
  const prefix = ownIds[typeOf(item)]
  const named = item['id'] === undefined && item['role'] !== 'assistant' && prefix !== undefined
  const text = JSON.stringify(named ? { id: `${prefix}_own${place}`, ...item } : item)
  // A number that a re-serialised body would spell in another way.
  return `${text.slice(0, -1)}, "internal_chat_message_metadata_passthrough":{"create_time":1795415101.650}}`
}

const ownIds: Readonly<Record<string, string>> = { message: 'msg', function_call_output: 'fco' }

// OpenAI's, so that Foldgate's count and the judge's are the same.
const MODEL = 'gpt-4o-replay'

function messagesOf(messages: Recording['messages']) {
  return messages.map(({ message }) => message)
}

type Lived = {
  readonly chat: Chat
  /**
   * The steps whose reply is asked for. One behind the last stands for a request that a recording ends with, and one behind
   * that for the client's wish, at the end, that the upstream compacts.
   */
  readonly points: ReadonlySet<number>
  readonly isSound: boolean
  readonly count: (text: string) => number
}

const ENDING: ItemsScript = [{ type: 'message', text: 'Replayed.' }]

function livedSubject(
  recording: Recording,
  { chat, points, isSound, count }: Lived,
): LivedSubject<ItemsScript> {
  const { instructions, steps } = chat
  const tools = toolsOf(recording.tools === '' ? undefined : JSON.parse(recording.tools))
  const counter = openItemCounter(count)
  const told = instructions === null ? 0 : counter.item({ type: 'message', content: instructions })
  const variant = isSound ? 'recorded' : 'repaired'
  return {
    recording,
    variant,
    owner: encodeURIComponent(`${recording.file}/${recording.id}/${variant}`),
    aroundTokens: REPLY_TOKENS + counter.tools(tools) + told,
    readEntry: itemReader((item) => counter.item(item)),
    thoughtsIn: (answer) =>
      (readReply(answer)?.items ?? [])
        .filter((item) => typeOf(item) === 'reasoning')
        .map((item) => textOf(item['id'])),
    live: async (isStreamed, askWith) => {
      let place = 0
      const spell = (item: WireItem) => spellItem(item, (place += 1))
      const ask = async (point: number, entries: readonly LivedItem[], script: ItemsScript) => {
        if (!points.has(point)) return null
        const items = entries.map(({ text }) => text)
        const body = livedBody({ instructions, tools, items, isStreamed, outputTokens: OUTPUT_TOKENS })
        const answer = await askWith({ point, entries, body, script })
        return answer === null ? null : (readReply(answer)?.items ?? null)
      }
      const items = await live({
        steps,
        spell,
        ask: (request) => ask(request.index, request.items, request.script),
      })
      await ask(steps.length, items, ENDING)
      const trigger = { text: spell({ type: 'compaction_trigger' }), reply: null }
      await ask(steps.length + 1, [...items, trigger], [])
    },
  }
}

function afterInput(tools: readonly WireItem[], outputTokens: number): string {
  const stated = {
    ...(tools.length > 0 && { tools }),
    tool_choice: 'auto',
    store: false,
    include: ['reasoning.encrypted_content'],
    max_output_tokens: outputTokens,
  }
  // Spellings and fields that a re-serialised body would lose.
  return `${JSON.stringify(stated).slice(1, -1)},"temperature":1.0,"x_unknown": {"kept" : [1e400]}`
}
