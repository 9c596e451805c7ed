import { isBeginning } from '../../support/is-beginning.ts'
import type { RecordedResponsesRequest } from '../../support/responses/responses-upstream.ts'
import { typeOf } from '../../support/responses/wire-item.ts'
import type { Problem } from '../checks.ts'
import type { Job } from '../job.ts'
import { OUTPUT_TOKENS } from '../recordings.ts'
import type { Exchange } from '../stage.ts'
import type { RequestBody } from '../subject.ts'
import type { History } from './history.ts'
import { itemOrigins, type ItemOrigin } from './item-origins.ts'
import type { LivedSubject } from './lived-subject.ts'

export type LivedCheck = {
  readonly job: Job
  readonly subject: LivedSubject
  /** Up to this request. */
  readonly history: History
  readonly body: RequestBody
  readonly exchange: Exchange<RecordedResponsesRequest>
  /** What was received for the request before; null at a conversation's first. */
  readonly previous: LivedSeen | null
}

/** A request as the next one is compared with it. */
export type LivedSeen = {
  /** The client's newest item. */
  readonly newest: string
  readonly rawItems: readonly string[]
  readonly passes: string
  readonly made: string
  readonly kept: ReadonlySet<number>
}

export type LivedChecked = {
  readonly problems: readonly Problem[]
  /** Whether what was sent before is no beginning of what was sent now. */
  readonly isCompaction: boolean
  readonly isFixedTooLarge: boolean
  /** Whether the upstream refused the sequence or the reasoning. */
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
  const isFixedTooLarge = roomTokens <= newestUserTokens(subject, history)
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
  const origins = itemOrigins(history, last.rawItems)
  if (isUntouched) {
    if (!last.body.equals(input.body.bytes)) add('P1 same bytes', `${exchange.action}, yet the bytes differ`)
  } else {
    problems.push(...byteProblems(input, last, origins))
  }
  const groups = brokenGroups(history, origins)
  for (const reply of groups) add('P3 group', `of the reply of step ${reply} only a part was sent`)
  if (!isFixedTooLarge) problems.push(...missingPins(history, origins, last.rawItems))

  const newest = history.items.at(-1)?.text ?? ''
  const { rawItems } = last
  const isSame = previous !== null && isBeginning(previous.rawItems, rawItems)
  if (
    isSame &&
    previous.rawItems.length === rawItems.length &&
    previous.newest !== newest &&
    !isFixedTooLarge
  )
    add('P4 same prompt', 'the same items were sent as for the request before')
  const seen = {
    newest,
    rawItems,
    passes: exchange.passes.join(),
    made: rawItems.filter((_, place) => origins[place]?.kind !== 'kept').join('\n'),
    kept: new Set(origins.flatMap((origin) => (origin.kind === 'kept' ? [origin.index] : []))),
  }
  const isCompaction = previous !== null && !isSame
  if (isCompaction && seen.passes === previous.passes && seen.made === previous.made) {
    const isFold = [...previous.kept].some((index) => !seen.kept.has(index))
    const at = previous.rawItems.findIndex((text, index) => text !== rawItems[index])
    if (!isFold)
      add('P5 stable', `nothing was made or folded, yet item ${at} of what was sent before changed`)
  }
  const isRejected = rejected.length > 0
  return { problems, isCompaction, isFixedTooLarge, isRejected, brokenGroups: groups.length, seen }
}

// --- internal ---

function leadingCount({ items }: History): number {
  const first = items.findIndex(({ item }) => item['role'] !== 'developer' && item['role'] !== 'system')
  return first === -1 ? items.length : first
}

/** Tokens of tools, instructions and leading developer messages, which are sent as they are. */
function fixedTokens(subject: LivedSubject, history: History): number {
  const leading = history.items.slice(0, leadingCount(history))
  return leading.reduce((sum, { item }) => sum + subject.itemTokens(item), subject.aroundTokens)
}

/** Of a user's message that is the newest item: it goes whole where it exceeds the room. */
function newestUserTokens(subject: LivedSubject, { items }: History): number {
  const newest = items.findLast(({ item }) => item['role'] !== 'developer')?.item
  return newest?.['role'] === 'user' ? subject.itemTokens(newest) : 0
}

