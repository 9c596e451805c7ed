import { isBeginning } from '../../../support/is-beginning.ts'
import type { Problem } from '../checks.ts'
import type { Job } from '../job.ts'
import { OUTPUT_TOKENS } from '../recordings.ts'
import type { Exchange } from '../stage.ts'
import type { RequestBody } from '../subject.ts'
import type { History } from './history.ts'
import { entryOrigins, type EntryOrigin } from './entry-origins.ts'
import type { LivedReceived, LivedSubject } from './lived-subject.ts'

export type LivedCheck = {
  readonly job: Job
  readonly subject: Pick<LivedSubject<unknown>, 'aroundTokens' | 'readEntry'>
  /** Up to this request. */
  readonly history: History
  readonly body: RequestBody
  readonly exchange: Exchange<LivedReceived>
  /** What was received for the request before; null at a conversation's first. */
  readonly previous: LivedSeen | null
}

/** A request as the next one is compared with it. */
export type LivedSeen = {
  /** The client's newest entry. */
  readonly newest: string
  readonly rawEntries: readonly string[]
  readonly passes: string
  readonly made: string
  readonly kept: ReadonlySet<number>
}

export type LivedChecked = {
  readonly problems: readonly Problem[]
  /** Whether what was sent before is no beginning of what was sent now. */
  readonly isCompaction: boolean
  readonly isFixedTooLarge: boolean
  /** Whether the upstream refused the sequence or the thoughts. */
  readonly isRejected: boolean
  /** Replies of which a part was sent. */
  readonly brokenGroups: number
  readonly seen: LivedSeen | null
}

/** Holds the promises against the bytes that the upstream received. */
export function checkLived(input: LivedCheck): LivedChecked {
  const { job, subject, history, exchange, previous } = input
  const { received } = exchange
  const last = received.at(-1)
  const problems: Problem[] = []
  const add = (check: string, detail: string) => problems.push({ check, detail })

  const roomTokens = job.windowTokens - OUTPUT_TOKENS - fixedTokens(subject, history)
  const isFixedTooLarge = roomTokens <= newestUserTokens(history)
  if (exchange.action.startsWith('failed-open')) add('P2 failed open', exchange.action)
  if (!exchange.isReply && !isFixedTooLarge)
    add('an error reached the client', `${exchange.status} ${exchange.answer.slice(0, 300)}`)
  if (last === undefined) {
    const nothing = { isCompaction: false, isRejected: false, brokenGroups: 0, seen: previous }
    return { problems, isFixedTooLarge, ...nothing }
  }
  if (!isFixedTooLarge) problems.push(...overWindow(job, received))
  const rejected = received.filter(({ rejected: one }) => one !== null && one.reason !== 'window')
  if (rejected.length > 0) {
    const words = rejected[0]?.rejected?.message
    add('rejected for its sequence', `${rejected.length} of ${received.length} attempts: ${words}`)
  }

  const isUntouched = /^(?:relayed|failed-open|restored;reason=original)/.test(exchange.action)
  const origins = entryOrigins(history, last.rawEntries, subject.readEntry)
  if (isUntouched) {
    if (!last.body.equals(input.body.bytes)) add('P1 same bytes', `${exchange.action}, yet the bytes differ`)
  } else {
    problems.push(...byteProblems(input, last, origins))
  }
  const groups = brokenGroups(history, origins)
  for (const reply of groups) add('P3 group', `of the reply of step ${reply} only a part was sent`)
  if (!isFixedTooLarge) problems.push(...missingPins(history, origins, last.rawEntries))

  const newest = history.entries.at(-1)?.text ?? ''
  const { rawEntries } = last
  const isSame = previous !== null && isBeginning(previous.rawEntries, rawEntries)
  if (
    isSame &&
    previous.rawEntries.length === rawEntries.length &&
    previous.newest !== newest &&
    !isFixedTooLarge
  )
    add('P4 same prompt', 'the same entries were sent as for the request before')
  const seen = {
    newest,
    rawEntries,
    passes: exchange.passes.join(),
    made: rawEntries.filter((_, place) => origins[place]?.kind !== 'kept').join('\n'),
    kept: new Set(origins.flatMap((origin) => (origin.kind === 'kept' ? [origin.index] : []))),
  }
  const isCompaction = previous !== null && !isSame
  if (isCompaction && seen.passes === previous.passes && seen.made === previous.made) {
    const isFold = [...previous.kept].some((index) => !seen.kept.has(index))
    const at = previous.rawEntries.findIndex((text, index) => text !== rawEntries[index])
    if (!isFold)
      add('P5 stable', `nothing was made or folded, yet entry ${at} of what was sent before changed`)
  }
  const isRejected = rejected.length > 0
  return { problems, isCompaction, isFixedTooLarge, isRejected, brokenGroups: groups.length, seen }
}

// --- internal ---

function leadingCount({ entries }: History): number {
  const first = entries.findIndex(({ read }) => read.kind !== 'told')
  return first === -1 ? entries.length : first
}

/** Tokens of tools, instructions and leading developer messages, which are sent as they are. */
function fixedTokens({ aroundTokens }: LivedCheck['subject'], history: History): number {
  const leading = history.entries.slice(0, leadingCount(history))
  return leading.reduce((sum, { read }) => sum + read.tokens, aroundTokens)
}

/** Of a user's message that is the newest entry: it goes whole where it exceeds the room. */
function newestUserTokens({ entries }: History): number {
  const newest = entries.findLast(({ read }) => read.kind !== 'told')?.read
  return newest?.kind === 'user' ? newest.tokens : 0
}

function overWindow(job: Job, received: LivedCheck['exchange']['received']): readonly Problem[] {
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
  const problems: Problem[] = []
  const add = (detail: string) => problems.push({ check: 'P1 same bytes', detail })
  if (!bytes.subarray(0, body.before.length).equals(body.before))
    add('what stands before the entries differs')
  if (!bytes.subarray(-body.after.length).equals(body.after)) add('what stands after the entries differs')
  const between = bytes.subarray(body.before.length, bytes.length - body.after.length).toString('utf8')
  if (between.replaceAll(/\s*,\s*/g, ',') !== rawParts.join(',').replaceAll(/\s*,\s*/g, ','))
    add('between the entries stands something else')
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

function reserialized(text: string): string {
  return JSON.stringify(text === '' ? null : JSON.parse(text))
}

function replyWithThoughts({ entries }: History, origin: EntryOrigin): readonly number[] {
  const sent = 'index' in origin ? entries[origin.index] : undefined
  return sent?.reply != null && sent.read.kind === 'thought' ? [sent.reply] : []
}

/** The replies of which words or a call are there and others are not, or thoughts without them. */
function brokenGroups({ entries }: History, origins: readonly EntryOrigin[]): readonly number[] {
  const sent = new Set(origins.flatMap((origin) => ('index' in origin ? [origin.index] : [])))
  const groups = Map.groupBy(entries.entries(), ([, { reply }]) => reply)
  groups.delete(null)
  return [...groups].flatMap(([reply, members]) => {
    const [thoughts, told] = [true, false].map((isThought) =>
      members.filter(([, { read }]) => (read.kind === 'thought') === isThought),
    )
    if (thoughts === undefined || told === undefined) return []
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
  const sent = new Set(origins.flatMap((origin) => ('index' in origin ? [origin.index] : [])))
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
