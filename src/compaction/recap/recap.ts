import type { Pausable } from '../../json/source.ts'
import { messageNumber, numbersOf } from '../history/message-numbers.ts'
import { covers, type FoldedRun, rangeIndexes } from '../folded-parts.ts'
import type { Made, MadeCache } from '../made-cache.ts'
import { FOLD_VERSION, type StandingSummary } from '../compaction.ts'
import { opensMessage, type History } from '../history/history.ts'
import { createWriter, headings, unforged, type Writer } from './headings.ts'
import { mentionsIn, nameLines } from './names.ts'
import { writeSystem, writeUsers } from './user/said.ts'
import { diaryLines, type World } from './agent-state.ts'
import type { OpenWork } from '../history/calls/open-work.ts'
import type { Profile } from '../../profiles/schema.ts'

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
  /** Messages that were cleared or shortened: what they named may be named like what was folded. */
  readonly shortened: readonly number[]
  /** Summaries that stand before it: what they tell is not told again. */
  readonly summaries: readonly StandingSummary[]
  /** What the world looks like, in the recap before the newest messages; null in any other. */
  readonly world: World | null
}

/**
 * The recap of folded messages, made without a model: the system messages among them, what the user said, the
 * list of open work, the files, what the agent said and did, and the specific things that were named beside that, as far as
 * the cap allows. It depends on these messages only. A bare mark where there is no room for words; its text is
 * null where there is none even for that. Where the profile allows recall it names messages, by which they can be read back.
 */
export function* recapOf(
  history: History,
  folded: FoldedRun,
  beside: Beside,
  cache: MadeCache,
  { recap: { tell }, recall: { enabled: areNamed } }: Pick<Profile, 'recap' | 'recall'>,
): Pausable<Made> {
  const { tokensMax, systemTokensMax } = folded
  const { visible, shortened, summaries, world } = beside
  const folds = rangeIndexes(folded, [])
  const hashes: string[] = []
  for (const indexes of [folds, visible, shortened]) hashes.push(yield* hashesOf(history, indexes, areNamed))
  const told = summaries.map(({ text, start, end, except }) => ({ text, start, end, except }))
  const digest = history.digest([...hashes, JSON.stringify([told, world, tell])].join('\n'))
  yield
  const key = `recap:${FOLD_VERSION}:${history.memorySpace}:${tokensMax}:${systemTokensMax}:${digest}`
  const known = cache.get(key)
  if (known !== undefined) return known
  const written = yield* textOfRecap(history, folds, folded, beside, cache, { tell, areNamed })
  const made = { ...written, how: null }
  cache.set(key, made)
  return made
}

// --- internal ---

/** The share of what the user's words and the files leave that the diary may take; the rest is for names. */
const DIARY_SHARE = 0.2
/** A few lines say what was tried: in a small recap the diary takes so much, if that is no more than half. In tokens. */
const DIARY_TOKENS_MIN = 256

/** A list of work that takes more of a recap than this is told by what is open. */
const WORK_SHARE = 0.5

/** Lines of files take at most this share of what the user's words leave. */
const FILES_SHARE = 0.15

/** With the first words written, which name the messages where there is room for that; null where there is none for words. */
function openedWriter(
  history: History,
  indexes: readonly number[],
  tokensMax: number,
  areNamed: boolean,
): Writer | null {
  const count = indexes.filter((index) => opensMessage(history, index)).length
  const names = areNamed ? [` (${numbersOf(indexes, history.structure.systemCount)})`, ''] : ['']
  for (const name of names) {
    const left = `${count} earlier messages${name} were left out here to fit the context window.`
    const writer = createWriter(history, tokensMax, [`${RECAP_OPEN}\n${left}`, RECAP_CLOSE])
    if (writer.spentTokens() <= tokensMax) return writer
  }
  return null
}

function* hashesOf(history: History, indexes: readonly number[], areNamed: boolean): Pausable<string> {
  const { isStandIn, systemCount } = history.structure
  const hashes: string[] = []
  for (const index of indexes) {
    // Equal bytes stand at several places, and each of them has a number of its own.
    const number = areNamed ? messageNumber(index, systemCount) : ''
    hashes.push(`${history.messages[index]?.facts.hash}${isStandIn(index) ? '*' : ''}${number}`)
    yield
  }
  return hashes.join(' ')
}

