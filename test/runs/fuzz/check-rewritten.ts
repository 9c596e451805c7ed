import { scanObject, skipWhitespace } from '../../../src/conversation/json-scan.ts'
import { ruleBreaks } from '../../support/strict-upstream/message-rules.ts'
import { cutRawRequest } from '../../support/strict-upstream/raw-request.ts'
import { isObject, type WireMessage } from '../../support/strict-upstream/wire-message.ts'
import { alignment } from '../replay/alignment.ts'

/**
 * Throws unless what was received is what was sent with another conversation in it: everything around the messages keeps
 * its bytes, every message is one of the client's, in order and byte for byte, or made of one, or a recap, and no message
 * rule is broken more often than before (P1, P3).
 */
export function checkRewritten(sent: Buffer, received: Buffer): void {
  const one = aroundHistory(sent, 'messages')
  const other = aroundHistory(received, 'messages')
  if (one === null || other === null) throw new Error('what was rewritten has no messages')
  if (one.before !== other.before) throw new Error('what stands before the messages differs')
  if (one.after !== other.after) throw new Error('what stands after the messages differs')

  const rawSent = cutRawRequest(sent.toString('utf8')).messages
  const rawReceived = cutRawRequest(received.toString('utf8')).messages
  const messagesReceived = rawReceived.map(parsed)
  const indexesOf = Map.groupBy(rawSent.keys(), (index) => rawSent[index] ?? '')
  const messages = rawSent.map((text) => ({ text, message: parsed(text) }))
  const origins = alignment({ messages, indexesOf }, rawSent.length, {
    rawMessages: rawReceived,
    messages: messagesReceived,
  })
  const stray = origins.findIndex(({ kind }) => kind === 'stray')
  if (stray !== -1) throw new Error(`message ${stray} is nobody's: ${rawReceived[stray]?.slice(0, 300)}`)

  checkRules(
    messages.map(({ message }) => message),
    messagesReceived,
  )
}

/** Throws where a message rule is broken more often than before. */
export function checkRules(sent: readonly unknown[], received: readonly unknown[]): void {
  const broken = ruleBreaks(received, 'lenient')
  if (broken.length > ruleBreaks(sent, 'lenient').length)
    throw new Error(`more rules are broken than before: ${JSON.stringify(broken).slice(0, 600)}`)
}

/** What stands around a history, its brackets included, in Latin-1, so that no byte is lost; null if there is none. */
export function aroundHistory(
  body: Buffer,
  name: 'messages' | 'input',
): { readonly before: string; readonly after: string } | null {
  const text = body.toString('latin1')
  const entries = scanObject(text, skipWhitespace(text, 0))?.entries ?? []
  const found = entries.find(({ key }) => JSON.parse(text.slice(key.start, key.end)) === name)
  if (found === undefined) return null
  return { before: text.slice(0, found.value.start + 1), after: text.slice(found.value.end - 1) }
}

// --- internal ---

function parsed(text: string): WireMessage & Record<string, unknown> {
  const value: unknown = JSON.parse(text)
  return isObject(value) ? value : {}
}
