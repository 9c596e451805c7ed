import { contentParts, type ContentPart } from './content.ts'
import type { Message } from '../../conversation/message.ts'
import type { Source, Span, Steps } from '../../conversation/source.ts'
import { elementsIn } from '../../conversation/spans-in.ts'

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
 * The replacement that gives a message this text as its content, in the content's own type; null where it
 * has no content to replace. Thoughts among the parts stay before the text, where their providers want them;
 * media stay behind it or are dropped.
 */
export function* contentReplacement(
  source: Source,
  message: Message,
  text: string,
  media: 'keep' | 'drop',
): Steps<Replacement | null> {
  const content = message.facts.content
  if (content === null || (content.kind !== 'string' && content.kind !== 'parts')) return null
  const start = message.start + content.start
  const end = message.start + content.end
  if (content.kind === 'string') return { start, end, json: JSON.stringify(text) }
  const raw = yield* rawParts(source, { start, end })
  const rawOf = (wanted: RawPart['kind']): string[] =>
    raw.filter(({ kind }) => kind === wanted).map(({ json }) => json)
  const parts = [...rawOf('reasoning'), JSON.stringify({ type: 'text', text })]
  if (media === 'keep') parts.push(...rawOf('media'))
  return { start, end, json: `[${parts.join(',')}]` }
}

/**
 * The replacement that leaves a message its last `kept` media, with a mark where the first of the others
 * stood; all other parts are as they are spelt. `text` is the message's text with it. Null where nothing goes.
 */
export function* mediaRemoval(
  source: Source,
  message: Message,
  kept: number,
  mark: string,
): Steps<(Replacement & { readonly text: string }) | null> {
  const content = message.facts.content
  if (content?.kind !== 'parts') return null
  const array = { start: message.start + content.start, end: message.start + content.end }
  const parts = yield* rawParts(source, array)
  let dropped = parts.filter(({ kind }) => kind === 'media').length - kept
  if (dropped <= 0) return null
  const left: string[] = []
  let isMarked = false
  for (const { kind, json } of parts) {
    if (kind !== 'media' || dropped <= 0) left.push(json)
    else {
      dropped -= 1
      if (!isMarked) left.push(JSON.stringify({ type: 'text', text: mark }))
      isMarked = true
    }
  }
  const json = `[${left.join(',')}]`
  yield
  const texts = contentParts(JSON.parse(json)).flatMap((part) => (part.kind === 'text' ? [part.text] : []))
  return { ...array, json, text: texts.join('\n') }
}

// --- internal ---

type RawPart = { readonly kind: ContentPart['kind']; readonly json: string }

/** The parts of a content array as they are spelt. */
function* rawParts(source: Source, array: Span): Steps<readonly RawPart[]> {
  const spans = elementsIn(source, array) ?? []
  yield
  const parts = contentParts(JSON.parse(source.text(array.start, array.end)))
  const raw: RawPart[] = []
  for (const [position, { kind }] of parts.entries()) {
    const span = spans[position] ?? array
    raw.push({ kind, json: source.text(span.start, span.end) })
    if (position % PARTS_PER_STEP === PARTS_PER_STEP - 1) yield
  }
  return raw
}

/** Parts between two pauses: about a millisecond. */
const PARTS_PER_STEP = 1_024
