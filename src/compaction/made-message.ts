import { scanArray, scanObject } from '../conversation/json-scan.ts'
import type { Message } from '../conversation/message.ts'
import type { Source, Span } from '../conversation/source.ts'

/** A replacement of one JSON value inside a message, by offsets in the body. */
export type Replacement = Span & { readonly json: string }

/**
 * A message with some of its values replaced. Everything else in it keeps its bytes: key order, unknown
 * fields, the spelling of numbers.
 */
export function messageWith(source: Source, message: Span, replacements: readonly Replacement[]): string {
  let text = ''
  let from = message.start
  for (const replacement of [...replacements].sort((a, b) => a.start - b.start)) {
    text += source.text(from, replacement.start) + replacement.json
    from = replacement.end
  }
  return text + source.text(from, message.end)
}

/**
 * The replacement that gives a message this text as its content, in the content's own type, its media
 * parts kept behind the text or dropped; null where it has no content to replace.
 */
export function contentReplacement(
  source: Source,
  message: Message,
  text: string,
  media: 'keep' | 'drop',
): Replacement | null {
  const content = message.facts.content
  if (content === null || (content.kind !== 'string' && content.kind !== 'parts')) return null
  const start = message.start + content.start
  const end = message.start + content.end
  if (content.kind === 'string') return { start, end, json: JSON.stringify(text) }
  const parts = [JSON.stringify({ type: 'text', text })]
  if (media === 'keep' && message.facts.media.length > 0) parts.push(...mediaParts(source, start))
  return { start, end, json: `[${parts.join(',')}]` }
}

/** Where the arguments of a message's calls stand, in the order of `facts.callIds`; null where a call has none. */
export function argumentSpans(source: Source, message: Span): readonly (Span | null)[] {
  const fields = scanObject(source.latin1, message.start)?.entries ?? []
  const calls = valueOf(source, fields, 'tool_calls')
  if (calls !== null) {
    return (scanArray(source.latin1, calls.start)?.elements ?? []).map((call) => {
      const called = valueOf(source, scanObject(source.latin1, call.start)?.entries ?? [], 'function')
      return called === null ? null : argumentsOf(source, called)
    })
  }
  const legacy = valueOf(source, fields, 'function_call')
  return legacy === null ? [] : [argumentsOf(source, legacy)]
}

// --- internal ---

type Entry = { readonly key: Span; readonly value: Span }

function argumentsOf(source: Source, called: Span): Span | null {
  return valueOf(source, scanObject(source.latin1, called.start)?.entries ?? [], 'arguments')
}

/** The raw parts of a content array that are no text. */
function mediaParts(source: Source, arrayStart: number): string[] {
  const raw = (scanArray(source.latin1, arrayStart)?.elements ?? []).map((part) =>
    source.text(part.start, part.end),
  )
  return raw.filter((json) => {
    const part: unknown = JSON.parse(json)
    if (typeof part !== 'object' || part === null) return false
    return !('text' in part && typeof part.text === 'string') && !('refusal' in part)
  })
}

/** The last value under this key, as JSON.parse would take it. */
function valueOf(source: Source, entries: readonly Entry[], key: string): Span | null {
  const entry = entries.findLast(({ key: span }) => JSON.parse(source.text(span.start, span.end)) === key)
  return entry?.value ?? null
}
