import type { Steps } from '../../conversation/source.ts'
import type { Structure } from '../../conversation/structure.ts'
import { messageNumber, numbersOf } from '../message-numbers.ts'
import { rangeIndexes, type FoldedRun } from '../layout.ts'
import type { Made, MadeCache } from '../made-cache.ts'
import { FOLD_VERSION } from '../compaction.ts'
import type { Subject } from '../subject.ts'
import { contextOf } from './context.ts'
import { headings } from './headings.ts'
import { mentionsIn } from './mentions.ts'
import { nameLines } from './names.ts'
import { chooseQuotes } from './quotes.ts'
import { writeSystem, writeUsers, type Unsaid } from './user/said.ts'
import { thingsIn } from './things.ts'
import { createWriter, type Writer } from './writer.ts'

/** The tags around a recap, by which a model and a later pass can tell it from the user's words. */
export const RECAP_OPEN = '<conversation-recap>'
const RECAP_CLOSE = '</conversation-recap>'

/** What stands for folded messages where there is no room for more. */
export const BARE_MARK = '[earlier messages left out]'

/** Below this many tokens a recap's own words do not fit. */
export const RECAP_TOKENS_MIN = 64

/** What stands in the view beside a recap. */
export type Beside = {
  /** Messages that can be read whole: what they say too is left out of the recap. */
  readonly visible: readonly number[]
  /** Messages that were cleared or shortened: what they said may be quoted and named like what was folded. */
  readonly shortened: readonly number[]
  /** Summaries that stand before it: what they name is not named again. */
  readonly said: readonly string[]
}

/**
 * The recap of folded messages, made without a model: the system messages among them, what the user said, the
 * passages most likely to be needed word for word, and the specific things that were named beside them, as far
 * as the cap allows. It depends on these messages only. A bare mark where there is no room for words; its text is
 * null where there is none even for that. `areNamed`: whether it names messages, by which they can be read back.
 */
export function* recapOf(
  subject: Subject,
  folded: FoldedRun,
  beside: Beside,
  cache: MadeCache,
  areNamed = false,
): Steps<Made> {
  const key = yield* recapKey(subject, beside, folded, areNamed)
  const known = cache.get(key)
  if (known !== undefined) return known

  const indexes = rangeIndexes(folded, [])
  const writer = openedWriter(subject, indexes, folded.tokensMax, areNamed)
  if (writer === null) {
    const bare = bareMark(subject, folded.tokensMax)
    cache.set(key, bare)
    return bare
  }
  yield
  yield* writeSystem(subject, indexes, folded, writer)
  const unsaid = yield* writeUsers(subject, indexes, folded, cache, writer, areNamed)
  yield
  yield* writeQuotesAndNames(
    subject,
    {
      indexes: [...indexes, ...beside.shortened],
      visible: beside.visible,
      said: beside.said,
      unsaid,
      tokensMax: folded.tokensMax,
      areNamed,
    },
    cache,
    writer,
  )
  yield
  const made: Made = { ...(yield* writer.close()), how: null }
  cache.set(key, made)
  return made
}

// --- internal ---

/** The share of what the user's words leave that names may take; what they do not need goes to passages. */
const NAMES_SHARE = 0.8

/** Messages named between two pauses: about a millisecond. */
const HASHES_PER_STEP = 4_096

/** Tokens of a name, about. */
const NAME_TOKENS = 6

/** With the first words written, which name the messages where there is room for that; null where there is none for words. */
function openedWriter(
  subject: Subject,
  indexes: readonly number[],
  tokensMax: number,
  areNamed: boolean,
): Writer | null {
  const names = areNamed ? [` (${numbersOf(indexes, subject.structure.systemCount)})`, ''] : ['']
  for (const name of names) {
    const writer = createWriter(subject, tokensMax)
    const left = `${indexes.length} earlier messages${name} were left out here to fit the context window.`
    if (writer.open(`${RECAP_OPEN}\n${left}`, RECAP_CLOSE)) return writer
  }
  return null
}

