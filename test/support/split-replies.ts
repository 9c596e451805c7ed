import { finish } from '../../src/conversation/source.ts'
import { structureOf } from '../../src/conversation/structure.ts'
import type { Subject } from '../../src/compaction/subject.ts'
import type { TestMessage } from './conversations.ts'
import { subjectOf } from './subject.ts'

/** A conversation whose replies stand in pieces, as they do in dialects that send thought, text and calls one by one. */
export type Split = {
  readonly subject: Subject
  /** Where each message of the whole conversation begins; one more for the end. */
  readonly placeOf: readonly number[]
}

/** The same conversation with each reply in pieces: its thought, each of its texts and of its calls. Sizes are those of the whole. */
export function splitReplies(conversation: readonly TestMessage[]): Split {
  const whole = subjectOf(conversation)
  const pieces: TestMessage[] = []
  const bound = new Set<number>()
  const placeOf: number[] = []
  for (const message of conversation) {
    placeOf.push(pieces.length)
    const own = message.role === 'assistant' ? piecesOf(message) : [message]
    for (let at = 0; at < own.length - 1; at += 1) bound.add(pieces.length + at)
    pieces.push(...own)
  }
  placeOf.push(pieces.length)
  const read = subjectOf(pieces)
  const messages = read.messages.map((message, index) => ({
    ...message,
    facts: { ...message.facts, joinsNext: bound.has(index) },
  }))
  const sizes = conversation.flatMap((_, index) => {
    const own = read.sizes.slice(placeOf[index], placeOf[index + 1])
    const more = (whole.sizes[index] ?? 0) - own.reduce((sum, size) => sum + size, 0)
    return own.map((size, at) => (at === own.length - 1 ? size + more : size))
  })
  return { subject: { ...read, messages, structure: finish(structureOf(messages)), sizes }, placeOf }
}

// --- internal ---

function piecesOf({
  role,
  reasoning_content: thought,
  content,
  tool_calls: calls,
}: TestMessage): TestMessage[] {
  return [
    ...(thought === undefined ? [] : [{ role, content: '', reasoning_content: thought }]),
    ...(typeof content === 'string' ? [{ role, content }] : []),
    ...(Array.isArray(content) ? content.map((part: unknown) => ({ role, content: [part] })) : []),
    ...(Array.isArray(calls)
      ? calls.map((call: unknown) => ({ role, content: null, tool_calls: [call] }))
      : []),
  ]
}
