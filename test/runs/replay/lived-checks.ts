import type { EntryReader, LivedChat, LivedEntry, LivedReceived, ReadEntry } from '../harness/lived.ts'
import { OUTPUT_TOKENS } from '../harness/recordings.ts'
import type { Exchange } from '../harness/stage.ts'
import type { RequestBody } from '../harness/subject.ts'
import type { Job } from './jobs.ts'
import {
  answerProblems,
  aroundProblems,
  changeProblems,
  isCompaction,
  isUntouched,
  seenOf,
  sequenceProblems,
  type Checked,
  type Problem,
  type Seen,
} from './checks.ts'

type LivedCheck = {
  readonly job: Job
  readonly chat: Pick<LivedChat, 'aroundTokens' | 'readEntry'>
  readonly history: History
  readonly body: RequestBody
  readonly exchange: Exchange<LivedReceived>
  readonly previous: Seen | null
}

export function checkLived(input: LivedCheck): Checked {
  const { job, chat, history, exchange, previous } = input
  const { received } = exchange
  const last = received.at(-1)
  const roomTokens = job.windowTokens - OUTPUT_TOKENS - fixedTokens(chat, history)
  const isFixedTooLarge = roomTokens <= newestUserTokens(history)
  const problems = [...answerProblems(exchange, isFixedTooLarge)]
  const add = (check: string, detail: string) => problems.push({ check, detail })
  const nothing = { isCompaction: false, isFixedTooLarge, isRejected: false, brokenGroups: 0 }
  if (last === undefined) return { problems, ...nothing, seen: previous }
  if (!isFixedTooLarge) problems.push(...overWindow(job, received))
  const rejected = sequenceProblems(received, received.length)
  problems.push(...rejected)

  const origins = entryOrigins(history, last.rawEntries, chat.readEntry)
  if (!isUntouched(exchange)) problems.push(...byteProblems(input, last, origins))
  else if (!last.body.equals(input.body.bytes))
    add('P1 same bytes', `${exchange.action}, yet the bytes differ`)
  const groups = brokenGroups(history, origins)
  for (const reply of groups) add('P3 group', `of the reply of step ${reply} only a part was sent`)
  if (!isFixedTooLarge) problems.push(...missingPins(history, origins, last.rawEntries))

  const seen = seenOf(exchange, history.entries.at(-1)?.text ?? '', last.rawEntries, origins)
  problems.push(...changeProblems(previous, seen, { name: 'entry', names: 'entries', isFixedTooLarge }))
  return {
    problems,
    isCompaction: isCompaction(previous, seen),
    isFixedTooLarge,
    isRejected: rejected.length > 0,
    brokenGroups: groups.length,
    seen,
  }
}

export function watchThoughts() {
  let alive = new Set<string>()
  let madeAtCompaction: ReadonlySet<string> = new Set()
  let wasCompaction = false
  const lostOnce = new Set<string>()
  return {
    asked(
      { thoughts, deadThoughts }: Pick<LivedReceived, 'thoughts' | 'deadThoughts'>,
      isCompacted: boolean,
    ) {
      const shown = new Set(thoughts)
      const lost = [...alive].filter((name) => !shown.has(name))
      const losses = {
        // What the model was shown at the request before, or has had there, and is not shown now.
        lost: lost.length,
        // Of them, what was thought right after the compaction before: that compaction has cost thoughts twice.
        lostAtOnce: lost.filter((name) => madeAtCompaction.has(name)).length,
        // Of them, what was lost before and had come back.
        lostTwice: lost.filter((name) => lostOnce.has(name)).length,
        // What was sent behind a prefix that it was not made on.
        sentDead: deadThoughts,
      }
      for (const name of lost) lostOnce.add(name)
      alive = shown
      wasCompaction = isCompacted
      return losses
    },
    replied(names: readonly string[]): void {
      for (const name of names) alive.add(name)
      madeAtCompaction = new Set(wasCompaction ? names : [])
    },
  }
}

/** A client's history as it grows, each entry read once, with the indexes at which an entry of these bytes stands. */
type History = ReturnType<typeof openHistory>

