/**
 * Raised whenever a release changes the bytes of a view. Records of another version are still followed
 * until their conversation's next compaction.
 */
export const FOLD_VERSION = 2

/** What made a compaction necessary. `overflow`: the upstream refused the view before it. */
export type CompactionReason = 'trigger' | 'every' | 'limit' | 'forced' | 'overflow'

/** How far each of the passes that treat single messages reaches: indexes below it are treated. */
export type Reach = { readonly render: number; readonly preview: number; readonly clear: number }

/** What lies between the pinned head and `frontier` is replaced by summaries and recaps, together of at most these sizes. */
export type Fold = {
  readonly frontier: number
  /** Messages before the frontier that stay all the same, ascending: requests and replies of old turns. */
  readonly kept: readonly number[]
  /** Cap of what stands for that before the latest user message, in tokens; 0 where nothing does. */
  readonly beforeTokensMax: number
  /** Cap of what stands for that behind it, in tokens; 0 where the frontier has not passed it. */
  readonly afterTokensMax: number
  /** How much of either recap quoted system messages may take, in tokens. */
  readonly systemTokensMax: number
  /** What models have written: each stands for its range. In the order of their ranges. */
  readonly summaries: readonly StandingSummary[]
  /** Whether recaps stand beside them, for what they do not name; else only for what none of them covers. */
  readonly recapsBeside: boolean
}

/** The messages that a summary stands for: those from `start` up to `end` but for `except`, which were pinned. */
export type SummaryRange = {
  readonly start: number
  readonly end: number
  /** Ascending. */
  readonly except: readonly number[]
}

/** A summary by a model that stands in a view for the messages of its range. */
export type StandingSummary = SummaryRange & {
  /** The system messages among them, word for word; empty where there are none. */
  readonly quoted: string
  /** What the model wrote. */
  readonly text: string
  /** What it weighs, quotes, note and the words around it included. */
  readonly tokens: number
  /** Where what it stands for can be read back; '' where nowhere. No part of `text`, which later summaries are made of. */
  readonly note: string
}

/**
 * A message that is shortened: its contents, from what the passes left of them at the time, to a size in
 * tokens of the whole message; or its media, of which the last so many stay.
 */
export type Clip =
  | { readonly kind: 'content'; readonly index: number; readonly of: Clippable; readonly tokensMax: number }
  | { readonly kind: 'media'; readonly index: number; readonly mediaKept: number }

/** What a clip starts from: so it stays the same bytes when a later compaction's passes reach over it. */
export type Clippable = 'kept' | 'rendered' | 'previewed'

/**
 * One compaction: together with the conversation it determines the view. It replaces the compaction before
 * it, whose treatments it carries on. Indexes count from the conversation's first message.
 */
export type Compaction = {
  readonly version: number
  readonly reason: CompactionReason
  /** The request point: everything below depends on the messages before it only (P5). */
  readonly point: number
  /** The pinned task, -1 where there is none or it is not kept. */
  readonly task: number
  /** The latest user message at the time, -1 where there is none. */
  readonly latestUser: number
  readonly reach: Reach
  readonly fold: Fold | null
  readonly clips: readonly Clip[]
}

/**
 * A compaction as text for the store. Indexes are written relative to the end of the leading system block,
 * so that a client that adds or drops a system message there finds its compactions again.
 */
export function writeCompaction(compaction: Compaction, systemCount: number): string {
  return JSON.stringify(withoutEmptyNotes(shifted(compaction, -systemCount)))
}

/** A range of messages, counted from another one: see `writeCompaction`. */
export function shiftedRange<Range extends SummaryRange>(range: Range, by: number): Range {
  return {
    ...range,
    start: range.start + by,
    end: range.end + by,
    except: range.except.map((index) => index + by),
  }
}

/** The compaction that `writeCompaction` wrote; null where the text is none, so that a damaged record costs a cache miss. */
export function readCompaction(text: string, systemCount: number): Compaction | null {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return null
  }
  return isCompaction(value) ? shifted(completed(value), systemCount) : null
}

// --- internal ---

const reasons: readonly unknown[] = [
  'trigger',
  'every',
  'limit',
  'forced',
  'overflow',
] satisfies CompactionReason[]

