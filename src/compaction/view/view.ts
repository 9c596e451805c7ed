import type { Message } from '../../conversation/message.ts'
import type { Pausable } from '../../json/source.ts'
import { type Compaction, UNTOUCHED } from '../compaction.ts'
import { type FoldedPart, layoutOf } from '../folded-parts.ts'
import { remembering } from '../../caches.ts'
import type { MadeCache } from '../made-cache.ts'
import { AS_IT_CAME } from '../edit-message.ts'
import { isLossless, type PassName, passOrder, textPasses, type TextTreatment } from '../passes/passes.ts'
import type { Profile } from '../../profiles/schema.ts'
import { BARE_MARK, type Beside, recapOf } from '../recap/recap.ts'
import { worldAt } from '../recap/agent-state.ts'
import { type History, pastOf } from '../history/history.ts'
import { sum } from '../../conversation/sizes.ts'
import { summaryText } from '../standing-summary.ts'
import { between, countsOf, type TokenCounts } from '../token-counts.ts'
import { type Edits, editsOf, isTakenOut } from '../edits.ts'
import { joinUsers } from './strict-roles.ts'
import { originalMessage, standIn, type ViewMessage } from './view-message.ts'

/** The messages that are sent in the place of a conversation, and what stands in them. */
export type View = ReturnType<typeof viewUnder> extends Pausable<infer Made> ? Readonly<Made> : never

/**
 * The messages that are sent for a conversation that stands in this compaction. `strict`: user messages are joined, for
 * templates that want the roles to alternate.
 */
export function* viewUnder(
  history: History,
  cache: MadeCache,
  {
    profile,
    compaction,
    strict,
  }: { readonly profile: Profile; readonly compaction: Compaction | null; readonly strict: boolean },
) {
  const { structure, messages: received } = history
  const { systemCount } = structure
  const counts = countsOf(history, profile, cache)
  const messages: ViewMessage[] = []
  const spent = compaction === null ? null : pastOf(history).spent
  for (let index = 0; index < systemCount; index += 1)
    if (!history.omitted.has(index) && spent?.has(index) !== true)
      messages.push(originalMessage(history, index))
  const leadingCount = messages.length
  if (compaction !== null)
    for (const message of yield* standingView(counts, compaction)) messages.push(message)
  const { before, after, tail } = layoutOf(compaction ?? UNTOUCHED, systemCount)
  const start = Math.max(tail, compaction?.point ?? 0)
  yield* add(counts, editsOf(compaction ?? UNTOUCHED), between(start, received.length), messages)

  const passes = new Set<PassName | null | undefined>()
  const standIns = { summaries: 0, recaps: 0 }
  for (const { how } of messages) {
    passes.add(passOf[how])
    if (how === 'summary') standIns.summaries += 1
    if (how === 'recap') standIns.recaps += 1
  }
  // If everything was folded and no recap fits, something still has to be asked.
  const isUnasked = tail >= received.length && messages.at(-1)?.role === 'assistant'
  if ((messages.length === leadingCount || isUnasked) && received.length > systemCount) {
    const all = { start: systemCount, end: received.length, except: [] }
    messages.push(standIn(history, 'recap', BARE_MARK, history.count(BARE_MARK), all))
  }
  if (before !== null || after !== null) passes.add('fold')
  const placed = strict ? joinUsers(history, messages) : messages
  const first = placed.findIndex(({ index }) => index === null || index >= systemCount)
  return {
    messages: placed,
    /** How many of them are what stands before the history. */
    leadingCount: first === -1 ? placed.length : first,
    /** Tokens of all of its messages, by Foldgate's own count. */
    tokens: sum(placed.map(({ tokens }) => tokens)),
    /** The passes whose outcome stands in it. */
    passes: passOrder.filter((pass) => passes.has(pass)),
    /** What stands in it for folded messages: there may have been no room for anything. */
    standIns,
  }
}

/**
 * What is sent of a conversation between the leading system block and the point of the compaction that it stands in, before
 * any placement. It is found again for the next request that goes on from this one: what lies before a compaction's point is
 * never edited otherwise on account of what follows it (P5, P6).
 */
