import { isJsonObject, parseJson } from '../../conversation/json-value.ts'
import type { Source, Span } from '../../conversation/source.ts'
import { elementsIn } from '../../conversation/spans-in.ts'
import { firstOf, valueIn } from '../content/slot-edits.ts'
import type { BodyEdit } from '../contract.ts'

/**
 * What takes the line for Anthropic's billing out of `system`, which Claude Code writes as the first text there. A list and a
 * text that would be empty without it keep its name, since empty ones are refused by some. Null if there is no such line.
 */
export function billingLineIn(source: Source, system: Span): BodyEdit | null {
  if (firstOf(source, system) === '"') return lineOfText(source, system)
  const beginning = source.latin1(system.start, Math.min(system.end, system.start + LOOKED_AT_BYTES))
  if (!beginning.includes(NAME)) return null
  const blocks = elementsIn(source, system) ?? []
  const at = blocks.findIndex((block) => isLine(source, block))
  const [before, line, behind] = [blocks[at - 1], blocks[at], blocks[at + 1]]
  if (line === undefined) return null
  if (behind !== undefined) return { at: { start: line.start, end: behind.start }, text: '' }
  if (before !== undefined) return { at: { start: before.end, end: line.end }, text: '' }
  const text = valueIn(source, line, 'text')
  return text === null ? null : { at: text, text: JSON.stringify(NAME) }
}

// --- internal ---

const NAME = 'x-anthropic-billing-header:'

/** It stands first, unless somebody on the way has put something before it. */
const LOOKED_AT_BYTES = 65_536

/** The line has a hundred characters or two. */
const LINE_BYTES_MAX = 2_048

function isLine(source: Source, block: Span): boolean {
  if (block.end - block.start > LINE_BYTES_MAX) return false
  const parsed = parseJson(source, block)
  return isJsonObject(parsed) && typeof parsed['text'] === 'string' && parsed['text'].startsWith(NAME)
}

/** Gateways join the blocks to one text, a line break or two between them. */
function lineOfText(source: Source, text: Span): BodyEdit | null {
  const beginning = source.latin1(text.start, Math.min(text.end, text.start + LINE_BYTES_MAX))
  const line = /^"(x-anthropic-billing-header:)([^"\\]*(?:\\n)*)(.)/.exec(beginning)
  if (line === null) return null
  const [, name = '', rest = '', next] = line
  const start = text.start + 1
  const end = start + name.length + rest.length
  // What goes on in the same line is not ours to tell from it.
  if (next !== '"') return rest.endsWith('\\n') ? { at: { start, end }, text: '' } : null
  return { at: { start: start + name.length, end }, text: '' }
}
