import type { FactsReader } from './facts.ts'
import { endOfAnyValue, skipWhitespace } from './json-scan.ts'
import type { Message } from './message.ts'
import type { Source, Span, Steps } from './source.ts'

/** How much is read between two pauses: about a millisecond where nothing of it was seen before. */
const stepBytes = 65_536

/** How much is scanned between two pauses: less than a millisecond. */
const scannedBytes = 131_072

/**
 * The messages at `spans` with their facts, in steps; null where one of them cannot be read with certainty.
 * Only then is the whole body known to be what it was taken for.
 */
export function* readMessages(
  spans: readonly Span[],
  source: Source,
  scope: string,
  readFacts: FactsReader,
): Steps<readonly Message[] | null> {
  const messages: Message[] = []
  let bytes = 0
  for (const { start, end } of spans) {
    const facts = readFacts(scope, source, { start, end })
    if (facts === null) return null
    messages.push({ start, end, facts })
    bytes += end - start
    if (bytes >= stepBytes) {
      bytes = 0
      yield
    }
  }
  return messages
}

/**
 * The elements of the array whose bracket stands at `arrayStart`, in steps, up to the first that is no object or where
 * the array is not well formed: whoever reads the body goes on from the end of the last one.
 */
export function* delimitMessages(
  source: Source,
  arrayStart: number,
  windowBytes = scannedBytes,
): Steps<readonly Span[]> {
  const spans: Span[] = []
  let at = arrayStart + 1
  let width = windowBytes
  for (;;) {
    const text = source.latin1(at, Math.min(source.length, at + width))
    const { found, end, isOver } = objectsIn(text, spans.length > 0)
    for (const { start, end: foundEnd } of found) spans.push({ start: at + start, end: at + foundEnd })
    if (isOver || at + text.length >= source.length) return spans
    // An object that is longer than the window is looked for in one twice as wide.
    width = end === 0 ? 2 * width : windowBytes
    at += end
    yield
  }
}

// --- internal ---

/**
 * The objects that stand in a piece of an array's text, comma by comma, and where the last one ends; `isOver` where
 * something else follows it. `isBehind`: the text begins behind an element.
 */
function objectsIn(
  text: string,
  isBehind: boolean,
): { readonly found: readonly Span[]; readonly end: number; readonly isOver: boolean } {
  const found: Span[] = []
  let end = 0
  for (;;) {
    let start = skipWhitespace(text, end)
    if (isBehind || found.length > 0) {
      if (start < text.length && text.charAt(start) !== ',') return { found, end, isOver: true }
      start = skipWhitespace(text, start + 1)
    }
    if (start >= text.length) return { found, end, isOver: false }
    if (text.charAt(start) !== '{') return { found, end, isOver: true }
    const objectEnd = endOfAnyValue(text, start)
    if (objectEnd === -1) return { found, end, isOver: false }
    found.push({ start, end: objectEnd })
    end = objectEnd
  }
}
