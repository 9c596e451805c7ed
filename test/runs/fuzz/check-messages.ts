import { parseJsonText } from '../../../src/conversation/json-value.ts'
import { blockBreaks } from '../../support/messages/block-rules.ts'
import { typeOf, type WireBlock } from '../../support/messages/wire-block.ts'
import { rawElements, rawMembers } from '../../support/strict-upstream/raw-request.ts'
import { isObject } from '../../support/strict-upstream/wire-message.ts'
import { aroundHistory } from './check-rewritten.ts'

/**
 * Throws unless what was received is what was sent with other messages in it: everything around them keeps its bytes, every block
 * is one of the client's, in order and byte for byte, or made of one, or a recap, stands in a message of the same role and the
 * same other fields, and no rule is broken more often than before (P1, P3). What holds for all that follows may be said again.
 */
export function checkMessages(sent: Buffer, received: Buffer): void {
  const one = aroundHistory(sent, 'messages')
  const other = aroundHistory(received, 'messages')
  if (one === null || other === null) throw new Error('what was rewritten has no messages')
  if (one.before !== other.before) throw new Error('what stands before the messages differs')
  if (one.after !== other.after) throw new Error('what stands after the messages differs')
  const [rawSent, rawReceived] = [rawMessages(sent), rawMessages(received)]
  checkOrigins(rawSent.flatMap(blocksIn), rawReceived.flatMap(blocksIn))
  const broken = breaksOf(rawReceived)
  if (broken.length > breaksOf(rawSent).length)
    throw new Error(`more rules are broken than before: ${JSON.stringify(broken).slice(0, 600)}`)
}

/** Whether a body breaks no rule and ends in what a user says: so does what grows from it. */
export function mayGrow(body: Buffer): boolean {
  const value = parseJsonText(body.toString('utf8'))
  if (!isObject(value) || !Array.isArray(value['messages'])) return false
  const messages = rawMessages(body)
  return parsed(messages.at(-1) ?? '')['role'] === 'user' && breaksOf(messages).length === 0
}

/** The messages of a body, byte for byte, as Latin-1. */
export function rawMessages(body: Buffer): readonly string[] {
  return rawElements(rawMembers(body.toString('latin1')).get('messages') ?? '')
}

// --- internal ---

const MARK_CHARACTERS = '[cut],"cache_control":{"type":"ephemeral","ttl":"1h"}'.length

/** A block, or a message whose content is none, with the rest of what it stands in. */
type PlacedBlock = { readonly raw: string; readonly envelope: string; readonly block: WireBlock }

function blocksIn(message: string): readonly PlacedBlock[] {
  const value = parsed(message)
  if (!Array.isArray(value['content'])) return [{ raw: message, envelope: '', block: value }]
  const content = rawMembers(message).get('content') ?? ''
  const { content: _content, ...fields } = value
  const envelope = JSON.stringify(fields)
  return rawElements(content).map((raw) => ({ raw, envelope, block: parsed(raw) }))
}

function breaksOf(messages: readonly string[]) {
  return blockBreaks(messages.map(parsed), { allowsPrefill: true })
}

function checkOrigins(sent: readonly PlacedBlock[], received: readonly PlacedBlock[]): void {
  const known = sent.map((each) => ({ ...each, identity: identityOf(each) }))
  let from = 0
  for (const [position, placed] of received.entries()) {
    if (isRecap(placed)) continue
    const { raw } = placed
    const identity = identityOf(placed)
    // What was made of a block is shorter, but for the mark that stands for a word or two.
    const isOrigin = (each: (typeof known)[number]): boolean =>
      each.identity === identity && (each.raw === raw || each.raw.length + MARK_CHARACTERS > raw.length)
    if (isRestated(placed) && known.some(isOrigin)) continue
    const origin = known.findIndex((each, index) => index >= from && isOrigin(each))
    if (origin === -1) throw new Error(`block ${position} is nobody's: ${raw.slice(0, 300)}`)
    from = origin + 1
  }
}

function parsed(raw: string): WireBlock {
  const value: unknown = parseJsonText(Buffer.from(raw, 'latin1').toString('utf8'))
  return isObject(value) ? value : {}
}

/** What shortening keeps: who speaks, what is answered, the names of all fields. A mark of ours may come, and media may go. */
function identityOf({ block, envelope }: PlacedBlock): string {
  const isShown = typeOf(block) === 'text' || typeOf(block) === 'image' || typeOf(block) === 'document'
  const { type, role, id, name, tool_use_id: answered } = block
  const fields = isShown ? [] : Object.keys(block).filter((key) => key !== 'cache_control')
  return JSON.stringify([isShown ? 'shown' : type, role, id, name, answered, fields, envelope])
}

/** Tools that a client found or changed, and what looked for them. */
function isRestated({ raw, block }: PlacedBlock): boolean {
  const holds = /"(?:tool_reference|tool_addition|tool_removal|mcp_tool_listing|tool_search_tool\w*)"/
  return holds.test(raw) || typeOf(block) === 'tool_use'
}

function isRecap({ raw }: PlacedBlock): boolean {
  return /<conversation-(?:recap|summary)|left out/.test(raw)
}
