import { type Advanced, type Compacted, compactionFor, tighten } from '../../compaction/compact.ts'
import { type View, viewUnder } from '../../compaction/view/view.ts'
import type { Compaction, PreparedFold } from '../../compaction/compaction.ts'
import type { MadeCache } from '../../compaction/made-cache.ts'
import { sum } from '../../conversation/sizes.ts'
import { anyHasBoundThoughts } from '../../compaction/history/history.ts'
import { unboundCompaction, withNewestThoughts } from '../../compaction/held-thoughts.ts'
import { withoutFile } from '../../compaction/standing-summary.ts'
import type { Pausable } from '../../json/source.ts'
import { spliceMessages } from '../../json/splice.ts'
import type { EntryShape } from '../../formats/contract.ts'
import { callViolations } from '../../formats/call-rules.ts'
import { InvariantError } from '../../errors.ts'
import { pauseIfDue, runInSlices } from '../../scheduling/drive.ts'
import { leavingOut, withoutPast } from '../measure/without-past.ts'
import type { RequestParts } from '../request-parts.ts'
import type { CompactAttempt } from '../../overflow/tighten.ts'
import type { Chat, Counted, Form, FormRequest } from '../request.ts'
import { withCacheMark } from './cache-marks.ts'

// Forms of a request are made here and nowhere else. What is made is checked before it is sent: a broken rule throws an
// InvariantError.

type FormParts = Pick<RequestParts, 'cache' | 'keepTaken'> & {
  readonly records: Pick<RequestParts['records'], 'keep' | 'replace'>
}

type NextFormOptions = {
  /** A compaction now, whatever the pressure. */
  readonly forced: boolean
  /** The fold for a compaction that is due, with its summaries; null where a recap is to stand for what is folded. */
  readonly foldFor: (due: Advanced) => Promise<PreparedFold | null>
}

export type SmallerFormOptions = Pick<
  CompactAttempt,
  'budgetTokens' | 'fills' | 'keepRecent' | 'smallest'
> & {
  readonly previous: Compaction | null
  /** Own count of what was refused. */
  readonly refusedTokens: number
}

/** A conversation with all of its messages: the client's own bytes, or the repaired ones. */
export function originalForm(chat: Chat, sentTokens: number): Form {
  return {
    chat,
    pieces: [{ start: 0, end: chat.bytes.length }],
    compacted: null,
    isRewritten: chat.repairs !== null,
    strict: false,
    clampedOutputTokens: null,
    sentTokens,
    made: null,
  }
}

/** The form under the compaction that the request stands in, one more if one is due. */
export async function nextForm(
  request: FormRequest,
  counted: Counted,
  { forced, foldFor }: NextFormOptions,
  parts: FormParts,
): Promise<Form> {
  const { cache, keepTaken } = parts
  const newest = request.remembered.compaction
  const beganMs = performance.now()
  let due = await advanced(request, counted, newest, { forced, prepared: null }, cache)
  if (due.compaction !== null && due.compaction !== newest) {
    const prepared = await foldFor(due)
    if (prepared !== null) due = await advanced(request, counted, newest, { forced, prepared }, cache)
    const isKept = due.compaction === null || (await keepTaken(request, counted, due.compaction))
    if (prepared !== null && !isKept) {
      // What its new summaries stand for could not be kept in a file that they might name.
      const standing = newest?.fold?.summaries ?? []
      const options = { standing, namesMessages: request.profile.recall.enabled }
      const bare = await runInSlices(withoutFile(counted.history, prepared, options))
      due = await advanced(request, counted, newest, { forced, prepared: bare }, cache)
    }
  }
  const { compaction, beforeTokens } = due
  if (compaction === null || compaction === newest) return formUnder(request, counted, compaction, cache)
  const { standing, isOurs } = await recorded(request, counted, compaction, parts)
  const form = await formUnder(request, counted, standing, cache)
  if (!isOurs) return form
  const tokensBefore = counted.aroundTokens + (beforeTokens ?? counted.conversationTokens)
  return { ...form, made: { compaction, tokensBefore, milliseconds: performance.now() - beganMs } }
}

/** The form that `nextForm` would make: nothing is recorded, and recaps stand for summaries. */
export async function dryRun(
  request: FormRequest,
  counted: Counted,
  forced: boolean,
  cache: MadeCache,
): Promise<Form> {
  const now = { forced, prepared: null }
  const { compaction } = await advanced(request, counted, request.remembered.compaction, now, cache)
  return formUnder(request, counted, compaction, cache)
}