export function openHistory(readEntry: EntryReader) {
  const entries: (LivedEntry & { readonly read: ReadEntry })[] = []
  const indexesOf = new Map<string, readonly number[]>()
  // The same for what is left of entries without their thoughts.
  const unnamedIndexesOf = new Map<string, readonly number[]>()
  const note = (indexes: Map<string, readonly number[]>, text: string) =>
    indexes.set(text, [...(indexes.get(text) ?? []), entries.length])
  return {
    entries,
    indexesOf,
    unnamedIndexesOf,
    take(lived: readonly LivedEntry[]): void {
      for (const { text, reply } of lived.slice(entries.length)) {
        const read = readEntry(text)
        note(indexesOf, text)
        if (reply !== null && read.kind !== 'thought') note(unnamedIndexesOf, read.unnamed)
        entries.push({ text, read, reply })
      }
    },
  }
}

/** As of a message; `unnamed`: byte for byte but for its id, whose reasoning has gone. */
export type EntryOrigin =
  | { readonly kind: 'kept' | 'unnamed' | 'derived'; readonly index: number }
  | { readonly kind: 'recap' | 'stray' }

/**
 * The origin of every received entry, each looked for after the one before it. Of several that it may be (an agent says the
 * same before each of its calls) it is the one that goes on as what was received does.
 */
export function entryOrigins(
  history: History,
  rawEntries: readonly string[],
  readEntry: EntryReader,
): readonly EntryOrigin[] {
  let from = 0
  const received = rawEntries.map((text) => readEntry(text))
  const found = (kind: 'kept' | 'unnamed' | 'derived', candidates: readonly number[], place: number) => {
    const later = candidates.filter((index) => index >= from)
    const next = received[place + 1]
    const goesOn =
      later.length < 2 || next === undefined
        ? undefined
        : later.find((index) => followerOf(history, index) === next.identity)
    const index = goesOn ?? later[0]
    if (index === undefined) return null
    from = index + 1
    return { kind, index }
  }
  return rawEntries.map((text, place): EntryOrigin => {
    const same =
      found('kept', history.indexesOf.get(text) ?? [], place) ??
      found('unnamed', history.unnamedIndexesOf.get(text) ?? [], place)
    if (same !== null) return same
    const read = received[place]
    if (read === undefined || read.isRecap) return { kind: 'recap' }
    const derived = history.entries.flatMap((one, index) =>
      index >= from && one.read.identity === read.identity ? [index] : [],
    )
    return found('derived', derived, place) ?? { kind: 'stray' }
  })
}

function leadingCount({ entries }: History): number {
  const first = entries.findIndex(({ read }) => read.kind !== 'told')
  return first === -1 ? entries.length : first
}

/** Tokens of tools, instructions and leading developer messages, which are sent as they are. */
function fixedTokens({ aroundTokens }: LivedCheck['chat'], history: History): number {
  const leading = history.entries.slice(0, leadingCount(history))
  return leading.reduce((sum, { read }) => sum + read.tokens, aroundTokens)
}

/** Of a user's message that is the newest entry: it goes whole where it exceeds the room. */
function newestUserTokens({ entries }: History): number {
  const newest = entries.findLast(({ read }) => read.kind !== 'told')?.read
  return newest?.kind === 'user' ? newest.tokens : 0
}

function overWindow(job: Job, received: readonly LivedReceived[]): readonly Problem[] {
  const judged = job.isWindowKnown ? received : received.slice(-1)
  // Anthropic's newer models take a prompt that leaves less room: nothing is learnt from one.
  const isRoomLearnt = job.isWindowKnown || job.dialect !== 'messages'
  const outputTokens = isRoomLearnt ? OUTPUT_TOKENS : 0
  return judged.flatMap(({ promptTokens, rejected }, attempt) => {
    const isOver = promptTokens + outputTokens > job.windowTokens || rejected?.reason === 'window'
    const detail = `attempt ${attempt + 1} of ${received.length} took ${promptTokens} tokens and ${OUTPUT_TOKENS}`
    return isOver ? [{ check: 'P7 fits', detail }] : []
  })
}

