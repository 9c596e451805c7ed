import { parseMessage } from '../../conversation/parse.ts'
import type { FoldedRun } from '../layout.ts'
import { handleOf } from '../handles.ts'
import { waterLevel } from '../passes/clip.ts'
import { isSaidByUser, type Subject } from '../subject.ts'
import { headings } from './headings.ts'
import type { Writer } from './writer.ts'

/** Distinct system messages among what was folded, newest first, so that an instruction is not lost with its place. */
export function writeSystem(
  subject: Subject,
  indexes: readonly number[],
  folded: Pick<FoldedRun, 'systemTokensMax'>,
  writer: Writer,
): void {
  const seen = new Set<string>()
  const before = writer.spentTokens()
  for (const index of indexes.toReversed()) {
    const message = subject.messages[index]
    if (message === undefined || (message.facts.role !== 'system' && message.facts.role !== 'developer'))
      continue
    if (seen.has(message.facts.meaning)) continue
    seen.add(message.facts.meaning)
    const line = `${headings.system} ${textOf(subject, index)}`
    const tokens = writer.spentTokens() - before + (subject.sizes[index] ?? 0)
    if (tokens > folded.systemTokensMax || !writer.line(line)) return
  }
}

/**
 * What the user said: nothing else in a conversation is as hard to find again. Short messages stand whole,
 * long ones, which are mostly pasted, give way first; of very many the oldest. What was said twice stands once.
 * `areNamed`: whether what was cut says by which name it can be read back.
 */
export function writeUsers(
  subject: Subject,
  indexes: readonly number[],
  folded: FoldedRun,
  writer: Writer,
  areNamed: boolean,
): void {
  const { systemCount } = subject.structure
  const nameOf = (index: number): string => (areNamed ? ` (${handleOf(index, systemCount)})` : '')
  const shareTokens = Math.floor(folded.tokensMax * USERS_SHARE)
  if (shareTokens < USER_TOKENS_MIN) return
  const distinct = new Map<string | undefined, number>()
  for (const index of indexes) {
    if (isSaidByUser(subject, index)) distinct.set(subject.messages[index]?.facts.meaning, index)
  }
  const said = [...distinct.values()]
    .sort((a, b) => a - b)
    .slice(-Math.floor(shareTokens / USER_TOKENS_MIN))
    .map((index) => ({
      text: excerpt(textOf(subject, index), USER_CHARS_MAX, nameOf(index)),
      name: nameOf(index),
    }))
    .filter(({ text }) => text !== '')
  const sizes = said.map(({ text }) => subject.count(text) + LINE_TOKENS)
  const level = waterLevel(sizes, shareTokens, USER_TOKENS_MIN)
  if (said.length === 0 || !writer.line(headings.users)) return
  for (const [position, { text, name }] of said.entries()) {
    const size = sizes[position] ?? 0
    const shown = size <= level ? text : excerpt(text, Math.floor((text.length * level) / size), name)
    if (!writer.line(`- ${shown}`)) return
  }
}

// --- internal ---

/** The share of a recap that the user's own words take. */
const USERS_SHARE = 0.2
/** Of a longer message the rest may be quoted. */
export const USER_CHARS_MAX = 1200
/** Less than this of a message says nothing. */
const USER_TOKENS_MIN = 16
/** The dash and the break of a line. */
const LINE_TOKENS = 2

function textOf(subject: Subject, index: number): string {
  const message = subject.messages[index]
  return message === undefined ? '' : parseMessage(subject.source, message).text
}

/** A text's beginning, in one line; where that is not all of it, with its name. */
function excerpt(text: string, charsMax: number, name: string): string {
  const line = text
    .slice(0, charsMax * 2)
    .replace(/\s+/g, ' ')
    .trim()
  const isCut = line.length > charsMax || text.length > charsMax * 2
  return isCut ? `${line.slice(0, charsMax)}…${name}` : line
}
