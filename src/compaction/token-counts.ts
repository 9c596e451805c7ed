import { countBelow } from '../conversation/structure.ts'
import type { Pausable } from '../json/source.ts'
import type { Treatment } from './compaction.ts'
import { editAt, type Edits, editsOf } from './edits.ts'
import { layoutOf, partTokens } from './folded-parts.ts'
import type { MadeCache } from './made-cache.ts'
import type { Profile } from '../profiles/schema.ts'
import { runsAlways } from './passes/passes.ts'
import { sumOf } from '../conversation/sizes.ts'
import { anyHasBoundThoughts, readableTokens, type History } from './history/history.ts'
import { type Edit, isUncut, messageEditor } from './edit-message.ts'

/**
 * A conversation under a profile, with what each of its messages takes in tokens as it came and edited: the arithmetic that
 * plans are made of. Sums over messages that are sent as they came cost nothing, whatever their number.
 */
export type TokenCounts = ReturnType<typeof createCounts>

/** The token counts of a conversation: the same ones for the compaction, the summary and the view of one request. */
export function countsOf(history: History, profile: Profile, cache: MadeCache): TokenCounts {
  const latest = latestBySubject.get(history)
  if (latest?.profile === profile && latest.cache === cache) return latest
  const counts = createCounts(history, profile, cache)
  latestBySubject.set(history, counts)
  return counts
}

/**
 * Tokens of the view of a compaction up to `end`, without the leading system block, as planned: recaps take their caps. The
 * view that is written is never larger.
 */
export function* plannedTokens(counts: TokenCounts, compaction: Treatment, end: number): Pausable<number> {
  const layout = layoutOf(compaction, counts.history.structure.systemCount)
  const edits = editsOf(compaction)
  let tokens = partTokens(layout.before) + partTokens(layout.after)
  for (const index of layout.pinned) tokens += yield* counts.editedTokens(index, index + 1, edits)
  return tokens + (yield* counts.editedTokens(layout.tail, end, edits))
}

/** The indexes from `start` up to `end`. */
export function* between(start: number, end: number): Generator<number> {
  for (let index = start; index < end; index += 1) yield index
}

// --- internal ---

const latestBySubject = new WeakMap<History, TokenCounts>()

/** Messages that are counted between two pauses: less than a millisecond. */
const MESSAGES_PER_STEP = 1024

function createCounts(history: History, profile: Profile, cache: MadeCache) {
  const { messages, sizes } = history
  const editsAlways = runsAlways(profile)
  const make = messageEditor(history, profile, cache)
  const editOf = (index: number, edits: Edits): Edit | null => editAt(history, profile, index, edits)
  // Before the point of a compaction bound thoughts take nothing.
  const boundless = anyHasBoundThoughts(messages)
    ? sizes.map((_, index) => readableTokens(history, index))
    : sizes
  // Counted over all calls: plans look at tens of thousands of messages one by one.
  let counted = 0

  function* editedTokens(start: number, end: number, edits: Edits): Pausable<number> {
    if (start >= end) return 0
    let editedEnd = end
    if (!editsAlways && end > start + 1) {
      const { reach, clips, cleared } = edits
      let furthest = Math.max(0, ...Object.values(reach))
      for (const index of clips.keys()) furthest = Math.max(furthest, index)
      for (const index of cleared) furthest = Math.max(furthest, index)
      editedEnd = Math.max(start, Math.min(end, furthest + 1))
    }
    const boundEnd = Math.min(end, Math.max(editedEnd, edits.point))
    let tokens = sumOf(boundless, editedEnd, boundEnd) + sumOf(sizes, boundEnd, end)
    for (const index of referencesBetween(history, editedEnd, end)) {
      const edit = editOf(index, edits)
      if (edit !== null && edit.resolves !== null && isUncut(edit)) tokens += growthAt(history, index)
    }
    // Whatever there are fewer of: plans ask for one message at a time, and of thoughts there may be thousands.
    const stretch = boundEnd - editedEnd
    const among = stretch < edits.thoughts.size ? between(editedEnd, boundEnd) : edits.thoughts
    for (const index of among)
      if (index >= editedEnd && index < boundEnd && edits.thoughts.has(index))
        tokens += (sizes[index] ?? 0) - (boundless[index] ?? 0)
    for (let index = start; index < editedEnd; index += 1) {
      counted += 1
      if (counted % MESSAGES_PER_STEP === 0) yield
      const edit = editOf(index, edits)
      if (edit === null) continue
      if (!isUncut(edit)) tokens += (yield* make(index, edit)).tokens
      else if (edit.isUnbound) tokens += boundless[index] ?? 0
      else tokens += (sizes[index] ?? 0) + (edit.resolves === null ? 0 : growthAt(history, index))
    }
    return tokens
  }

  const unboundTokens = (start: number, end: number): number => {
    let tokens = sumOf(boundless, start, end)
    for (const index of referencesBetween(history, start, end)) {
      const { holders, position } = history.references.byIndex.get(index) ?? { holders: [], position: 0 }
      if ((holders[position - 1] ?? start) < start) tokens += growthAt(history, index)
    }
    return tokens
  }

  function* followingTokens(index: number, end: number, edits: Edits): Pausable<number> {
    let tokens = 0
    for (const holder of history.references.followersOf(index)) {
      if (holder >= end) break
      tokens += yield* editedTokens(holder, holder + 1, edits)
    }
    return tokens
  }

  return {
    history,
    profile,
    cache,
    /** Tokens of the messages from `start` up to `end` as the client sent them. */
    originalTokens: (start: number, end: number) => sumOf(sizes, start, end),
    /**
     * The same of messages before the point of a compaction, from which bound thoughts go, and of references with the text that
     * they refer to, if it does not stand among them.
     */
    unboundTokens,
    /** The same, edited where the edits reach. */
    editedTokens,
    /** What the results before `end` take that refer to a message, or to what it refers to: they have its text once it is gone. */
    followingTokens,
    /** What the edits do to a message; null if it does not stay. */
    editOf,
    /** The message under this edit. */
    make,
  }
}

function growthAt({ references }: History, index: number): number {
  return references.byIndex.get(index)?.growthTokens ?? 0
}

function referencesBetween(
  { references: { indexes } }: History,
  start: number,
  end: number,
): readonly number[] {
  return indexes.length === 0 ? indexes : indexes.slice(countBelow(indexes, start), countBelow(indexes, end))
}