function bareMark(subject: Subject, tokensMax: number): Made {
  const tokens = subject.count(BARE_MARK)
  const fits = tokens <= tokensMax
  return { text: fits ? BARE_MARK : null, tokens: fits ? tokens : 0, how: null }
}

function* recapKey(subject: Subject, beside: Beside, folded: FoldedRun, areNamed: boolean): Steps<string> {
  const hashes = [
    yield* foldedDigest(subject, folded, areNamed),
    yield* hashesOf(subject, beside.visible, areNamed),
    yield* hashesOf(subject, beside.shortened, areNamed),
    ...beside.said,
  ].join('\n')
  return `recap:${FOLD_VERSION}:${subject.memorySpace}:${folded.tokensMax}:${folded.systemTokensMax}:${subject.digest(hashes)}`
}

function* hashesOf(subject: Subject, indexes: readonly number[], areNamed: boolean): Steps<string> {
  // Equal bytes stand at several places, and each of them has a name of its own.
  const { isStandIn, systemCount } = subject.structure
  const nameOf = (index: number): string => (areNamed ? messageNumber(index, systemCount) : '')
  const hashes: string[] = []
  for (const index of indexes) {
    hashes.push(`${subject.messages[index]?.facts.hash}${isStandIn(index) ? '*' : ''}${nameOf(index)}`)
    if (hashes.length % HASHES_PER_STEP === 0) yield
  }
  return hashes.join(' ')
}

/** The digests of folded runs, by the structure of the conversation that they lie in: what stands in for what is a part of it. */
const digestsByStructure = new WeakMap<Structure, Map<string, string>>()

/** Stands for the folded messages. Between two compactions they are those of the conversation that this one grew from. */
function* foldedDigest(subject: Subject, folded: FoldedRun, areNamed: boolean): Steps<string> {
  const { structure, grewFrom } = subject
  const run = `${folded.start} ${folded.end} ${folded.except.join(',')} ${areNamed ? structure.systemCount : ''}`
  const own = digestsByStructure.get(structure) ?? new Map<string, string>()
  digestsByStructure.set(structure, own)
  const isOld = grewFrom !== null && folded.end <= grewFrom.shared
  const known = own.get(run) ?? (isOld ? digestsByStructure.get(grewFrom.structure)?.get(run) : undefined)
  const found = known ?? subject.digest(yield* hashesOf(subject, rangeIndexes(folded, []), areNamed))
  own.set(run, found)
  return found
}

type Run = {
  readonly indexes: readonly number[]
  readonly visible: readonly number[]
  readonly said: readonly string[]
  readonly unsaid: Unsaid
  readonly tokensMax: number
  readonly areNamed: boolean
}

function* writeQuotesAndNames(subject: Subject, run: Run, cache: MadeCache, writer: Writer): Steps<void> {
  const { indexes, visible } = run
  const mentions = yield* mentionsIn(subject, indexes, visible, cache)
  const roomTokens = run.tokensMax - writer.spentTokens()
  const namesTokensMax = Math.min(Math.floor(roomTokens * NAMES_SHARE), mentions.size * NAME_TOKENS)
  const quotes = yield* chooseQuotes(subject, {
    indexes,
    visible,
    mentions,
    unsaid: run.unsaid,
    areNamed: run.areNamed,
    tokensMax: roomTokens - namesTokensMax - subject.count(`\n${headings.quotes}\n${headings.names}`),
  })
  if (quotes.length > 0 && (yield* writer.line(headings.quotes))) {
    for (const { label, text } of quotes) {
      yield* writer.line(`${label}\n${text}`)
      yield
    }
  }
  const lines = yield* nameLines({
    mentions,
    standing: new Set(
      [writer.written(), ...run.said].flatMap((text) => [...thingsIn(text)].map(({ name }) => name)),
    ),
    tokensMax: run.tokensMax - writer.spentTokens() - subject.count(`\n${headings.names}`),
    countSteps: subject.countSteps,
    contextOf: (index) => contextOf(subject, index, cache),
  })
  yield
  if (lines.length === 0 || !(yield* writer.line(headings.names))) return
  for (const line of lines) yield* writer.line(line)
}
