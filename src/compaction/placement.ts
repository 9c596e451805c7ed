import { scanArray, scanObject } from '../conversation/json-scan.ts'
import type { Span } from '../conversation/source.ts'
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
  const base = run.find((message) => message.index !== null) ?? run[0]
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
    const json = valueText(view.item.json, 'content')
    if (json?.startsWith('"')) return { kind: 'string', json }
    return json?.startsWith('[') ? { kind: 'parts', json } : null
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

/** The texts of a content array as they are encoded; null where it holds more than text. */
function textValues(json: string): string[] | null {
  const values = partsOf(json).map((part) => valueText(part, 'text'))
  return values.every((value) => value?.startsWith('"')) ? values.flatMap((value) => value ?? []) : null
}

// The scanner works on any text; offsets are characters in what follows, since the text is in hand already.

function partsOf(json: string): string[] {
  return (scanArray(json, 0)?.elements ?? []).map((part) => json.slice(part.start, part.end))
}

/** The JSON of an object's value under this key, as it is encoded; null where it has none. */
function valueText(json: string, key: string): string | null {
  const value = valueSpan(json, key)
  return value === null ? null : json.slice(value.start, value.end)
}

function valueSpan(json: string, key: string): Span | null {
  const entries = scanObject(json, 0)?.entries ?? []
  return (
    entries.findLast((entry) => JSON.parse(json.slice(entry.key.start, entry.key.end)) === key)?.value ?? null
  )
}

function joinStrings(values: readonly string[]): string {
  return `"${values.map((value) => value.slice(1, -1)).join(String.raw`\n\n`)}"`
}

function joinParts(contents: readonly Content[]): string {
  const parts = contents.flatMap((content) =>
    content.kind === 'string' ? [`{"type":"text","text":${content.json}}`] : partsOf(content.json),
  )
  return `[${parts.join(',')}]`
}

function withContent(subject: Subject, base: ViewMessage, json: string): string {
  if (base.item.kind === 'made') {
    const made = base.item.json
    const content = valueSpan(made, 'content')
    return content === null ? json : made.slice(0, content.start) + json + made.slice(content.end)
  }
  const message = subject.messages[base.item.index]
  const content = message?.facts.content ?? null
  if (message === undefined || content === null) return json
  return messageWith(subject.source, message, [
    { start: message.start + content.start, end: message.start + content.end, json },
  ])
}
