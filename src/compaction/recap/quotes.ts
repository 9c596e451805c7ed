import type { Steps } from '../../conversation/source.ts'
import { messageNumber } from '../message-numbers.ts'
import { readableTokens, replyStart, toolNameOf, type Subject } from '../subject.ts'
import { labels, namedLabel, unforged } from './headings.ts'
import { bestFirst } from './best-first.ts'
import type { Mention } from './mentions.ts'
import { tellingLines, type Passage, type Speaker } from './passage.ts'
import { QUOTABLE_CHARS, quotablePassages, quotableTexts, type QuotablePassage } from './quotable.ts'
import { likelihoodOf } from './rank.ts'
import type { Unsaid } from './user/said.ts'

export type QuoteOptions = {
  /** The messages that may be quoted, in order. */
  readonly indexes: readonly number[]
  /** Those that still stand in the view: what they say is not quoted. */
  readonly visible: readonly number[]
  /** What the messages name that is not in view. */
  readonly mentions: ReadonlyMap<string, Mention>
  /** What of the user's messages stands in the recap already is not quoted. */
  readonly unsaid: Unsaid
  readonly tokensMax: number
  /** Whether labels name the messages that are quoted. */
  readonly areNamed: boolean
}

/** Passages of one message that stand in one run, under a label that says whose they are. */
export type Quote = { readonly label: string; readonly text: string }

/**
 * The passages of these messages that are most likely to be needed word for word, in their order: what the
 * assistant wrote before what its tools printed, the late before the early, what was written again and again
 * before what stood once, and what names things that are out of view. Of what stands several times only the
 * newest copy, which of a file or a script is its newest state.
 */
export function* chooseQuotes(subject: Subject, options: QuoteOptions): Steps<Quote[]> {
  const candidates = yield* candidatesOf(subject, options)
  const seen = yield* linesOf(subject, options.visible)
  const chosen: Candidate[] = []
  let left = options.tokensMax
  for (const candidate of yield* bestFirst(candidates)) {
    if (left < PASSAGE_TOKENS_MIN) break
    yield
    if (candidate.tokensAbout > left * ABOUT_TOO_MUCH || !isNew(candidate, seen)) continue
    const tokens = yield* subject.countSteps(`\n${candidate.label}\n${candidate.passage.text}`)
    if (tokens > left) continue
    for (const line of candidate.lines) seen.add(line)
    left -= tokens
    chosen.push(candidate)
  }
  return joined(
    chosen.sort((a, b) => a.index - b.index || a.passage.position - b.passage.position),
    options.areNamed,
  )
}

// --- internal ---

type Candidate = QuotablePassage & {
  readonly index: number
  readonly label: string
  /** By its share of the message's characters: to rank by, not to count with. */
  readonly tokensAbout: number
  /** Tokens between its message and the newest one. */
  readonly ageTokens: number
  /** What it is worth, for each token: told when all of them are known. */
  worth: number
}

/** How often something of this kind is needed again, by each thousand tokens of it: docs/decisions/recap.md. */
const worthOf = { call: 5, assistant: 2, user: 1, result: 1 } as const satisfies Record<Speaker, number>

/** At this age, in tokens, a passage is worth half. */
const HALF_AGE_TOKENS = 5000

/** What one thing that is needed again counts against a line of wording. */
const THING_WORTH = 20

/** Passages that are weighed between two pauses: of each the lines are looked up. */
const CANDIDATES_PER_STEP = 8

/** Of a passage at least this share of lines has to be new. */
const NEW_SHARE_MIN = 0.5

/** Less room than this holds no passage worth its label. */
const PASSAGE_TOKENS_MIN = 24

/** The share of a message is no count: what is a little too large by it may still fit. */
const ABOUT_TOO_MUCH = 1.2

function* candidatesOf(subject: Subject, options: QuoteOptions): Steps<Candidate[]> {
  const candidates: Candidate[] = []
  /** In how many messages a line stands, and the first of these, or of the reply that it is part of. */
  const holders = new Map<string, { readonly count: number; readonly first: number }>()
  let chars = 0
  let ageTokens = 0
  for (const index of options.indexes.toReversed()) {
    if (chars > QUOTABLE_CHARS) break
    const quotable = yield* quotablePassages(subject, index, options.unsaid.get(index))
    const size = subject.sizes[index] ?? 0
    const bytes = Math.max(1, subject.messages[index]?.facts.bytes ?? 1)
    const first = replyStart(subject, index)
    for (const { passage, lines, names } of quotable.passages) {
      for (const line of lines) {
        const later = holders.get(line)
        if (later?.first !== first) holders.set(line, { count: (later?.count ?? 0) + 1, first })
      }
      const label = labelOf(subject, index, passage, options.areNamed)
      const tokensAbout = (size * passage.text.length) / bytes
      candidates.push({ index, passage, label, lines, names, tokensAbout, ageTokens, worth: 0 })
    }
    chars += quotable.chars
    ageTokens += readableTokens(subject, index)
    yield
  }
  for (const [place, candidate] of candidates.entries()) {
    if (place % CANDIDATES_PER_STEP === 0) yield
    const { passage, lines, names, tokensAbout } = candidate
    let again = 0
    for (const line of lines) if ((holders.get(line)?.count ?? 0) > 1) again += 1
    candidate.worth =
      (worthOf[passage.speaker] * (1 + again / lines.length)) / (1 + candidate.ageTokens / HALF_AGE_TOKENS) +
      (THING_WORTH * thingsWorth(names, options.mentions)) / Math.max(1, tokensAbout)
  }
  return candidates
}

function thingsWorth(names: readonly string[], mentions: ReadonlyMap<string, Mention>): number {
  let worth = 0
  for (const name of names) {
    const mention = mentions.get(name)
    if (mention !== undefined) worth += likelihoodOf(name, mention)
  }
  return worth
}

function labelOf(subject: Subject, index: number, { speaker, part }: Passage, isNamed: boolean): string {
  let label: string
  if (speaker === 'call') label = labels.call(subject.messages[index]?.facts.callNames[part - 1] ?? '')
  else if (speaker === 'result') label = labels.result(toolNameOf(subject, index))
  else
    label = speaker === 'user' ? labels.user(subject.messages[index]?.facts.name ?? null) : labels.assistant
  return isNamed ? namedLabel(label, messageNumber(index, subject.structure.systemCount)) : label
}

/** The lines that messages say, by which copies are told. */
function* linesOf(subject: Subject, indexes: readonly number[]): Steps<Set<string>> {
  const lines = new Set<string>()
  for (const index of indexes) {
    for (const { text } of yield* quotableTexts(subject, index))
      for (const line of tellingLines(text)) lines.add(line)
    yield
  }
  return lines
}

function isNew({ lines }: Candidate, seen: ReadonlySet<string>): boolean {
  let unseen = 0
  for (const line of lines) if (!seen.has(line)) unseen += 1
  return unseen >= lines.length * NEW_SHARE_MIN
}

/** Neighbours become one quote; between others of one text a mark stands. */
function joined(chosen: readonly Candidate[], areNamed: boolean): Quote[] {
  const quotes: { label: string; text: string }[] = []
  let last: Candidate | null = null
  for (const candidate of chosen) {
    const { index, passage, label } = candidate
    const quote = quotes.at(-1)
    if (quote !== undefined && last?.index === index && last.passage.part === passage.part) {
      const mark = last.passage.position + 1 === passage.position ? '\n' : '\n…\n'
      quote.text += mark + unforged(passage.text, areNamed)
    } else quotes.push({ label, text: unforged(passage.text, areNamed) })
    last = candidate
  }
  return quotes
}
