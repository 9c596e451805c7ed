import type { WordPlace } from './wanted-words.ts'

/** What was found with the words around it: its lines, cut where they are long, and a short line before and behind them. */
export function excerptAround(text: string, { start, end }: WordPlace): string {
  const before = text.slice(Math.max(0, start - AROUND_CHARS), start)
  const after = text.slice(end, end + AROUND_CHARS)
  const lineStart = before.lastIndexOf('\n')
  const lineEnd = after.indexOf('\n')
  const isCutBefore = lineStart === -1 && start > before.length
  const isCutAfter = lineEnd === -1 && end + after.length < text.length
  const from = start - before.length + (isCutBefore ? firstWord(before) : lineStart + 1)
  const to = end + (isCutAfter ? lastWord(after) : lineEnd === -1 ? after.length : lineEnd)
  const lines = [
    ...(isCutBefore ? [] : lineBefore(text, from)),
    (isCutBefore ? '…' : '') + text.slice(from, to) + (isCutAfter ? '…' : ''),
    ...(isCutAfter ? [] : lineBehind(text, to)),
  ]
  return lines.join('\n')
}

// --- internal ---

/** Characters of a line on either side. */
const AROUND_CHARS = 160

/** A neighbouring line is shown if it is no longer than this. */
const NEIGHBOUR_CHARS = 100

/** Behind the first blank nearby: what is cut begins with a word, unless the word is longer than that. */
function firstWord(before: string): number {
  const blank = before.slice(0, AROUND_CHARS / 2).search(/\s/)
  return blank === -1 ? pairsOff(before.charCodeAt(0)) : blank + 1
}

function lastWord(after: string): number {
  const kept = after.length / 2
  const blank = after.slice(kept).search(/\s\S*$/)
  if (blank !== -1) return kept + blank
  const isLead = (after.charCodeAt(after.length - 1) & 0xfc00) === 0xd800
  return isLead ? after.length - 1 : after.length
}

/** One where a text begins with the second half of a character. */
function pairsOff(unit: number): number {
  return (unit & 0xfc00) === 0xdc00 ? 1 : 0
}

function lineBefore(text: string, lineStart: number): string[] {
  if (lineStart === 0) return []
  const before = text.slice(Math.max(0, lineStart - 1 - NEIGHBOUR_CHARS - 1), lineStart - 1)
  const line = before.slice(before.lastIndexOf('\n') + 1)
  return line.length <= NEIGHBOUR_CHARS && line.trim() !== '' ? [line] : []
}

function lineBehind(text: string, lineEnd: number): string[] {
  const after = text.slice(lineEnd + 1, lineEnd + 1 + NEIGHBOUR_CHARS + 1)
  const end = after.indexOf('\n')
  const line = end === -1 ? after : after.slice(0, end)
  return line.length <= NEIGHBOUR_CHARS && line.trim() !== '' ? [line] : []
}