function overWindow(job: Job, received: LivedCheck['exchange']['received']): readonly Problem[] {
  const judged = job.isWindowKnown ? received : received.slice(-1)
  return judged.flatMap(({ promptTokens, rejected }, attempt) => {
    const isOver = promptTokens + OUTPUT_TOKENS > job.windowTokens || rejected?.reason === 'window'
    const detail = `attempt ${attempt + 1} of ${received.length} took ${promptTokens} tokens and ${OUTPUT_TOKENS}`
    return isOver ? [{ check: 'P7 fits', detail }] : []
  })
}

function byteProblems(
  { body, history }: LivedCheck,
  { body: bytes, rawItems }: RecordedResponsesRequest,
  origins: readonly ItemOrigin[],
): readonly Problem[] {
  const problems: Problem[] = []
  const add = (detail: string) => problems.push({ check: 'P1 same bytes', detail })
  if (!bytes.subarray(0, body.before.length).equals(body.before)) add('what stands before the items differs')
  if (!bytes.subarray(-body.after.length).equals(body.after)) add('what stands after the items differs')
  const between = bytes.subarray(body.before.length, bytes.length - body.after.length).toString('utf8')
  if (between.replaceAll(/\s*,\s*/g, ',') !== rawItems.join(',').replaceAll(/\s*,\s*/g, ','))
    add('between the items stands something else')
  const sentReasoning = new Set(origins.flatMap((origin) => replyWithReasoning(history, origin)))
  origins.forEach((origin, place) => {
    const text = rawItems[place] ?? ''
    if (origin.kind === 'stray') add(`received item ${place} is nobody's: ${text.slice(0, 200)}`)
    if (origin.kind === 'unnamed' && sentReasoning.has(history.items[origin.index]?.reply ?? -1))
      add(`item ${origin.index} lost its id, and its reasoning is there`)
    if (origin.kind !== 'derived') return
    if (JSON.stringify(JSON.parse(text)) === JSON.stringify(history.items[origin.index]?.item))
      add(`item ${origin.index} was kept, but not its bytes`)
  })
  return problems
}

function replyWithReasoning({ items }: History, origin: ItemOrigin): readonly number[] {
  const sent = 'index' in origin ? items[origin.index] : undefined
  return sent?.reply != null && typeOf(sent.item) === 'reasoning' ? [sent.reply] : []
}

/** The replies of which a message or a call is there and another is not, or reasoning without them. */
function brokenGroups({ items }: History, origins: readonly ItemOrigin[]): readonly number[] {
  const sent = new Set(origins.flatMap((origin) => ('index' in origin ? [origin.index] : [])))
  const groups = Map.groupBy(items.entries(), ([, { reply }]) => reply)
  groups.delete(null)
  return [...groups].flatMap(([reply, members]) => {
    const isOut = (type: string) =>
      members.filter(([, { item }]) => (typeOf(item) === 'reasoning') === (type === 'reasoning'))
    const told = isOut('others')
    const toldSent = told.filter(([index]) => sent.has(index)).length
    const thoughtSent = isOut('reasoning').some(([index]) => sent.has(index))
    const isWhole = toldSent === told.length || (toldSent === 0 && !thoughtSent)
    return isWhole || reply === null ? [] : [reply]
  })
}

/** Leading developer messages whole; the task and all of the newest round at least in part (P4). */
function missingPins(
  history: History,
  origins: readonly ItemOrigin[],
  rawItems: readonly string[],
): readonly Problem[] {
  const { items } = history
  const problems: Problem[] = []
  const sent = new Set(origins.flatMap((origin) => ('index' in origin ? [origin.index] : [])))
  for (let index = 0; index < leadingCount(history); index += 1) {
    if (rawItems[index] !== items[index]?.text)
      problems.push({ check: 'P4 pinned', detail: `developer message ${index}` })
  }
  const task = items.findIndex(({ item }) => item['role'] === 'user')
  if (task !== -1 && !sent.has(task)) problems.push({ check: 'P4 task gone', detail: `item ${task}` })
  const lastReply = items.findLast(({ reply }) => reply !== null)?.reply ?? null
  const start = lastReply === null ? items.length - 1 : items.findIndex(({ reply }) => reply === lastReply)
  for (const [offset, { item }] of items.slice(start).entries()) {
    const index = start + offset
    if (sent.has(index) || typeOf(item) === 'reasoning') continue
    const check = index === items.length - 1 ? 'P4 newest absent' : 'P4 pinned'
    problems.push({ check, detail: `item ${index} of the newest round` })
  }
  return problems
}
