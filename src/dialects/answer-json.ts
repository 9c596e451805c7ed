import { backslash, braceOpen, bracketOpen, colon, comma, quote } from '../conversation/json-characters.ts'
import { parseJsonText } from '../conversation/json-value.ts'

/**
 * The value of a text that an upstream has written; undefined if it is no JSON, or so much that to parse it would hold up
 * everybody: a few megabytes of `{}` take half a second. Never throws.
 */
export function parseAnswerText(text: string): unknown {
  return isTooMuch(text) ? undefined : parseJsonText(text)
}

/** Whether a text of JSON takes too long to be parsed in one go. */
export function isTooMuch(text: string): boolean {
  if (text.length <= FREE_CHARACTERS) return false
  let effort = 0
  for (let index = 0; index < text.length && effort <= EFFORT_MAX; index += 1) {
    const code = text.charCodeAt(index)
    if (code === quote) index = endOfString(text, index)
    else if (code === comma) effort += 1
    else if (code === braceOpen || code === bracketOpen) effort += OPENING_EFFORT
    else if (code === colon) effort += KEY_EFFORT
  }
  return effort > EFFORT_MAX
}

// --- internal ---

/** A shorter text is parsed in some milliseconds, whatever it holds. */
const FREE_CHARACTERS = 131_072

/** How long lists, objects and keys take, measured in elements of a list: what is counted is what V8 makes. */
const OPENING_EFFORT = 8
const KEY_EFFORT = 12

/** About thirty milliseconds. */
const EFFORT_MAX = 1_000_000

/** Where the string ends that begins at `start`; the end of the text if it does not. */
function endOfString(text: string, start: number): number {
  let close = text.indexOf('"', start + 1)
  while (close !== -1) {
    let before = close - 1
    while (text.charCodeAt(before) === backslash) before -= 1
    if ((close - before) % 2 === 1) return close
    close = text.indexOf('"', close + 1)
  }
  return text.length
}
