import { scanObject, skipWhitespace } from '../../../src/json/json-scan.ts'
import { parseJsonText } from '../../../src/json/json-value.ts'
import type { TestMessage } from '../../support/conversations.ts'
import type { ReceivedRequest } from '../../support/fake-upstream.ts'
import { blockBreaks } from '../../support/messages/block-rules.ts'
import { chatBreaks } from '../../support/ollama/chat-rules.ts'
import { chatOf, postChat, rawMessages, type ChatReply } from '../../support/post-chat.ts'
import { itemBreaks } from '../../support/responses/item-rules.ts'
import { itemsOf, typeOf } from '../../support/responses/wire-item.ts'
import { ruleBreaks } from '../../support/strict-upstream/message-rules.ts'
import { cutRawRequest, rawElements, rawMembers } from '../../support/strict-upstream/raw-request.ts'
import { callsOf, isObject } from '../../support/strict-upstream/wire-message.ts'
import { alignment } from '../replay/alignment.ts'
import type { Answer } from './wire/raw-exchange.ts'
import type { Received } from './wire/recording-upstream.ts'

/** A dialect's history, as it stands in a body. */
export type History = {
  /**
   * Throws unless what was received is what was sent with another history in it: everything around it keeps its bytes, every
   * entry is one of the client's, in order and byte for byte, or made of one, or a recap, and no rule is broken more often
   * than before (P1, P3). What holds for all that follows may be said again.
   */
  readonly check: (sent: Buffer, received: Buffer) => void
  /** Whether a body breaks no rule and ends in what a user says: so does what grows from it. */
  readonly mayGoOn: (body: Buffer) => boolean
  /** The messages or items of a body, byte for byte, as Latin-1. */
  readonly rawEntries: (body: Buffer) => readonly string[]
}

/** Of chat completions. */
export function checkRewritten(sent: Buffer, received: Buffer): void {
  checkAround(sent, received, 'messages')
  const rawSent = cutRawRequest(sent.toString('utf8')).messages
  const rawReceived = cutRawRequest(received.toString('utf8')).messages
  const messages = rawSent.map((text) => ({ text, message: parsed(text) }))
  const indexesOf = Map.groupBy(rawSent.keys(), (index) => rawSent[index] ?? '')
  const receivedMessages = rawReceived.map(parsed)
  const subject = { messages, indexesOf }
  const origins = alignment(subject, rawSent.length, { rawMessages: rawReceived, messages: receivedMessages })
  const stray = origins.findIndex(({ kind }) => kind === 'stray')
  if (stray !== -1) throw new Error(`message ${stray} is nobody's: ${rawReceived[stray]?.slice(0, 300)}`)
  checkRules(
    messages.map(({ message }) => message),
    receivedMessages,
  )
}

/** Throws where a message rule is broken more often than before. */
function checkRules(sent: readonly unknown[], received: readonly unknown[]): void {
  compareBreaks(ruleBreaks(received, 'lenient'), ruleBreaks(sent, 'lenient').length)
}

/** Asks for a reply; throws unless there is one, and what was sent for it breaks no rule more often than before. */
export async function checkTreated(
  url: string,
  { requests }: { readonly requests: ReceivedRequest[] },
  messages: readonly TestMessage[],
  headers: Readonly<Record<string, string>> = {},
): Promise<ChatReply> {
  requests.length = 0
  const reply = await postChat(url, chatOf(messages), { ...headers, 'x-fuzzed': '1' })
  if (reply.status !== 200) throw new Error(`${reply.status} ${reply.text.slice(0, 300)}`)
  const received = requests.findLast((request) => request.headers['x-fuzzed'] === '1')
  const sent = rawMessages(received).map((text): unknown => JSON.parse(text))
  if (messages.length > 0 && sent.length === 0) throw new Error('nothing was sent')
  checkRules(messages, sent)
  return reply
}

/** Throws where a line tells of an error. */
export function checkLog(lines: readonly string[]): void {
  const failed = lines.filter((line) => line.includes('"level":"error"'))
  if (failed.length > 0) throw new Error(failed.join('').slice(0, 1_000))
}

