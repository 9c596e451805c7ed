import type { Steps } from '../../conversation/source.ts'
import { renderTerminal } from '../passes/render.ts'
import { readMessage } from '../read-message.ts'
import type { Subject } from '../subject.ts'
import { lookedAt, partsOf, passagesOf, tellingLines, type Part, type Passage } from './passage.ts'
import { thingsIn } from './things.ts'

/** A passage that may be quoted, with what it is weighed by. */
export type QuotablePassage = {
  readonly passage: Passage
  readonly lines: readonly string[]
  /** The distinct specific things that it names. */
  readonly names: readonly string[]
}

/** What of a message may be quoted. */
export type Quotable = {
  readonly passages: readonly QuotablePassage[]
  /** Characters of the texts that they stand in. */
  readonly chars: number
}

/** Only so much text is looked at, the newest first: older wording is hardly ever needed. */
export const QUOTABLE_CHARS = 200_000

/**
 * The passages of a message that may be quoted; `rest` is what of the user's message stands nowhere else in the recap. A walk
 * through the past writes one recap after the other of the same messages, so each is read once.
 */
export function* quotablePassages(
  subject: Subject,
  index: number,
  rest: string | undefined,
): Steps<Quotable> {
  let read = readBySubject.get(subject)
  if (read === undefined || read.chars > READ_CHARS_MAX) {
    read = { chars: 0, byIndex: new Map() }
    readBySubject.set(subject, read)
  }
  const known = read.byIndex.get(index)
  if (known !== undefined && known.rest === rest) return known.quotable
  const quotable = yield* passagesFrom(yield* quotableTexts(subject, index, rest))
  read.byIndex.set(index, { rest, quotable })
  read.chars += quotable.chars
  return quotable
}

/** The texts of a message as they may be quoted. */
export function* quotableTexts(subject: Subject, index: number, rest?: string): Steps<Part[]> {
  if (rest !== undefined) return rest === '' ? [] : [{ speaker: 'user', text: withoutMiddle(rest) }]
  const message = subject.messages[index]
  if (message === undefined) return []
  const { role } = message.facts
  if (role !== 'assistant' && role !== 'tool' && role !== 'user') return []
  const quotable: Part[] = []
  for (const { speaker, text } of yield* partsOf(yield* readMessage(subject, message), role)) {
    const near = lookedAt(text)
    quotable.push({
      speaker,
      text: withoutMiddle(speaker === 'result' ? yield* renderTerminal(near) : near),
    })
  }
  return quotable
}

// --- internal ---

/** What was read of a request's messages, which goes with the request. */
type Read = {
  chars: number
  readonly byIndex: Map<number, { readonly rest: string | undefined; readonly quotable: Quotable }>
}

const readBySubject = new WeakMap<Subject, Read>()

/** Beyond this it is begun anew: a recap looks at half of it, and the next one at much the same. */
const READ_CHARS_MAX = 2 * QUOTABLE_CHARS

/** Passages that are read between two pauses. */
const PASSAGES_PER_STEP = 8

function* passagesFrom(parts: readonly Part[]): Steps<Quotable> {
  const passages: QuotablePassage[] = []
  for (const passage of passagesOf(parts)) {
    const names = new Set<string>()
    for (const { name } of thingsIn(passage.text)) names.add(name)
    passages.push({ passage, lines: tellingLines(passage.text), names: [...names] })
    if (passages.length % PASSAGES_PER_STEP === 0) yield
  }
  let chars = 0
  for (const { text } of parts) chars += text.length
  return { passages, chars }
}

/** A text as far as it is looked at: of a very long one the beginning and the end. */
function withoutMiddle(text: string): string {
  if (text.length <= QUOTABLE_CHARS) return text
  return `${text.slice(0, QUOTABLE_CHARS / 2)}\n${text.slice(-QUOTABLE_CHARS / 2)}`
}
