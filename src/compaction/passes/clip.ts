import { parseJsonText, stringOr } from '../../json/json-value.ts'
import { scanObject, skipWhitespace } from '../../json/json-scan.ts'
import type { Pausable } from '../../json/source.ts'
import { waterLevel } from '../../conversation/sizes.ts'
import { numberInMark } from '../history/message-numbers.ts'
import type { CountSteps } from '../history/history.ts'

/** The share of a clipped text that its head takes. */
const HEAD_SHARE = 0.5

/** What is left of a text that no room is left for. Never empty: some servers refuse empty content. */
const NOTHING_LEFT = '[cut]'

/** What the mark of a clipped text says. */
export type ClipMark = {
  /** The original's size in tokens where the text itself is only a part of it. Default: the text's. */
  readonly wholeTokens?: number
  /** The name by which the whole can be read back. Default null: it cannot. */
  readonly number?: string | null
}

/**
 * A text shortened to at most `tokensMax` tokens, head and tail kept around a mark that states the
 * original size; the text itself where it fits. Below a few tokens a fixed word remains.
 */
export function* clipText(
  text: string,
  sizeTokens: number,
  tokensMax: number,
  countSteps: CountSteps,
  { wholeTokens = sizeTokens, number = null }: ClipMark = {},
): Pausable<string> {
  if (sizeTokens <= tokensMax) return text
  const mark = ` [clipped: ${wholeTokens} tokens in all${numberInMark(number)}] `
  const room = tokensMax - (yield* countSteps(mark))
  let chars = Math.floor((text.length * room) / sizeTokens)
  let longest: string | null = null
  let fittingChars = 0
  let exceedingChars = Infinity
  for (
    let attempt = 0;
    chars > fittingChars && (attempt < FILLING_ATTEMPTS || longest === null);
    attempt += 1
  ) {
    const head = cutHead(text, Math.ceil(chars * HEAD_SHARE), Infinity)
    const tail = cutTail(text.slice(head.length), chars - Math.ceil(chars * HEAD_SHARE), Infinity)
    const clipped = head + mark + tail
    const size = yield* countSteps(clipped)
    if (size > tokensMax) exceedingChars = chars
    else {
      longest = clipped
      fittingChars = chars
      if (size >= tokensMax * FILLED_SHARE) return clipped
    }
    // Head and tail may be denser or looser than the whole: what is left of the room is used, too.
    const scaled = Math.floor((chars * tokensMax * (size > tokensMax ? SHRINK : GROW)) / size)
    const between = Math.floor((fittingChars + exceedingChars) / 2)
    if (longest === null) chars = Math.min(chars - 1, scaled)
    else chars = exceedingChars === Infinity ? Math.max(chars + 1, scaled) : between
  }
  return longest ?? NOTHING_LEFT
}

/**
 * Call arguments shortened the same way. A server may parse them, so they stay a JSON object: its long
 * texts are clipped where they stand; arguments that are no object become one with a single text.
 */
export function* clipArguments(
  argumentsText: string,
  sizeTokens: number,
  tokensMax: number,
  countSteps: CountSteps,
  mark: Pick<ClipMark, 'number'> = {},
): Pausable<string> {
  if (sizeTokens <= tokensMax) return argumentsText
  for (const share of [1, 0.6, 0.3]) {
    const fields = yield* clippedFields(argumentsText, Math.floor(tokensMax * share), countSteps, mark)
    if (fields !== null && (yield* countSteps(fields)) <= tokensMax) return fields
  }
  let textTokensMax = tokensMax - ARGUMENTS_FRAME_TOKENS
  while (textTokensMax > 0) {
    const clipped = yield* clipText(argumentsText, sizeTokens, textTokensMax, countSteps, mark)
    const whole = JSON.stringify({ clipped })
    if ((yield* countSteps(whole)) <= tokensMax) return whole
    textTokensMax = Math.floor(textTokensMax * SHRINK) - 1
  }
  return '{}'
}

/** The beginning of a text: at most so many characters and lines, ended at a line's end where one is near. */
export function cutHead(text: string, charsMax: number, linesMax: number): string {
  if (linesMax <= 0) return ''
  let end = Math.min(text.length, Math.max(0, charsMax))
  const lineEnd = endOfLines(text, end, linesMax)
  if (lineEnd !== -1) end = lineEnd
  else if (end < text.length) {
    const lastBreak = text.lastIndexOf('\n', end - 1)
    if (lastBreak >= end - lineEndCharsMax(end)) end = lastBreak
  }
  return text.slice(0, atWhole(text, end))
}