function shifted(compaction: Compaction, by: number): Compaction {
  const pinned = (index: number): number => (index === NO_INDEX ? NO_INDEX : index + by)
  return {
    ...compaction,
    point: compaction.point + by,
    task: pinned(compaction.task),
    latestUser: pinned(compaction.latestUser),
    reach: {
      render: compaction.reach.render + by,
      preview: compaction.reach.preview + by,
      clear: compaction.reach.clear + by,
    },
    fold: compaction.fold === null ? null : shiftedFold(compaction.fold, by),
    clips: compaction.clips.map((clip) => ({ ...clip, index: clip.index + by })),
  }
}

function shiftedFold(fold: Fold, by: number): Fold {
  return {
    ...fold,
    frontier: fold.frontier + by,
    kept: fold.kept.map((index) => index + by),
    summaries: fold.summaries.map((summary) => shiftedRange(summary, by)),
  }
}

type Added = 'kept' | 'recapsBeside'

/** A summary as it is written: with a note only where it has one, so that records stay what they were before there were notes. */
type WrittenSummary = Omit<StandingSummary, 'note'> & Partial<Pick<StandingSummary, 'note'>>

/** A compaction as it may have been written before folds kept anything or held summaries. */
type WrittenCompaction = Omit<Compaction, 'fold'> & {
  readonly fold:
    | (Omit<Fold, Added | 'summaries'> &
        Partial<Pick<Fold, Added>> & { readonly summaries?: readonly WrittenSummary[] })
    | null
}

function withoutEmptyNotes(compaction: Compaction): WrittenCompaction {
  const { fold } = compaction
  if (fold === null) return { ...compaction, fold }
  const summaries = fold.summaries.map(({ note, ...summary }) =>
    note === '' ? summary : { ...summary, note },
  )
  return { ...compaction, fold: { ...fold, summaries } }
}

function completed(compaction: WrittenCompaction): Compaction {
  const { fold } = compaction
  if (fold === null) return { ...compaction, fold: null }
  // Members stay where they were written: compactions are compared as text.
  const { kept = [], recapsBeside = false } = fold
  const summaries = (fold.summaries ?? []).map((summary) => ({ ...summary, note: summary.note ?? '' }))
  return { ...compaction, fold: { ...fold, kept, summaries, recapsBeside } }
}

/**
 * "None" for a pinned message. It has to differ from every relative index: a pinned message never lies in
 * the leading system block, so relative indexes are never negative.
 */
const NO_INDEX = -1

function isCompaction(value: unknown): value is WrittenCompaction {
  if (!isRecord(value)) return false
  const { version, reason, point, task, latestUser, reach, fold, clips } = value
  return (
    Number.isInteger(version) &&
    reasons.includes(reason) &&
    areIntegers([point, task, latestUser]) &&
    isRecord(reach) &&
    areIntegers([reach['render'], reach['preview'], reach['clear']]) &&
    (fold === null || isFold(fold)) &&
    Array.isArray(clips) &&
    clips.every(isClip)
  )
}

function isFold(fold: unknown): boolean {
  if (!isRecord(fold)) return false
  const { frontier, kept, beforeTokensMax, afterTokensMax, systemTokensMax, summaries, recapsBeside } = fold
  return (
    areIntegers([frontier, beforeTokensMax, afterTokensMax, systemTokensMax]) &&
    (kept === undefined || (Array.isArray(kept) && areIntegers(kept))) &&
    (summaries === undefined || (Array.isArray(summaries) && summaries.every(isSummary))) &&
    (recapsBeside === undefined || typeof recapsBeside === 'boolean')
  )
}

function isSummary(summary: unknown): boolean {
  if (!isRecord(summary)) return false
  const { start, end, except, quoted, text, tokens, note } = summary
  return (
    areIntegers([start, end, tokens]) &&
    Array.isArray(except) &&
    areIntegers(except) &&
    typeof quoted === 'string' &&
    typeof text === 'string' &&
    (note === undefined || typeof note === 'string')
  )
}

function isClip(clip: unknown): clip is Clip {
  if (!isRecord(clip)) return false
  if (clip['kind'] === 'media') return areIntegers([clip['index'], clip['mediaKept']])
  return (
    clip['kind'] === 'content' &&
    clippables.includes(clip['of']) &&
    areIntegers([clip['index'], clip['tokensMax']])
  )
}

const clippables: readonly unknown[] = ['kept', 'rendered', 'previewed'] satisfies Clippable[]

function areIntegers(values: readonly unknown[]): boolean {
  return values.every((value) => Number.isInteger(value))
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