export function* standingView(counts: TokenCounts, compaction: Compaction): Pausable<readonly ViewMessage[]> {
  const { history, profile } = counts
  const { memorySpace } = history
  const found = foundView(counts, compaction)
  if (found !== null) return found
  const messages: ViewMessage[] = []
  const edits = editsOf(compaction)
  const { head, before, latestUser, after, restated, tail, pinned } = layoutOf(
    compaction,
    history.structure.systemCount,
  )
  yield
  yield* add(counts, edits, head, messages)
  const visible = [...pinned]
  const shortened: number[] = []
  for (let index = tail; index < compaction.point; index += 1) {
    yield
    // A name that stands only in what was cleared or shortened is not there to be read, nor is one in a server's thoughts.
    const edit = counts.editOf(index, edits)
    if (history.messages[index]?.facts.bound === 'whole') continue
    const isCut = edit === null || edit.tokensMax !== null || edit.mediaKept !== null
    if (isCut || !isWhole(edit.pass)) shortened.push(index)
    else visible.push((edit.pass === 'kept' ? edit.resolves : null) ?? index)
  }
  // Where nothing stands behind the fold, what is said again must not be the last: it may be a reply.
  const isLast = tail >= compaction.point
  const { plain, systems, resumeAt } = restatedIn(history, restated, tail, compaction.point)
  if (isLast) yield* add(counts, edits, plain, messages)
  yield
  const { point } = compaction
  const inView = new Set(visible)
  const isWholeThere = (index: number): boolean => inView.has(index) && !edits.clips.has(index)
  const { fold } = compaction
  const isFolded = fold !== null && (before !== null || after !== null)
  const areNamed = profile.recall.enabled
  const world = isFolded ? yield* worldAt(history, point, isWholeThere, areNamed, fold) : null
  const beside: Beside = { visible, shortened, summaries: [], world }
  // A recap before the latest user message leaves out only what is pinned: so it stays the same, and in the
  // provider's cache, while further compactions of the same turn move the tail.
  const alone: Beside = { visible: pinned, shortened: [], summaries: [], world: null }
  yield* addStandIns(counts, before, latestUser === null ? beside : alone, messages)
  if (latestUser !== null) yield* add(counts, edits, [latestUser], messages)
  yield* addStandIns(counts, after, beside, messages)
  if (!isLast) yield* add(counts, edits, plain, messages)
  const own = systems.find((index) => index >= tail)
  yield* add(counts, edits, between(tail, own ?? resumeAt), messages)
  const system = yield* joinedSystem(history, systems)
  if (system !== null) messages.push(system)
  yield* add(counts, edits, between(resumeAt, compaction.point), messages)
  standingViews.set(history.messages, { messages, compaction, profile, memorySpace })
  return messages
}

/**
 * The messages before its point that a compaction leaves out or shortens, ascending. What it only renders loses nothing: a
 * terminal would show the same.
 */
export function* lostMessages(
  history: History,
  profile: Profile,
  cache: MadeCache,
  compaction: Compaction,
): Pausable<readonly number[]> {
  const whole = new Set<number | null>()
  for (const { index, how } of yield* standingView(countsOf(history, profile, cache), compaction))
    if (isWhole(how)) whole.add(index)
  const lost: number[] = []
  for (let index = history.structure.systemCount; index < compaction.point; index += 1)
    if (!whole.has(index) && history.messages[index]?.facts.bound !== 'whole') lost.push(index)
  return lost
}

// --- internal ---

/** Whether all of a message can be read. */
function isWhole(how: string): boolean {
  return how === 'kept' || how === 'unbound' || how === 'resolved' || isLossless(how)
}

const otherPassOf = {
  kept: null,
  unbound: null,
  resolved: null,
  cleared: 'clear',
  clipped: 'clip',
  unloaded: 'clip',
  summary: 'fold',
  recap: 'fold',
} as const satisfies Record<Exclude<ViewMessage['how'], TextTreatment>, PassName | null>

const passOf: Readonly<Record<string, PassName | null>> = {
  ...otherPassOf,
  ...Object.fromEntries(textPasses.map(({ treatment, name }) => [treatment, name])),
}

/** By the messages of a body: a view is kept as long as they are, to be found again. */
const standingViews = new WeakMap<
  readonly Message[],
  { messages: readonly ViewMessage[]; compaction: Compaction; profile: Profile; memorySpace: string }
>()

/** The view that was made for this conversation or for the one that it grew from; null where none was. */
function foundView({ history, profile }: TokenCounts, compaction: Compaction): readonly ViewMessage[] | null {
  const { messages, grewFrom, memorySpace } = history
  const isLonger = grewFrom !== null && grewFrom.shared >= compaction.point
  const view = standingViews.get(messages) ?? (isLonger ? standingViews.get(grewFrom.messages) : undefined)
  if (view?.compaction !== compaction || view.profile !== profile || view.memorySpace !== memorySpace)
    return null
  standingViews.set(messages, view)
  return view.messages
}

