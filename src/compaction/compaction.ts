import { z } from 'zod'
import { parseJsonText } from '../json/json-value.ts'
import { type Reach, reachingPasses, textPasses } from './passes/passes.ts'

/**
 * Raised whenever a release changes the bytes of a view. Records of another version are still followed
 * until their conversation's next compaction.
 */
export const FOLD_VERSION = 3

/**
 * What made a compaction necessary. `overflow`: the upstream refused the view before it; `thoughts`: it refused thoughts in
 * that, which is all that is taken out.
 */
export type CompactionReason = Compaction['reason']

/**
 * One compaction: together with the conversation it determines the view. It replaces the compaction before it, whose edits
 * it carries on. Indexes count from the conversation's first message.
 */
export type Compaction = z.output<typeof compactionSchema>

/** What a compaction does, whatever made it necessary. */
export type Treatment = Omit<Compaction, 'version' | 'reason'>

/** A compaction that does nothing yet: what the first one starts from. */
export const UNTOUCHED: Treatment = {
  point: 0,
  task: -1,
  latestUser: -1,
  reach: Object.fromEntries(reachingPasses.map((pass) => [pass, 0])),
  fold: null,
  clips: [],
  cleared: [],
  thoughts: [],
}

/** What lies between the pinned head and `frontier` is replaced by summaries and recaps, together of at most these sizes. */
export type Fold = z.output<typeof foldSchema>

/** A fold that was planned ahead, with the summaries that were written for it. */
export type PreparedFold = Pick<Fold, 'frontier' | 'kept' | 'summaries'>

/** The messages that a summary stands for: those from `start` up to `end` but for `except` (ascending), which were pinned. */
export type SummaryRange = Pick<StandingSummary, 'start' | 'end' | 'except'>

/** A summary by a model that stands in a view for the messages of its range. */
export type StandingSummary = z.output<typeof summarySchema>

/**
 * A message that is shortened: its contents, from what the passes left of them at the time, to a size in
 * tokens of the whole message; or its media, of which the last so many stay.
 */
export type Clip = z.output<typeof clipSchema>

/** The compaction that does this. Its members stand in the order of records, which are compared as text. */
export function compactionOf(reason: CompactionReason, treatment: Treatment): Compaction {
  const { point, task, latestUser, reach, fold, clips, cleared, thoughts } = treatment
  return { version: FOLD_VERSION, reason, point, task, latestUser, reach, fold, clips, cleared, thoughts }
}

/**
 * A compaction as text for the store. Indexes are written relative to the end of the leading system block,
 * so that a client that adds or drops a system message there finds its compactions again.
 */
export function writeCompaction(compaction: Compaction, systemCount: number): string {
  return JSON.stringify(shifted(compaction, -systemCount))
}

