import { openBlockCounter } from '../../../support/messages/block-tokens.ts'
import { chatOf, toolsOf, type Chat } from '../../../support/messages/chat.ts'
import { live, messageTexts, readReply, type LivedMessage } from '../../../support/messages/living.ts'
import type { ScriptedBlock } from '../../../support/messages/script.ts'
import type { WireBlock } from '../../../support/messages/wire-block.ts'
import { ruleBreaks } from '../../../support/strict-upstream/message-rules.ts'
import { REPLY_TOKENS } from '../../../support/strict-upstream/prompt-tokens.ts'
import type { LivedSubject } from '../lived/lived-subject.ts'
import { OUTPUT_TOKENS, requestPoints, type RawMessage, type Recording } from '../recordings.ts'
import { repaired } from '../repair.ts'
import type { RequestBody } from '../subject.ts'
import { blockReader, livedEntries, MARK, thoughtNames } from './read-block.ts'

/** What the upstream is to answer. */
export type BlocksScript = readonly ScriptedBlock[]

type MessagesSubjectOptions = {
  readonly count: (text: string) => number
  /** The most requests of a conversation, the last one among them; null: all. */
  readonly pointsMax: number | null
}

/** Every recording, repaired where its calls and results do not pair: this API refuses those. */
export function messagesSubjects(
  recordings: readonly Recording[],
  options: MessagesSubjectOptions,
): readonly LivedSubject<BlocksScript>[] {
  return recordings.map((recording, index) => {
    const isSound = ruleBreaks(messagesOf(recording.messages), 'lenient').length === 0
    const messages = isSound ? recording.messages : repaired(recording.messages, 'lenient')
    const isSingle = recording.points[0] === recording.messages.length
    const points = isSingle ? [messages.length] : requestPoints(messages)
    const asked = points.filter((point) => isAskable(messages.slice(0, point)))
    const { pointsMax, count } = options
    return messagesSubject(recording, {
      chat: chatOf(messagesOf(messages), { ridesBehindResults: index % 4 < 2 }),
      points: new Set(pointsMax === null ? asked : asked.slice(-pointsMax)),
      variant: isSound ? 'recorded' : 'repaired',
      isClaudeCode: index % 2 === 0,
      count,
    })
  })
}

type MessagesBody = {
  readonly system: string | null
  /** Whether the client writes as Claude Code does: who pays first, and marks that move on with the conversation. */
  readonly isClaudeCode: boolean
  readonly tools: readonly WireBlock[]
  readonly messages: readonly LivedMessage[]
  readonly isStreamed: boolean
  readonly outputTokens: number
}

/** A request as a client makes it. */
export function messagesBody(given: MessagesBody): RequestBody {
  const { isClaudeCode, tools, messages, isStreamed, outputTokens } = given
  const texts = messageTexts(messages, { marksNewest: isClaudeCode, shortensTexts: false })
  const before = Buffer.from(`{"model":"${MODEL}","stream":${isStreamed},${systemMember(given)}"messages":[`)
  const stated = {
    ...(tools.length > 0 && { tools }),
    max_tokens: outputTokens,
    thinking: { type: 'adaptive' },
  }
  // Spellings and values that a re-serialised body would lose.
  const odd = '"temperature":1.0,"metadata": {"user_id" : "agent","kept":[1e400]}'
  const after = Buffer.from(`],${JSON.stringify(stated).slice(1, -1)},${odd}}`)
  return { bytes: Buffer.concat([before, Buffer.from(texts.join(',')), after]), before, after }
}

/** Whether these may stand before a reply: from a user's word on, and up to what is not the model's. */
export function isAskable(messages: readonly RawMessage[]): boolean {
  const roles = messages
    .map(({ message }) => message['role'])
    .filter((role) => role !== 'system' && role !== 'developer')
  return roles[0] === 'user' && roles.at(-1) !== 'assistant'
}

// --- internal ---

// OpenAI's, so that Foldgate's count and the judge's are the same.
const MODEL = 'gpt-4o-replay'

const ENDING: BlocksScript = [{ type: 'text', text: 'Replayed.' }]

function messagesOf(messages: Recording['messages']) {
  return messages.map(({ message }) => message)
}

function systemMember({ system, isClaudeCode, messages }: MessagesBody): string {
  const told = system === null || system.trim() === '' ? null : system
  if (!isClaudeCode) return told === null ? '' : `"system":${JSON.stringify(told)},`
  // Another one in each request.
  const billing = { type: 'text', text: `x-anthropic-billing-header: cc_version=2; cch=${messages.length};` }
  const marked = told === null ? '' : `,{"type":"text","text":${JSON.stringify(told)},${MARK}}`
  return `"system":[${JSON.stringify(billing)}${marked}],`
}

type Lived = {
  readonly chat: Chat
  /** The steps whose reply is asked for; one behind the last stands for a request that a recording ends with. */
  readonly points: ReadonlySet<number>
  readonly variant: 'recorded' | 'repaired'
  readonly isClaudeCode: boolean
  readonly count: (text: string) => number
}

function messagesSubject(
  recording: Recording,
  { chat, points, variant, isClaudeCode, count }: Lived,
): LivedSubject<BlocksScript> {
  const { system, steps } = chat
  const tools = toolsOf(recording.tools === '' ? undefined : JSON.parse(recording.tools))
  const counter = openBlockCounter(count)
  const told = system === null ? 0 : counter.message([{ type: 'text', text: system }])
  return {
    recording,
    variant,
    owner: encodeURIComponent(`${recording.file}/${recording.id}/${variant}`),
    aroundTokens: REPLY_TOKENS + counter.tools(tools) + told,
    readEntry: blockReader(counter),
    thoughtsIn: (answer) => thoughtNames(readReply(answer)?.blocks ?? []),
    live: async (isStreamed, askWith) => {
      const ask = async (point: number, messages: readonly LivedMessage[], script: BlocksScript) => {
        if (!points.has(point)) return null
        const outputTokens = OUTPUT_TOKENS
        const body = messagesBody({ system, isClaudeCode, tools, messages, isStreamed, outputTokens })
        const answer = await askWith({ point, entries: livedEntries(messages), body, script })
        return answer === null ? null : (readReply(answer)?.blocks ?? null)
      }
      const messages = await live({
        steps,
        // A spelling that a re-serialised body would lose.
        spell: (block) => JSON.stringify(block).replace(':', ': '),
        ask: (request) => ask(request.index, request.messages, request.script),
      })
      await ask(steps.length, messages, ENDING)
    },
  }
}