/** The list whole, else as many of the open items as there is room for. */
function* writeWork({ whole, open }: OpenWork, writer: Writer, areNamed: boolean): Pausable<void> {
  if (yield* writer.line(`${headings.work}\n${unforged(whole, areNamed)}`)) return
  if (!(yield* writer.line(headings.someWork))) return
  for (const line of open) if (!(yield* writer.line(unforged(line, areNamed)))) return
}

/** What failed last and the files, those touched last first to be chosen. */
function* writeWorld(
  { countSteps }: History,
  { failure, files }: World,
  tokensMax: number,
  writer: Writer,
): Pausable<void> {
  if (failure !== null) yield* writer.line(`${headings.failure} ${failure}`)
  let left = tokensMax
  const chosen = new Set<string>()
  // What was changed counts before what was read, of each what was touched last.
  for (const wantsChanged of [true, false])
    for (const { line, isChanged } of files.toReversed()) {
      if (isChanged !== wantsChanged || left < 0) continue
      left -= yield* countSteps(`\n${line}`)
      if (left >= 0) chosen.add(line)
    }
  const shown = files.map(({ line }) => line).filter((line) => chosen.has(line))
  yield* writer.section(headings.files, shown)
}

/** Everything that a recap says, within its cap. */
function* textOfRecap(
  history: History,
  folds: readonly number[],
  folded: FoldedRun,
  { visible, shortened, summaries, world }: Beside,
  cache: MadeCache,
  { tell, areNamed }: { readonly tell: Profile['recap']['tell']; readonly areNamed: boolean },
): Pausable<Pick<Made, 'text' | 'tokens'>> {
  const { tokensMax, systemTokensMax } = folded
  const numberOf = (index: number): string => messageNumber(index, history.structure.systemCount)
  const writer = openedWriter(history, folds, tokensMax, areNamed)
  yield
  if (writer === null) {
    const tokens = history.count(BARE_MARK)
    return tokens <= tokensMax ? { text: BARE_MARK, tokens } : { text: null, tokens: 0 }
  }
  const tells = (part: Profile['recap']['tell'][number]): boolean => tell.includes(part)
  yield* writeSystem(history, folds, systemTokensMax, writer)
  const kept = world?.kept ?? []
  if (kept.length > 0)
    yield* writer.line([headings.kept, ...kept.map((text) => `- ${unforged(text, areNamed)}`)].join('\n'))
  const work = tells('work') ? (world?.work ?? null) : null
  const workTokens = work === null ? 0 : yield* history.countSteps(`\n${headings.work}\n${work.whole}`)
  const forWork = workTokens > tokensMax * WORK_SHARE ? 0 : workTokens
  if (tells('said')) yield* writeUsers(history, folds, tokensMax - forWork, writer, areNamed)
  if (work !== null) yield* writeWork(work, writer, areNamed)
  yield
  if (world !== null && tells('files'))
    yield* writeWorld(history, world, (tokensMax - writer.spentTokens()) * FILES_SHARE, writer)
  const untold = folds.filter(
    (index) => tells('diary') && !summaries.some((summary) => covers(summary, index)),
  )
  const leftTokens = tokensMax - writer.spentTokens()
  const diaryTokensMax = tells('names')
    ? Math.floor(Math.max(leftTokens * DIARY_SHARE, Math.min(DIARY_TOKENS_MIN, leftTokens / 2)))
    : leftTokens
  const linesTokensMax = diaryTokensMax - history.count(`\n${headings.diary}`)
  const diary = yield* diaryLines(history, untold, linesTokensMax, areNamed ? numberOf : null)
  yield* writer.section(headings.diary, diary)
  if (!tells('names')) return yield* writer.close()
  const named = [...folds, ...shortened]
  const mentions = yield* mentionsIn(history, named, visible, cache)
  const standing = [writer.written(), ...summaries.map(({ text }) => text)]
  const namesTokensMax = tokensMax - writer.spentTokens() - history.count(`\n${headings.names}`)
  const lines = yield* nameLines(history, mentions, standing, namesTokensMax)
  yield* writer.section(headings.names, lines)
  return yield* writer.close()
}
