import { scanArray, scanObject } from '../../src/conversation/json-scan.ts'
import { isDerived } from './alignment.ts'
import type { RawMessage } from './recordings.ts'
import type { ReceivedRequest } from './stage.ts'
import { latestUser, type Subject } from './subject.ts'

/** Which of the messages that Foldgate has to keep are missing, or are there with other bytes (P4). */
export function missingPins(
  subject: Subject,
  point: number,
  received: ReceivedRequest,
  passes: readonly string[],
): readonly string[] {
  const { messages, systemCount, task } = subject
  const { rawMessages } = received
  const missing: string[] = []
  for (let index = 0; index < Math.min(systemCount, point); index += 1) {
    if (rawMessages[index] !== messages[index]?.text) missing.push(`system message ${index}`)
  }
  const isClipped = passes.includes('clip')
  const latest = latestUser(messages, point)
  if (task !== -1 && task < point && task !== latest && !isClipped && !holds(received, messages[task])) {
    missing.push(`the task, message ${task}`)
  }
  if (latest !== -1 && !holds(received, messages[latest])) missing.push(`the latest user message, ${latest}`)
  const open = openRound(messages, point)
  open.forEach((raw, offset) => {
    const position = rawMessages.length - open.length + offset
    const isThere =
      rawMessages[position] === raw.text ||
      (isClipped && isDerived(received.messages[position] ?? {}, raw.message))
    if (!isThere) missing.push(`message ${point - open.length + offset} of the open round`)
  })
  return missing
}

// --- internal ---

/** The assistant message and the results at the end; none where something follows them. */
function openRound(messages: readonly RawMessage[], point: number): readonly RawMessage[] {
  const roleAt = (index: number) => messages[index]?.message['role']
  let start = point - 1
  if (roleAt(start) !== 'tool') return []
  while (start > 0 && roleAt(start) === 'tool') start -= 1
  return roleAt(start) === 'assistant' ? messages.slice(start, point) : messages.slice(point - 1, point)
}

/** Whether a message is there as it is, or with its encoded texts within another user message. */
function holds(received: ReceivedRequest, raw: RawMessage | undefined): boolean {
  if (raw === undefined || received.rawMessages.includes(raw.text)) return true
  const texts = encodedTexts(raw.text)
  return received.rawMessages.some(
    (text, position) =>
      received.messages[position]?.role === 'user' && texts.every((encoded) => text.includes(encoded)),
  )
}

/** The texts of a message's content, as they are written in its JSON, without the quotes. */
function encodedTexts(json: string): readonly string[] {
  const content = valueOf(json, 'content')
  if (content.startsWith('"')) return [content.slice(1, -1)]
  const parts = content.startsWith('[') ? (scanArray(content, 0)?.elements ?? []) : []
  return parts
    .map((part) => valueOf(content.slice(part.start, part.end), 'text'))
    .filter((text) => text !== '')
    .map((text) => text.slice(1, -1))
}

function valueOf(json: string, name: string): string {
  const entry = scanObject(json, 0)?.entries.find(({ key }) => json.slice(key.start, key.end) === `"${name}"`)
  return entry === undefined ? '' : json.slice(entry.value.start, entry.value.end)
}
