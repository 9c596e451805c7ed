import type { Ledger } from '../ledger.ts'
import type { Pins } from './pins.ts'
import { recapTokensOf, type RecapCaps } from './recap-caps.ts'
import type { Fold, StandingSummary, Compaction } from '../compaction.ts'
import { isSystem, type Subject } from '../subject.ts'

export type FoldingOptions = {
  readonly pins: Pins
  readonly caps: RecapCaps
  /** The compaction before. While a turn goes on, the recap of what lies before it does not grow. */
  readonly previous: Compaction | null
  /** Summaries that may stand in the fold, in their order: those do whose range is folded, if there is room for them. */
  readonly summaries: readonly StandingSummary[]
  /** Whether recaps stand beside summaries. */
  readonly recapsBeside: boolean
  /** Where a summary is only planned: what one may take at most, in tokens; it stands for all of its run. Else null. */
  readonly plannedTokensMax: number | null
}

/**
 * The fold at a frontier, with what it keeps of old turns before it. `shortenedTokens`: what was cleared or shortened behind
 * it, which its recap quotes and names too.
 */
export type FoldAt = (frontier: number, kept?: readonly number[], shortenedTokens?: number) => Fold

/**
 * The fold at any frontier: summaries and a recap for what lies before the latest user message, the same for what
 * follows it where the frontier has passed it, and quoted system messages on top. Nothing has more room than what
 * it replaces, which is everything but the task and what is kept of old turns.
 */
export function folding(subject: Subject, ledger: Ledger, options: FoldingOptions): FoldAt {
  const { pins, previous, recapsBeside, plannedTokensMax } = options
  const { recapTokensMax, tokensMax, besideTokensMin, togetherTokensMax, systemTokensMax } = options.caps
  const { systemCount } = subject.structure
  const passed = pins.latestUser !== -1 && pins.latestUser !== pins.task ? pins.latestUser : null
  const isFitting = plannedTokensMax === null && sum(options.summaries, ({ tokens }) => tokens) <= tokensMax
  const fitting = isFitting ? options.summaries : []
  const coveredSizes = new Map(fitting.map((summary) => [summary, coveredTokens(subject, ledger, summary)]))
  const quotedBefore = quotedTokens(subject, systemCount, systemTokensMax)
  const quotedAfter = quotedTokens(subject, (passed ?? systemCount) + 1, systemTokensMax)
  const standing = passed === null ? null : standingBefore(previous, pins)

  /** What summaries of a run weigh, and what of it goes into a recap. */
  function partAt(start: number, end: number, staying: ReadonlySet<number>) {
    const summaries = fitting.filter((summary) => summary.start >= start && summary.end <= end)
    let foldedTokens = ledger.originalTokens(start, end)
    for (const index of staying) if (index >= start && index < end) foldedTokens -= subject.sizes[index] ?? 0
    const summarisedTokens =
      plannedTokensMax === null ? sum(summaries, (summary) => coveredSizes.get(summary) ?? 0) : foldedTokens
    const writtenTokens =
      plannedTokensMax === null
        ? sum(summaries, ({ tokens }) => tokens)
        : Math.min(foldedTokens, plannedTokensMax)
    const leftTokens = recapsBeside ? foldedTokens : Math.max(0, foldedTokens - summarisedTokens)
    return { summaries, writtenTokens, leftTokens }
  }

  return function foldAt(frontier, kept = [], shortenedTokens = 0) {
    const staying = new Set([pins.task, ...kept])
    const latest = passed !== null && passed < frontier - 1 ? passed : null
    const before = partAt(systemCount, latest ?? frontier, staying)
    const after = latest === null ? NO_PART : partAt(latest + 1, frontier, staying)
    const writtenTokens = before.writtenTokens + after.writtenTokens
    const besideTokens =
      recapsBeside && writtenTokens > 0 ? Math.min(besideTokensMin, togetherTokensMax - writtenTokens) : 0
    const roomTokens = Math.max(besideTokens, Math.min(recapTokensMax, tokensMax - writtenTokens))
    // What was shortened lies behind the frontier, and is told in the recap before it.
    const [beforeLeft, afterLeft] =
      latest === null
        ? [before.leftTokens + shortenedTokens, 0]
        : [before.leftTokens, after.leftTokens + shortenedTokens]
    const afterMost = Math.min(recapTokensOf(afterLeft), Math.floor(roomTokens * AFTER_SHARE))
    const beforeRecap =
      Math.min(
        recapTokensOf(beforeLeft),
        Math.max(roomTokens - doubled(afterMost), Math.floor(roomTokens * (1 - AFTER_SHARE))),
      ) + quotedBefore(latest ?? frontier)
    const isRecapOnly = before.writtenTokens === 0 && latest !== null
    // The same bytes stay in the provider's cache, as long as they leave the latest turn its share.
    const isStanding =
      isRecapOnly && standing !== null && standing <= roomTokens - Math.min(afterMost, roomTokens / 4)
    const beforeTokens = isStanding ? standing : beforeRecap
    const afterRecap = isStanding ? Math.min(afterMost, Math.floor(roomTokens - standing)) : afterMost
    return {
      frontier,
      kept,
      beforeTokensMax: before.writtenTokens + Math.max(0, beforeTokens),
      afterTokensMax:
        latest === null ? 0 : after.writtenTokens + Math.max(0, afterRecap) + quotedAfter(frontier),
      systemTokensMax,
      summaries: [...before.summaries, ...after.summaries],
      recapsBeside,
    }
  }
}

