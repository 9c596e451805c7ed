import { LRUCache } from 'lru-cache'
import type { Steps } from '../../conversation/source.ts'
import { renderTerminal } from '../passes/render.ts'
import { callSubjects } from '../calls/call-subject.ts'
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
 * The passages of a message that may be quoted; `rest` is what of the user's message stands nowhere else in the recap. Each
 * recap of a conversation is of much the same messages as the one before, in a walk through the past or many requests later: each
 * is read once.
 */
export function* quotablePassages(
  subject: Subject,
  index: number,
  rest: string | undefined,
): Steps<Quotable> {
  const facts = subject.messages[index]?.facts
  const name = `${subject.memorySpace} ${facts?.role} ${facts?.hash} ${rest === undefined ? '' : subject.digest(rest)}`
  const known = read.get(name)
  if (known !== undefined) return known
  const quotable = yield* passagesFrom(yield* quotableTexts(subject, index, rest))
  read.set(name, quotable)
  return quotable
}

/** The texts of a message as they may be quoted. */
export function* quotableTexts(subject: Subject, index: number, rest?: string): Steps<Part[]> {
  if (rest !== undefined) return rest === '' ? [] : [{ speaker: 'user', text: withoutMiddle(rest) }]
  const message = subject.messages[index]
  if (message === undefined) return []
  const { role } = message.facts
  // What it refers to is quoted where it stands.
  if (subject.references.byIndex.has(index)) return []
  if (role !== 'assistant' && role !== 'tool' && role !== 'user') return []
  const calls = yield* callSubjects(subject, index)
  const quotable: Part[] = []
  for (const [part, { speaker, text }] of (yield* partsOf(
    yield* readMessage(subject, message),
    role,
  )).entries()) {
    // A list of work is told as it is now, or not at all.
    if ((calls[part - 1]?.work ?? null) !== null) {
      quotable.push({ speaker, text: '' })
      continue
    }
    const near = lookedAt(text)
    quotable.push({
      speaker,
      text: withoutMiddle(speaker === 'result' ? yield* renderTerminal(near) : near),
    })
  }
  return quotable
}

// --- internal ---

/** Texts whose passages are remembered, in characters: what eight recaps look at. */
const READ_CHARS_MAX = 1_600_000

/** What an entry weighs beside its text. */
const ENTRY_CHARS = 200

/** Under names that hold whose they are: what one client said is nobody else's. */
const read = new LRUCache<string, Quotable>({
  maxSize: READ_CHARS_MAX,
  sizeCalculation: ({ chars }) => ENTRY_CHARS + chars,
})

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