/** The view of a compaction under another placement: `request.strict` says which. */
export async function placedAnew(
  request: FormRequest,
  counted: Counted,
  compaction: Compaction | null,
  { cache, keepTaken }: FormParts,
): Promise<Form> {
  const { compaction: standing } = await advanced(request, counted, compaction, NOTHING_NEW, cache)
  if (standing !== null && standing !== compaction) await keepTaken(request, counted, standing)
  return formUnder(request, counted, standing, cache)
}

/**
 * The form without any thoughts before the end of the request that are bound, on the way that `compaction` has led so far; null if
 * none would go. On record once it was accepted.
 */
export function thoughtlessForm(
  request: FormRequest,
  counted: Counted,
  compaction: Compaction | null,
  cache: MadeCache,
): Promise<Form> | null {
  const { messages } = request.chat
  const bare = unboundCompaction(compaction, messages.length)
  return anyHasBoundThoughts(messages) ? formUnder(request, counted, bare, cache) : null
}

/**
 * The view of a compaction with the thoughts of the newest reply that it takes out, or of all that it keeps, where they are not
 * bound; null if it takes none of them out.
 */
export function thoughtfulForm(
  request: FormRequest,
  counted: Counted,
  compaction: Compaction,
  cache: MadeCache,
): Promise<Form> | null {
  if (!anyHasBoundThoughts(request.chat.messages)) return formUnder(request, counted, compaction, cache)
  const whole = withNewestThoughts(request.chat, compaction)
  return whole === null ? null : formUnder(request, counted, whole, cache)
}

/** A smaller form after a refusal; null where nothing more can be taken away. It is on record once it was accepted. */
export async function tightenedForm(
  request: FormRequest,
  counted: Counted,
  { fills, refusedTokens, ...how }: SmallerFormOptions,
  { cache, keepTaken }: FormParts,
): Promise<Form | null> {
  const beganMs = performance.now()
  const { strict } = request
  const { budgetTokens, previous, smallest } = how
  const within = withoutPast(counted, budgetTokens) ?? counted
  const { aroundTokens } = within.room
  const formWithin = async (plannedTokens: number): Promise<Form | null> => {
    const profile = fills && !smallest ? { ...request.profile, target: plannedTokens } : request.profile
    const room = { budgetTokens: plannedTokens, aroundTokens }
    const made = await runInSlices(tighten(within.history, cache, { ...how, strict, profile, room }))
    return made && runInSlices(formOf(request, within, made))
  }
  const form = await (fills && !smallest ? filledView(budgetTokens, formWithin) : formWithin(budgetTokens))
  const compaction = form?.compacted?.compaction ?? null
  if (form === null || compaction === null) {
    // Where nothing else can go, what the server has compacted itself does; that has been tried before the last attempt.
    const bare = smallest ? null : leavingOut(counted, budgetTokens)
    return bare && formUnder(request, bare, previous, cache)
  }
  await keepTaken(request, counted, compaction)
  const milliseconds = performance.now() - beganMs
  return { ...form, made: { compaction, tokensBefore: refusedTokens, milliseconds } }
}

/**
 * The largest view found within a budget. A compaction leaves room below its budget, for the rounds to come and because
 * recaps come out shorter than they were planned; so it is planned with more until what comes out fills the budget. Null
 * where nothing can be taken away.
 *
 * @internal exported for tests
 */
export async function filledView<Planned extends Pick<Form, 'sentTokens'>>(
  budgetTokens: number,
  viewWithin: (plannedTokens: number) => Promise<Planned | null>,
): Promise<Planned | null> {
  let largest = await viewWithin(budgetTokens)
  let plannedTokens = budgetTokens
  let moreTokens = Number.POSITIVE_INFINITY
  for (let plans = 1; largest !== null && plans < PLANS_MAX; plans += 1) {
    const spareTokens = budgetTokens - largest.sentTokens
    moreTokens = Math.min(moreTokens, spareTokens)
    if (moreTokens < budgetTokens * SPARE_SHARE_MIN) break
    const view = await viewWithin(plannedTokens + moreTokens)
    if (view === null || view.sentTokens > budgetTokens) {
      moreTokens = Math.floor(moreTokens / 2)
      continue
    }
    plannedTokens += moreTokens
    moreTokens = Number.POSITIVE_INFINITY
    if (view.sentTokens > largest.sentTokens) largest = view
  }
  return largest
}