/** Of the Responses API. An output that comes behind a later reply is nobody's to begin with. */
export const itemHistory: History = historyOf({
  name: 'input',
  rawEntries: (body) => {
    const history = aroundHistory(body, 'input')
    if (history === null) return []
    const text = body.toString('latin1')
    const input = text.slice(history.before.length - 1, text.length - history.after.length + 1)
    if (!input.startsWith('"')) return rawElements(input)
    return itemsOf(parseJsonText(utf8(input))).map((item) => JSON.stringify(item))
  },
  partsOf: (raw) => [{ raw, envelope: '', value: latin(raw) }],
  // Only an id may go.
  identityOf: ({ value }) => {
    const fields = Object.keys(value).filter((key) => key !== 'id')
    return [value['type'], value['role'], value['call_id'], value['name'], fields]
  },
  isRestated: ({ value }) =>
    /^(?:additional_tools|configuration_update|tool_search_call|tool_search_output)$/.test(typeOf(value)),
  isRecap: ({ value }) => value['role'] === 'user' && RECAP.test(JSON.stringify(value['content'] ?? '')),
  markCharacters: '[cut],"annotations":[]'.length,
  breaksOf: (items) => itemBreaks(items, { get: () => undefined }),
  brokenBefore: lateOutputs,
})

/** Of the Messages API. A part is a block with its message's other fields: a mark of ours may come, and media may go. */
export const messageHistory: History = historyOf({
  name: 'messages',
  rawEntries: (body) => rawElements(rawMembers(body.toString('latin1')).get('messages') ?? ''),
  partsOf: (raw) => {
    const value = latin(raw)
    if (!Array.isArray(value['content'])) return [{ raw, envelope: '', value }]
    const { content: _content, ...fields } = value
    const blocks = rawElements(rawMembers(raw).get('content') ?? '')
    return blocks.map((block) => ({ raw: block, envelope: JSON.stringify(fields), value: latin(block) }))
  },
  identityOf: ({ value, envelope }) => {
    const isShown = /^(?:text|image|document)$/.test(typeOf(value))
    const fields = isShown ? [] : Object.keys(value).filter((key) => key !== 'cache_control')
    const ids = ['role', 'id', 'name', 'tool_use_id'].map((key) => value[key])
    return [isShown ? 'shown' : value['type'], ids, fields, envelope]
  },
  // Tools that a client found or changed, and what looked for them.
  isRestated: ({ raw, value }) =>
    typeOf(value) === 'tool_use' ||
    /"(?:tool_reference|tool_addition|tool_removal|mcp_tool_listing|tool_search_tool\w*)"/.test(raw),
  isRecap: ({ raw }) => RECAP.test(raw),
  markCharacters: '[cut],"cache_control":{"type":"ephemeral","ttl":"1h"}'.length,
  breaksOf: (messages) => blockBreaks(messages, { allowsPrefill: true }),
  brokenBefore: () => 0,
})

/** Of Ollama's own chat: pictures may go, for a mark in the text. */
export const ollamaHistory: History = historyOf({
  name: 'messages',
  rawEntries: (body) => rawElements(rawMembers(body.toString('latin1')).get('messages') ?? ''),
  partsOf: (raw) => [{ raw, envelope: '', value: latin(raw) }],
  identityOf: ({ value }) => {
    const fields = Object.keys(value).filter((key) => key !== 'images' && key !== 'content')
    const called = callsOf(value).map(({ id, name }) => [id, name])
    return [value['role'], value['tool_name'], value['tool_call_id'], called, fields]
  },
  isRestated: () => false,
  isRecap: ({ value }) => value['role'] === 'user' && RECAP.test(JSON.stringify(value['content'] ?? '')),
  // What is left of an object of arguments is a text in another, with each of its quotes escaped.
  markCharacters: '"content":"[image]\\n",{"clipped":"[clipped: 100 tokens in all]"}'.length + 40,
  breaksOf: chatBreaks,
  brokenBefore: () => 0,
})

/**
 * What was done with a body that was answered with `reply`: relayed byte for byte, or compacted as `check` says. Throws where
 * it was neither, and where it was not sent once.
 */
export function treatmentOf(
  { sent, reply, check }: { sent: Buffer; reply: string; check: (received: Received) => void },
  answer: Answer,
  received: readonly Received[],
): { readonly action: string; readonly only: Received } {
  if (answer.status !== 200 || answer.body.toString() !== reply)
    throw new Error(`${answer.startLine} ${answer.body.toString().slice(0, 300)}`)
  const [only] = received
  if (received.length !== 1 || only === undefined) throw new Error(`sent ${received.length} times`)
  const action = answer.header('x-foldgate-action') ?? ''
  if (/^relayed(?:;|$)/.test(action)) {
    if (!only.body.equals(sent)) throw new Error(`${action}, but with other bytes`)
  } else {
    if (action !== 'compacted') throw new Error(`x-foldgate-action: ${action}`)
    check(only)
  }
  return { action, only }
}

type Value = Readonly<Record<string, unknown>>

/** An item, a block, or a message whose content is none, with the rest of what it stands in. */
type Part = { readonly raw: string; readonly envelope: string; readonly value: Value }