function byteProblems(
  { body, history }: LivedCheck,
  { body: bytes, rawParts, rawEntries }: LivedReceived,
  origins: readonly EntryOrigin[],
): readonly Problem[] {
  const problems = [...aroundProblems(bytes, body, rawParts, 'entries')]
  const add = (detail: string) => problems.push({ check: 'P1 same bytes', detail })
  const sentThoughts = new Set(origins.flatMap((origin) => replyWithThoughts(history, origin)))
  origins.forEach((origin, place) => {
    const text = rawEntries[place] ?? ''
    if (origin.kind === 'stray') add(`received entry ${place} is nobody's: ${text.slice(0, 200)}`)
    if (origin.kind === 'unnamed' && sentThoughts.has(history.entries[origin.index]?.reply ?? -1))
      add(`entry ${origin.index} lost its id, and its reasoning is there`)
    if (origin.kind !== 'derived') return
    if (reserialized(text) === reserialized(history.entries[origin.index]?.text ?? ''))
      add(`entry ${origin.index} was kept, but not its bytes`)
  })
  return problems
}

const reserialized = (text: string): string => JSON.stringify(text === '' ? null : JSON.parse(text))

function replyWithThoughts({ entries }: History, origin: EntryOrigin): readonly number[] {
  const sent = 'index' in origin ? entries[origin.index] : undefined
  return sent?.reply != null && sent.read.kind === 'thought' ? [sent.reply] : []
}

/** The replies of which words or a call are there and others are not, or thoughts without them. */
function brokenGroups({ entries }: History, origins: readonly EntryOrigin[]): readonly number[] {
  const sent = indexesIn(origins)
  const groups = Map.groupBy(entries.entries(), ([, { reply }]) => reply)
  groups.delete(null)
  return [...groups].flatMap(([reply, members]) => {
    const [thoughts = [], told = []] = [true, false].map((isThought) =>
      members.filter(([, { read }]) => (read.kind === 'thought') === isThought),
    )
    const toldSent = told.filter(([index]) => sent.has(index)).length
    const thoughtSent = thoughts.some(([index]) => sent.has(index))
    const isWhole = toldSent === told.length || (toldSent === 0 && !thoughtSent)
    return isWhole || reply === null ? [] : [reply]
  })
}

/** Leading developer messages whole; the task and all of the newest round at least in part (P4). */
function missingPins(
  history: History,
  origins: readonly EntryOrigin[],
  rawEntries: readonly string[],
): readonly Problem[] {
  const { entries } = history
  const problems: Problem[] = []
  const sent = indexesIn(origins)
  for (let index = 0; index < leadingCount(history); index += 1) {
    if (rawEntries[index] !== entries[index]?.text)
      problems.push({ check: 'P4 pinned', detail: `developer message ${index}` })
  }
  const task = entries.findIndex(({ read }) => read.kind === 'user')
  if (task !== -1 && !sent.has(task)) problems.push({ check: 'P4 task gone', detail: `entry ${task}` })
  const lastReply = entries.findLast(({ reply }) => reply !== null)?.reply ?? null
  const start =
    lastReply === null ? entries.length - 1 : entries.findIndex(({ reply }) => reply === lastReply)
  for (const [offset, { read }] of entries.slice(start).entries()) {
    const index = start + offset
    if (sent.has(index) || read.kind === 'thought') continue
    const check = index === entries.length - 1 ? 'P4 newest absent' : 'P4 pinned'
    problems.push({ check, detail: `entry ${index} of the newest round` })
  }
  return problems
}

const indexesIn = (origins: readonly EntryOrigin[]): ReadonlySet<number> =>
  new Set(origins.flatMap((origin) => ('index' in origin ? [origin.index] : [])))

/** What follows an entry, without thoughts, which may have gone. */
const followerOf = ({ entries }: History, index: number): string =>
  entries.slice(index + 1).find(({ read }) => read.kind !== 'thought')?.read.identity ?? ''
