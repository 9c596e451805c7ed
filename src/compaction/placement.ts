import { scanArray } from '../conversation/json-scan.ts'
import { messageWith } from './made-message.ts'
import type { Subject } from './subject.ts'
import type { ViewMessage } from './view.ts'

/**
 * Strict placement: where user messages meet that did not meet in the conversation, or a recap meets one, the
 * run of them becomes one message, since templates that want the roles to alternate refuse two in a row. It keeps the fields of the run's first
 * message of the client's, its content has the type of that message's (parts where media need them), and
 * the texts keep their encoding.
 */
export function joinUsers(subject: Subject, messages: readonly ViewMessage[]): ViewMessage[] {
  const placed: ViewMessage[] = []
  for (let start = 0; start < messages.length;) {
    let end = start
    while (messages[end]?.role === 'user') end += 1
    const run = messages.slice(start, end)
    const joined = run.length > 1 && run.some(meetsAnew) ? joinRun(subject, run) : null
    if (joined !== null) placed.push(joined)
    else placed.push(...messages.slice(start, Math.max(end, start + 1)))
    start = Math.max(end, start + 1)
  }
  return placed
}

// --- internal ---

/** Whether a message did not follow the one before it in the conversation. */
function meetsAnew(message: ViewMessage, position: number, run: readonly ViewMessage[]): boolean {
  const before = run[position - 1]
  if (before === undefined) return message.index === null
  return message.index === null || before.index === null || message.index !== before.index + 1
}

/** The JSON of a content value. */
type Content = { readonly kind: 'string' | 'parts'; readonly json: string }

/** Joining saves a message's frame and costs the break between the texts. */
const JOIN_SAVES_TOKENS = 2

function joinRun(subject: Subject, run: readonly ViewMessage[]): ViewMessage | null {
  const contents = run.map((message) => contentOf(subject, message))
  if (!contents.every((content) => content !== null)) return null
  const base =
    run.find((message) => message.item.kind === 'kept') ??
    run.find((message) => message.index !== null) ??
    run[0]
  if (base === undefined) return null
  const baseContent = contents[run.indexOf(base)]
  const texts = contents.map((content) =>
    content.kind === 'string' ? [content.json] : textValues(content.json),
  )
  const json =
    baseContent?.kind === 'string' && texts.every((values) => values !== null)
      ? joinStrings(texts.flatMap((values) => values ?? []))
      : joinParts(contents)
  const tokens = run.reduce((sum, message) => sum + message.tokens, 0) - JOIN_SAVES_TOKENS * (run.length - 1)
  return {
    item: { kind: 'made', json: withContent(subject, base, json) },
    tokens,
    index: base.index,
    role: 'user',
  }
}

function contentOf(subject: Subject, view: ViewMessage): Content | null {
  if (view.item.kind === 'made') {
    const message: unknown = JSON.parse(view.item.json)
    const content =
      typeof message === 'object' && message !== null && 'content' in message ? message.content : null
    if (typeof content === 'string') return { kind: 'string', json: JSON.stringify(content) }
    return Array.isArray(content) ? { kind: 'parts', json: JSON.stringify(content) } : null
  }
  const message = subject.messages[view.item.index]
  const content = message?.facts.content ?? null
  if (message === undefined || content === null) return null
  if (content.kind !== 'string' && content.kind !== 'parts') return null
  return {
    kind: content.kind,
    json: subject.source.text(message.start + content.start, message.start + content.end),
  }
}

/** The encoded texts of a content array; null where it holds more than text. */
function textValues(json: string): string[] | null {
  const parts: unknown = JSON.parse(json)
  if (!Array.isArray(parts)) return null
  const values: string[] = []
  for (const part of parts as readonly unknown[]) {
    if (typeof part !== 'object' || part === null || !('text' in part) || typeof part.text !== 'string')
      return null
    values.push(JSON.stringify(part.text))
  }
  return values
}

function joinStrings(values: readonly string[]): string {
  return `"${values.map((value) => value.slice(1, -1)).join(String.raw`\n\n`)}"`
}

function joinParts(contents: readonly Content[]): string {
  const parts = contents.flatMap((content) => {
    if (content.kind === 'string') return [`{"type":"text","text":${content.json}}`]
    // The scanner works on any text; offsets are characters here, since the text is in hand already.
    return (scanArray(content.json, 0)?.elements ?? []).map((part) =>
      content.json.slice(part.start, part.end),
    )
  })
  return `[${parts.join(',')}]`
}

function withContent(subject: Subject, base: ViewMessage, json: string): string {
  if (base.item.kind === 'made') {
    const message: unknown = JSON.parse(base.item.json)
    return JSON.stringify({
      ...(typeof message === 'object' ? message : {}),
      content: JSON.parse(json) as unknown,
    })
  }
  const message = subject.messages[base.item.index]
  const content = message?.facts.content ?? null
  if (message === undefined || content === null) return json
  return messageWith(subject.source, message, [
    { start: message.start + content.start, end: message.start + content.end, json },
  ])
}