/** Adds these messages of the client's, edited. */
function* add(
  { history, editOf, make }: TokenCounts,
  edits: Edits,
  indexes: Iterable<number>,
  into: ViewMessage[],
): Pausable<void> {
  for (const index of indexes) {
    yield
    const edit = editOf(index, edits)
    if (edit === null) continue
    let shown = originalMessage(history, index)
    const made = edit === AS_IT_CAME ? null : yield* make(index, edit)
    if (made !== null && made.text !== null && made.how !== null) {
      const { text: json, tokens, how } = made
      shown = { ...shown, item: { kind: 'made', json, place: index }, tokens, how }
    }
    into.push(isNamedByThoughts(history, index, edits) ? unbound(history, shown) : shown)
  }
}

/** Whether the server would demand the thoughts before a message that are taken out. */
function isNamedByThoughts(history: History, index: number, edits: Edits): boolean {
  if (index >= edits.point || history.messages[index]?.facts.bound !== 'follows') return false
  return firstTakenOut(history, history.structure.unitStart(index), edits) < index
}

/** By the edits of a view: each of the tens of thousands of messages that a unit may have asks for the same. */
const firstsTakenOut = remembering(
  (edits: Edits) => edits,
  () => new Map<number, number>(),
)

/** The first thoughts of a unit that are taken out; beyond all messages if none are. */
function firstTakenOut(history: History, unit: number, edits: Edits): number {
  const { structure } = history
  const known = firstsTakenOut(edits)
  const found = known.get(unit)
  if (found !== undefined) return found
  let first = Infinity
  for (let index = unit; first === Infinity && structure.unitStart(index) === unit; index += 1)
    if (isTakenOut(history, index, edits)) first = index
  known.set(unit, first)
  return first
}

/** The message without what only holds with the thoughts that were taken out. */
function unbound({ source, messages, dialect }: History, message: ViewMessage): ViewMessage {
  const { item } = message
  const place = item.kind === 'kept' ? item.index : item.place
  const span = place === undefined ? undefined : messages[place]
  if (span === undefined || place === undefined) return message
  const json = item.kind === 'made' ? item.json : source.text(span.start, span.end)
  return { ...message, item: { kind: 'made', json: dialect.entries.unbound(json), place } }
}

/** Adds what stands for a run of folded messages. */
function* addStandIns(
  { history, profile, cache }: TokenCounts,
  part: FoldedPart | null,
  beside: Beside,
  into: ViewMessage[],
): Pausable<void> {
  if (part === null) return
  const { summaries, recap } = part
  for (const summary of summaries)
    into.push(standIn(history, 'summary', summaryText(summary), summary.tokens, summary))
  if (recap === null) return
  const made = yield* recapOf(history, recap, { ...beside, summaries }, cache, profile)
  if (made.text !== null) into.push(standIn(history, 'recap', made.text, made.tokens, recap))
}

/**
 * How messages that hold for all that follows are said again behind a fold, before the tail from `tail` up to `point`. `plain`:
 * those that may stand wherever they are put; `systems`: those that have to become one, before an entry of the model's or at
 * the end; `resumeAt`: where the tail goes on behind that place, and behind a system message of its own there.
 */
function restatedIn(
  { dialect, messages }: History,
  restated: readonly number[],
  tail: number,
  point: number,
) {
  const isSystem = (index: number): boolean => messages[index]?.facts.role === 'system'
  const systems = dialect.entries.joinedSystems === undefined ? [] : restated.filter(isSystem)
  if (systems.length === 0) return { plain: restated, systems, resumeAt: tail }
  let resumeAt = tail
  while (resumeAt < point && messages[resumeAt]?.facts.role === 'user') resumeAt += 1
  if (resumeAt < point && isSystem(resumeAt)) systems.push(resumeAt++)
  return { plain: restated.filter((index) => !isSystem(index)), systems, resumeAt }
}

/** System messages as one; null where nothing of them is left to say. */
function* joinedSystem(history: History, systems: readonly number[]): Pausable<ViewMessage | null> {
  const { dialect, source, messages } = history
  const [first] = systems
  if (first === undefined || dialect.entries.joinedSystems === undefined) return null
  const texts = systems.values().map((index) => {
    const { start, end } = messages[index] ?? { start: 0, end: 0 }
    return source.text(start, end)
  })
  const base = originalMessage(history, first)
  const json = yield* dialect.entries.joinedSystems(texts)
  if (json === null) return null
  if (systems.length === 1) return base
  const tokens = sum(systems.map((index) => history.sizes[index] ?? 0))
  return { ...base, item: { kind: 'made', json }, tokens }
}