type Dialect = Pick<History, 'rawEntries'> & {
  readonly name: 'messages' | 'input'
  readonly partsOf: (rawEntry: string) => readonly Part[]
  /** What shortening keeps: who speaks, what is answered, the names of all fields. */
  readonly identityOf: (part: Part) => unknown
  readonly isRestated: (part: Part) => boolean
  readonly isRecap: (part: Part) => boolean
  /** What was made of a part is shorter, but for the mark that stands for a word or two. */
  readonly markCharacters: number
  readonly breaksOf: (entries: readonly Value[]) => readonly unknown[]
  /** What else was broken before, by no rule of its own. */
  readonly brokenBefore: (entries: readonly Value[]) => number
}

const RECAP = /<conversation-(?:recap|summary)|left out/

function historyOf({ name, rawEntries, partsOf, breaksOf, brokenBefore, ...dialect }: Dialect): History {
  function checkOrigins(sent: readonly Part[], received: readonly Part[]): void {
    const identify = (part: Part) => ({ part, identity: JSON.stringify(dialect.identityOf(part)) })
    const known = sent.map(identify)
    let from = 0
    for (const [position, { part, identity }] of received.map(identify).entries()) {
      if (dialect.isRecap(part)) continue
      const isOrigin = (one: (typeof known)[number]): boolean =>
        one.identity === identity &&
        (one.part.raw === part.raw || one.part.raw.length + dialect.markCharacters > part.raw.length)
      if (dialect.isRestated(part) && known.some(isOrigin)) continue
      const origin = known.findIndex((one, index) => index >= from && isOrigin(one))
      if (origin === -1) throw new Error(`part ${position} is nobody's: ${part.raw.slice(0, 300)}`)
      from = origin + 1
    }
  }
  return {
    rawEntries,
    check: (sent, received) => {
      checkAround(sent, received, name)
      const [rawSent, rawReceived] = [rawEntries(sent), rawEntries(received)]
      checkOrigins(rawSent.flatMap(partsOf), rawReceived.flatMap(partsOf))
      const before = rawSent.map(latin)
      compareBreaks(breaksOf(rawReceived.map(latin)), breaksOf(before).length + brokenBefore(before))
    },
    mayGoOn: (body) => {
      const value = parseJsonText(body.toString('utf8'))
      if (!isObject(value) || !Array.isArray(value[name])) return false
      const entries = rawEntries(body).map(latin)
      return entries.at(-1)?.['role'] === 'user' && breaksOf(entries).length === 0
    },
  }
}

function checkAround(sent: Buffer, received: Buffer, name: 'messages' | 'input'): void {
  const [one, other] = [aroundHistory(sent, name), aroundHistory(received, name)]
  if (one === null || other === null) throw new Error(`what was rewritten has no ${name}`)
  if (one.before !== other.before) throw new Error(`what stands before the ${name} differs`)
  if (one.after !== other.after) throw new Error(`what stands after the ${name} differs`)
}

/** What stands around a history, its brackets included, in Latin-1, so that no byte is lost; null if there is none. */
function aroundHistory(body: Buffer, name: string) {
  const text = body.toString('latin1')
  const entries = scanObject(text, skipWhitespace(text, 0))?.entries ?? []
  const found = entries.find(({ key }) => JSON.parse(text.slice(key.start, key.end)) === name)
  if (found === undefined) return null
  return { before: text.slice(0, found.value.start + 1), after: text.slice(found.value.end - 1) }
}

function compareBreaks(broken: readonly unknown[], before: number): void {
  if (broken.length > before)
    throw new Error(`more rules are broken than before: ${JSON.stringify(broken).slice(0, 600)}`)
}

/** Outputs whose call was made in a reply before the one that they stand behind: pairs are matched by position. */
function lateOutputs(items: readonly Value[]): number {
  const called = new Set<unknown>()
  let waiting = new Set<unknown>()
  let late = 0
  let isReply = false
  for (const item of items) {
    const isOutput = typeOf(item).endsWith('_output')
    const isModels = !isOutput && item['role'] !== 'user' && item['role'] !== 'developer'
    if (isModels && !isReply) waiting = new Set()
    isReply = isModels
    const id = item['call_id']
    if (isOutput && !waiting.has(id) && called.has(id)) late += 1
    if (!isModels || id === undefined) continue
    waiting.add(id)
    called.add(id)
  }
  return late
}

function parsed(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text)
  return isObject(value) ? value : {}
}

function latin(raw: string): Value {
  const value: unknown = parseJsonText(utf8(raw))
  return isObject(value) ? value : {}
}

function utf8(latin1: string): string {
  return Buffer.from(latin1, 'latin1').toString('utf8')
}