// --- internal ---

type Now = { readonly forced: boolean; readonly prepared: PreparedFold | null }

const NOTHING_NEW: Now = { forced: false, prepared: null }

/** The compaction that a request stands in which goes on from `newest`. */
function advanced(
  { profile, remembered, strict }: FormRequest,
  { history, room, compaction, differenceTokens }: Counted,
  newest: Compaction | null,
  now: Now,
  cache: MadeCache,
): Promise<Advanced> {
  return runInSlices(
    compactionFor(history, cache, {
      profile,
      newest,
      seenUntil: remembered.seenUntil,
      sharedUntil: remembered.sharedUntil,
      room,
      // The provider's count is known of the view of this very compaction, and of no other.
      differenceTokens: newest === compaction ? differenceTokens : 0,
      strict,
      ...now,
    }),
  )
}

/**
 * Records a compaction that was just made. `standing` is the one that the next request will find: another replica's, if
 * that was first.
 */
async function recorded(
  request: FormRequest,
  counted: Counted,
  made: Compaction,
  { cache, records, keepTaken }: FormParts,
): Promise<{ readonly standing: Compaction | null; readonly isOurs: boolean }> {
  if (made.point === request.remembered.compaction?.point) {
    records.replace(request, made)
    return { standing: made, isOurs: true }
  }
  const standing = await records.keep(request, made)
  if (standing === made || JSON.stringify(standing) === JSON.stringify(made))
    return { standing, isOurs: true }
  // Another replica's compaction is followed, so that both send the same bytes.
  const { compaction } = await advanced(request, counted, standing, NOTHING_NEW, cache)
  if (compaction !== null) await keepTaken(request, counted, compaction)
  if (compaction !== null && compaction !== standing) records.replace(request, compaction)
  return { standing: compaction, isOurs: false }
}

async function formUnder(
  request: FormRequest,
  counted: Counted,
  compaction: Compaction | null,
  cache: MadeCache,
): Promise<Form> {
  const { profile, strict } = request
  await pauseIfDue()
  const view = await runInSlices(viewUnder(counted.history, cache, { profile, compaction, strict }))
  await pauseIfDue()
  const form = await runInSlices(formOf(request, counted, { compaction, view }))
  await pauseIfDue()
  return form
}

function* formOf({ chat, strict }: FormRequest, counted: Counted, compacted: Compacted): Pausable<Form> {
  const { messages, leadingCount, tokens } = compacted.view
  const isWhole =
    messages.length === chat.messages.length && messages.every(({ item }) => item.kind === 'kept')
  const systemTokens = sum(messages.slice(0, leadingCount).map((message) => message.tokens))
  const sentTokens = tokens - systemTokens + counted.aroundTokens
  if (isWhole) return { ...originalForm(chat, sentTokens), compacted }
  yield* checkView(chat, compacted.view)
  const pieces = spliceMessages(
    chat.messages,
    withCacheMark(chat, messages),
    chat.body.history,
    chat.bytes.length,
  )
  return { ...originalForm(chat, sentTokens), pieces, compacted, isRewritten: true, strict }
}

/** A view never breaks a rule more often than its conversation does (P3). */
function* checkView(chat: Chat, view: View): Pausable<void> {
  if (view.messages.length === 0) throw new InvariantError('the view has no messages')
  const shapes = view.messages.map(({ index }): EntryShape =>
    index === null ? RECAP_SHAPE : (chat.messages[index]?.facts ?? RECAP_SHAPE),
  )
  yield
  const after = yield* callViolations(shapes, chat.dialect.rules)
  if (after.length === 0) return
  const received = chat.messages.map(({ facts }) => facts)
  const before = yield* callViolations(received, chat.dialect.rules)
  if (after.length > before.length) {
    const [first] = after
    throw new InvariantError(`the view breaks the rule ${first?.rule} at message ${first?.index}`)
  }
}

const RECAP_SHAPE: EntryShape = { role: 'user', callIds: [], answers: [], emptyCalls: false }

/** Each takes as long as a compaction. */
const PLANS_MAX = 5

/** Less than this of the budget is not worth another plan. */
const SPARE_SHARE_MIN = 0.03
