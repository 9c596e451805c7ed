import { parseJsonText } from '../../../src/conversation/json-value.ts'
import { itemBreaks } from '../../support/responses/item-rules.ts'
import { itemsOf, typeOf, type WireItem } from '../../support/responses/wire-item.ts'
import { rawElements } from '../../support/strict-upstream/raw-request.ts'
import { isObject } from '../../support/strict-upstream/wire-message.ts'
import { aroundHistory } from './check-rewritten.ts'

/**
 * Throws unless what was received is what was sent with another input in it: everything around the input keeps its bytes,
 * every item is one of the client's, in order and byte for byte, or made of one, or a recap, and no rule is broken more
 * often than before (P1, P3). An output that comes behind a later reply is nobody's to begin with. What holds for all that follows may be said again behind others.
 */
export function checkInput(sent: Buffer, received: Buffer): void {
  const one = aroundHistory(sent, 'input')
  const other = aroundHistory(received, 'input')
  if (one === null || other === null) throw new Error('what was rewritten has no input')
  if (one.before !== other.before) throw new Error('what stands before the input differs')
  if (one.after !== other.after) throw new Error('what stands after the input differs')
  const [rawSent, rawReceived] = [rawItems(sent), rawItems(received)]
  checkOrigins(rawSent, rawReceived)
  const [itemsSent, itemsReceived] = [rawSent.map(parsed), rawReceived.map(parsed)]
  const broken = itemBreaks(itemsReceived, NOTHING_ISSUED)
  if (broken.length > itemBreaks(itemsSent, NOTHING_ISSUED).length + lateOutputs(itemsSent))
    throw new Error(`more rules are broken than before: ${JSON.stringify(broken).slice(0, 600)}`)
}

/** Whether a body breaks no rule and ends in what a user says: so does what grows from it. */
export function mayGoOn(body: Buffer): boolean {
  const value = parseJsonText(body.toString('utf8'))
  if (!isObject(value) || !Array.isArray(value['input'])) return false
  const items = rawItems(body).map(parsed)
  return items.at(-1)?.['role'] === 'user' && itemBreaks(items, NOTHING_ISSUED).length === 0
}

/** The items of a body, byte for byte, as Latin-1. */
export function rawItems(body: Buffer): readonly string[] {
  const history = aroundHistory(body, 'input')
  if (history === null) return []
  const text = body.toString('latin1')
  const input = text.slice(history.before.length - 1, text.length - history.after.length + 1)
  if (!input.startsWith('"')) return rawElements(input)
  return itemsOf(parseJsonText(utf8(input))).map((item) => JSON.stringify(item))
}

// --- internal ---

const MARK_CHARACTERS = '[cut],"annotations":[]'.length

const NOTHING_ISSUED = { get: () => undefined }

const RESTATED: ReadonlySet<string> = new Set([
  'additional_tools',
  'configuration_update',
  'tool_search_call',
  'tool_search_output',
])

/** Outputs whose call was made in a reply before the one that they stand behind: pairs are matched by position. */
function lateOutputs(items: readonly WireItem[]): number {
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

function checkOrigins(rawSent: readonly string[], rawReceived: readonly string[]): void {
  const sent = rawSent.map((raw) => ({ raw, identity: identityOf(parsed(raw)) }))
  let from = 0
  for (const [position, raw] of rawReceived.entries()) {
    const item = parsed(raw)
    if (isRecap(item)) continue
    const identity = identityOf(item)
    // What was made of an item is shorter, but for the mark that stands for a word or two.
    const isOrigin = (each: (typeof sent)[number]): boolean =>
      each.raw === raw || (each.identity === identity && each.raw.length + MARK_CHARACTERS > raw.length)
    if (RESTATED.has(typeOf(item)) && sent.some(isOrigin)) continue
    const origin = sent.findIndex((each, index) => index >= from && isOrigin(each))
    if (origin === -1) throw new Error(`item ${position} is nobody's: ${raw.slice(0, 300)}`)
    from = origin + 1
  }
}

function parsed(raw: string): WireItem {
  const value: unknown = JSON.parse(utf8(raw))
  return isObject(value) ? value : {}
}

function utf8(latin1: string): string {
  return Buffer.from(latin1, 'latin1').toString('utf8')
}

/** What shortening keeps: who speaks, what is answered, the names of all fields. Only an id may go. */
function identityOf(item: WireItem): string {
  const fields = Object.keys(item).filter((key) => key !== 'id')
  return JSON.stringify([item['type'], item['role'], item['call_id'], item['name'], fields])
}

function isRecap({ role, content }: WireItem): boolean {
  return role === 'user' && /<conversation-(?:recap|summary)|left out/.test(JSON.stringify(content) ?? '')
}