/** The compaction that `writeCompaction` wrote; null where the text is none, so that a damaged record costs a cache miss. */
export function readCompaction(text: string, systemCount: number): Compaction | null {
  const { data } = compactionSchema.safeParse(parseJsonText(text))
  return data === undefined ? null : shifted(data, systemCount)
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

/**
 * What of a compaction lies before `point`, for a conversation that is the one it was made for up to there and goes on in
 * another way: the messages before `point` are edited as they were. Null where something that it folded lies behind, or
 * where nothing of it lies before.
 */
export function compactionUpTo(compaction: Compaction, point: number): Compaction | null {
  if (compaction.point <= point) return compaction
  const { fold, task, latestUser } = compaction
  const isBefore = (index: number): boolean => index < point
  if (task >= point || (fold !== null && fold.frontier > point)) return null
  const clips = compaction.clips.filter(({ index }) => isBefore(index))
  const cleared = compaction.cleared.filter(isBefore)
  const thoughts = compaction.thoughts.filter(isBefore)
  const reach = moved(compaction.reach, (index) => Math.min(index, point))
  const isEmpty =
    fold === null && clips.length + cleared.length === 0 && Math.max(0, ...Object.values(reach)) === 0
  if (isEmpty && compaction.reason !== 'thoughts') return null
  // What was sent otherwise came later still.
  const { elsewhere: _elsewhere, ...own } = compaction
  return {
    ...own,
    point,
    latestUser: isBefore(latestUser) ? latestUser : NO_INDEX,
    reach,
    clips,
    cleared,
    thoughts,
  }
}

// --- internal ---

// What was added since version 1 has a default: records are followed whatever release wrote them. Members stand in the
// order of `compactionOf`.

const integer = z.int()
const integers = z.array(integer).readonly()

const summarySchema = z
  .object({
    start: integer,
    end: integer,
    except: integers,
    /** The system messages among them, word for word; empty where there are none. */
    quoted: z.string(),
    /** What the model wrote. */
    text: z.string(),
    /** What it weighs, quotes, note and the words around it included. */
    tokens: integer,
    /** Where what it stands for can be read back; '' where nowhere. No part of `text`, which later summaries are made of. */
    note: z.string().default(''),
  })
  .readonly()

const foldSchema = z
  .object({
    frontier: integer,
    /** Messages before the frontier that stay all the same, ascending: requests and replies of old turns. */
    kept: integers.default([]),
    /** Messages before the frontier that hold for all that follows, ascending: tools that were added, for example. */
    restated: integers.default([]),
    /** Cap of what stands for that before the latest user message, in tokens; 0 where nothing does. */
    beforeTokensMax: integer,
    /** Cap of what stands for that behind it, in tokens; 0 where the frontier has not passed it. */
    afterTokensMax: integer,
    /** How much of either recap quoted system messages may take, in tokens. */
    systemTokensMax: integer,
    /** How much of the last recap is for what stands there word for word: what was asked to be kept, and open work. In tokens. */
    keptTokensMax: integer.default(0),
    /** What models have written: each stands for its range. In the order of their ranges. */
    summaries: z.array(summarySchema).readonly().default([]),
    /** Whether recaps stand beside them, for what they do not name; else only for what none of them covers. */
    recapsBeside: z.boolean().default(false),
  })
  .readonly()

const clipSchema = z.discriminatedUnion('kind', [
  z
    .object({
      kind: z.literal('content'),
      index: integer,
      of: z.enum(['kept', ...textPasses.map(({ treatment }) => treatment)]),
      tokensMax: integer,
    })
    .readonly(),
  z.object({ kind: z.literal('media'), index: integer, mediaKept: integer }).readonly(),
])

const compactionSchema = z
  .object({
    version: integer,
    reason: z.enum(['trigger', 'every', 'limit', 'forced', 'overflow', 'thoughts']),
    /** The request point: everything below depends on the messages before it only (P5). */
    point: integer,
    /** The pinned task, -1 where there is none or it is not kept. */
    task: integer,
    /** The latest user message at the time, -1 where there is none. */
    latestUser: integer,
    /** What earlier releases cleared lies before `clear`; what this one clears is among `cleared`. */
    reach: z.record(z.string(), integer).transform(knownReach),
    fold: foldSchema.nullable(),
    clips: z.array(clipSchema).readonly(),
    /** Results that are cleared, ascending. */
    cleared: integers.default([]),
    /** Thoughts before the point that still hold, as nothing before them has changed, ascending. */
    thoughts: integers.default([]),
    /**
     * Requests behind its point, by where they ended and the keys there, that were sent in another form: what was thought in
     * reply to one of them holds in that form alone.
     */
    elsewhere: z
      .array(z.object({ point: integer, key: z.string() }).readonly())
      .readonly()
      .optional(),
  })
  .readonly()

/**
 * "None" for a pinned message. It has to differ from every relative index: a pinned message never lies in
 * the leading system block, so relative indexes are never negative.
 */
const NO_INDEX = -1

/** What of a reach this release knows, in the order of its passes: another one may have more of them. */
function knownReach(reach: Readonly<Record<string, number>>): Reach {
  return Object.fromEntries(
    reachingPasses.flatMap((pass) => (reach[pass] === undefined ? [] : [[pass, reach[pass]]])),
  )
}

function moved(reach: Reach, move: (index: number) => number): Reach {
  return Object.fromEntries(Object.entries(reach).map(([pass, index]) => [pass, move(index)]))
}

function shifted(compaction: Compaction, by: number): Compaction {
  const { point, task, latestUser, reach, fold, clips, cleared, thoughts, elsewhere } = compaction
  const move = (index: number): number => index + by
  const movePinned = (index: number): number => (index === NO_INDEX ? NO_INDEX : index + by)
  return {
    ...compaction,
    point: move(point),
    task: movePinned(task),
    latestUser: movePinned(latestUser),
    reach: moved(reach, move),
    fold: fold && {
      ...fold,
      frontier: move(fold.frontier),
      kept: fold.kept.map(move),
      restated: fold.restated.map(move),
      summaries: fold.summaries.map((summary) => shiftedRange(summary, by)),
    },
    clips: clips.map((clip) => ({ ...clip, index: move(clip.index) })),
    cleared: cleared.map(move),
    thoughts: thoughts.map(move),
    ...(elsewhere && { elsewhere: elsewhere.map((each) => ({ ...each, point: move(each.point) })) }),
  }
}