/** The end of a text: at most so many characters and lines, begun at a line's beginning where one is near. */
export function cutTail(text: string, charsMax: number, linesMax: number): string {
  if (linesMax <= 0) return ''
  const length = Math.min(text.length, Math.max(0, charsMax))
  let start = text.length - length
  const lineStart = startOfLines(text, start, linesMax)
  if (lineStart !== -1) start = lineStart + 1
  else if (start > 0) {
    const firstBreak = text.indexOf('\n', start)
    if (firstBreak !== -1 && firstBreak - start < lineEndCharsMax(length)) start = firstBreak + 1
  }
  // Off a pair's middle towards the end, so that the bound holds.
  return text.slice(atWhole(text, start) === start ? start : start + 1)
}

/** Moves a cut off the middle of a surrogate pair. */
export function atWhole(text: string, index: number): number {
  const unit = text.charCodeAt(index)
  return index > 0 && unit >= 0xdc00 && unit <= 0xdfff ? index - 1 : index
}

// --- internal ---

/** Each try aims a little below, because a cut text has more tokens a character than the whole. */
const SHRINK = 0.9
const GROW = 0.98

/** A clip that fills this share of what it may take is good enough; so many tries are made for it. */
const FILLED_SHARE = 0.93
const FILLING_ATTEMPTS = 7

/** `{"clipped":""}` and a margin for the escapes inside. */
const ARGUMENTS_FRAME_TOKENS = 6

function* clippedFields(
  argumentsText: string,
  tokensMax: number,
  countSteps: CountSteps,
  mark: ClipMark,
): Pausable<string | null> {
  const fields = fieldsOf(argumentsText)
  if (fields === null) return null
  yield
  const sizes: number[] = []
  for (const { text } of fields) {
    sizes.push(text === null ? 0 : yield* countSteps(text))
    yield
  }
  const emptied = fields.map(({ json, text }) => (text === null ? json : '""'))
  const rest = yield* countSteps(objectOf(fields, emptied))
  const level = waterLevel(sizes, tokensMax - rest, 0)
  if (level <= 0) return null
  const values: string[] = []
  for (const [index, { json, text }] of fields.entries()) {
    const size = sizes[index] ?? 0
    const isLong = text !== null && size > level
    values.push(isLong ? JSON.stringify(yield* clipText(text, size, level, countSteps, mark)) : json)
    yield
  }
  return objectOf(fields, values)
}

/** Longer arguments are clipped as one text: to be parsed they would take longer than other requests should wait. */
const PARSED_CHARS_MAX = 262_144

/** A field as it is spelt, since a number may be more than JavaScript holds; `text` null where it is no text. */
type Field = { readonly key: string; readonly json: string; readonly text: string | null }

/** The fields of a JSON object; null where the text is none. */
function fieldsOf(argumentsText: string): Field[] | null {
  if (argumentsText.length > PARSED_CHARS_MAX || parseJsonText(argumentsText) === undefined) return null
  // The scanner works on any text; offsets are characters here.
  const scanned = scanObject(argumentsText, skipWhitespace(argumentsText, 0))
  if (scanned === null) return null
  return scanned.entries.map(({ key, value }) => {
    const json = argumentsText.slice(value.start, value.end)
    return { key: argumentsText.slice(key.start, key.end), json, text: stringOr(parseJsonText(json), null) }
  })
}

function objectOf(fields: readonly Field[], values: readonly string[]): string {
  return `{${fields.map(({ key }, index) => `${key}:${values[index] ?? ''}`).join(',')}}`
}

/** A cut moves to a line's end when that costs at most this share of what is kept, and no more than a long line. */
const LINE_END_SHARE = 0.2
const LINE_END_CHARS_MAX = 160

/** Where so many lines end; -1 where they do not before `end`. */
function endOfLines(text: string, end: number, lines: number): number {
  // A text may be a million lines: where all of them may stay, none is looked for.
  if (lines === Infinity) return -1
  let lineEnd = -1
  for (let line = 0; line < lines; line += 1) {
    lineEnd = text.indexOf('\n', lineEnd + 1)
    if (lineEnd === -1 || lineEnd >= end) return -1
  }
  return lineEnd
}

/** The break before the last so many lines; -1 where it does not stand behind `start`. */
function startOfLines(text: string, start: number, lines: number): number {
  if (lines === Infinity) return -1
  let lineStart = text.length
  for (let line = 0; line < lines; line += 1) {
    lineStart = lineStart === 0 ? -1 : text.lastIndexOf('\n', lineStart - 1)
    if (lineStart === -1 || lineStart < start) return -1
  }
  return lineStart
}

function lineEndCharsMax(keptChars: number): number {
  return Math.min(keptChars * LINE_END_SHARE, LINE_END_CHARS_MAX)
}