// --- internal ---

const NO_PART = { summaries: [], writtenTokens: 0, leftTokens: 0 } as const

/** Of two recaps the one of the latest turn takes at most this share of the room. */
const AFTER_SHARE = 0.5

/** The words around a quoted system message. */
const QUOTE_TOKENS = 4

function sum<Item>(items: readonly Item[], of: (item: Item) => number): number {
  return items.reduce((total, item) => total + of(item), 0)
}

/** What the client sent of what a summary stands for. */
function coveredTokens(subject: Subject, ledger: Ledger, { start, end, except }: StandingSummary): number {
  return ledger.originalTokens(start, end) - sum(except, (index) => subject.sizes[index] ?? 0)
}
/**
 * What the recap of the latest turn takes of the room of both, in doublings: so the recap before it keeps its
 * size, and its place in the provider's cache, while a turn goes on.
 */
function doubled(afterTokens: number): number {
  return afterTokens === 0 ? 0 : 2 ** Math.ceil(Math.log2(afterTokens))
}

/** The cap of the recap before the latest user message, where the compaction before had one before the same message. */
function standingBefore(previous: Compaction | null, pins: Pins): number | null {
  const isSameTurn =
    previous !== null && previous.latestUser === pins.latestUser && previous.task === pins.task
  const fold = isSameTurn ? previous.fold : null
  const isRecapOnly = fold !== null && !fold.summaries.some(({ end }) => end <= pins.latestUser)
  return isRecapOnly && pins.latestUser < fold.frontier - 1 ? fold.beforeTokensMax : null
}

/** What the distinct system messages from `start` up to an end take when they are quoted. */
function quotedTokens(subject: Subject, start: number, tokensMax: number): (end: number) => number {
  const known = quotesBySubject.get(subject) ?? new Map<number, Quotes>()
  quotesBySubject.set(subject, known)
  const quotes = known.get(start) ?? { seen: new Set(), sums: [0] }
  // The start behind the system messages stays the same; the one behind the latest user message moves on.
  if (!known.has(start) && known.size >= STARTS_MAX) known.delete([...known.keys()].at(-1) ?? start)
  known.set(start, quotes)
  return (end) => {
    extend(quotes, subject, start, end)
    return Math.min(tokensMax, quotes.sums[Math.max(0, end - start)] ?? 0)
  }
}

/** Sums up to one message after the other, as far as they were asked for. */
type Quotes = { readonly seen: Set<string>; readonly sums: number[] }

/**
 * A compaction is planned anew at many request points of the same conversation: what each of them would add up again is
 * added up once.
 */
const quotesBySubject = new WeakMap<Subject, Map<number, Quotes>>()

const STARTS_MAX = 2

function extend({ seen, sums }: Quotes, subject: Subject, start: number, end: number): void {
  for (let index = start + sums.length - 1; index < Math.min(end, subject.messages.length); index += 1) {
    const meaning = subject.messages[index]?.facts.meaning ?? ''
    const isNew = isSystem(subject, index) && !seen.has(meaning)
    if (isNew) seen.add(meaning)
    sums.push((sums.at(-1) ?? 0) + (isNew ? (subject.sizes[index] ?? 0) + QUOTE_TOKENS : 0))
  }
}
