import type { Ledger } from './ledger.ts'
import type { Pins } from './pins.ts'
import type { Policy } from './policy.ts'
import { RECAP_TOKENS_MIN } from './recap/recap.ts'
import type { Fold, Stride } from './stride.ts'
import type { Subject } from './subject.ts'

/** The most that recaps may take, in tokens: in all, and by quoted system messages on top. */
export type RecapCaps = { readonly tokensMax: number; readonly systemTokensMax: number }

export type RecapRoom = {
  /** What there is for recaps and everything else that is not fixed. */
  readonly roomTokens: number
  /** What the protected tail takes of it. */
  readonly tailTokens: number
  readonly targetTokens: number
  readonly smallest: boolean
}

/** How much recaps may take in the view of a stride. */
export function recapCaps(policy: Policy, room: RecapRoom): RecapCaps {
  const { roomTokens, tailTokens, targetTokens, smallest } = room
  const isBesideTail = tailTokens > roomTokens * (1 - RECAP_SHARE)
  const ordinary = isBesideTail ? RECAP_SHARE_BESIDE_TAIL : RECAP_SHARE
  const share = smallest ? SMALLEST_RECAP_SHARE : ordinary
  const largest = smallest ? SMALLEST_RECAP_TOKENS : policy.recap.max_tokens
  return {
    tokensMax: Math.max(0, Math.min(largest, Math.floor(roomTokens * share))),
    systemTokensMax: Math.max(0, Math.floor(targetTokens * QUOTED_SYSTEM_SHARE)),
  }
}

export type FoldingOptions = {
  readonly pins: Pins
  readonly caps: RecapCaps
  /** The stride before. While a turn goes on, the recap of what lies before it does not grow. */
  readonly previous: Stride | null
}

/**
 * The fold at any frontier: a recap of what lies before the latest user message, one of what follows it where
 * the frontier has passed it, and quoted system messages on top. No recap has more room than what it replaces,
 * which is everything but the task and what is kept of old turns.
 */
export function folding(
  subject: Subject,
  ledger: Ledger,
  { pins, caps, previous }: FoldingOptions,
): (frontier: number, kept?: readonly number[]) => Fold {
  const { systemCount } = subject.structure
  const { tokensMax, systemTokensMax } = caps
  const passed = pins.latestUser !== -1 && pins.latestUser !== pins.task ? pins.latestUser : null
  const quotedBefore = quotedTokens(subject, systemCount, systemTokensMax)
  const quotedAfter = quotedTokens(subject, (passed ?? systemCount) + 1, systemTokensMax)
  const standing = passed === null ? null : standingBefore(previous, pins)
  return (frontier, kept = []) => {
    const staying = new Set([pins.task, ...kept])
    const foldedTokens = (start: number, end: number): number => {
      let tokens = ledger.originalTokens(start, end)
      for (const index of staying) if (index >= start && index < end) tokens -= subject.sizes[index] ?? 0
      return tokens
    }
    const latest = passed !== null && passed < frontier - 1 ? passed : null
    const afterMost = latest === null ? 0 : mostFor(foldedTokens(latest + 1, frontier))
    const afterTokensMax = Math.min(afterMost, Math.floor(tokensMax * AFTER_SHARE))
    const beforeTokensMax =
      Math.min(
        mostFor(foldedTokens(systemCount, latest ?? frontier)),
        Math.max(tokensMax - doubled(afterTokensMax), Math.floor(tokensMax * (1 - AFTER_SHARE))),
      ) + quotedBefore(latest ?? frontier)
    return {
      frontier,
      kept,
      beforeTokensMax: latest === null ? beforeTokensMax : Math.min(beforeTokensMax, standing ?? Infinity),
      afterTokensMax: afterTokensMax + (latest === null ? 0 : quotedAfter(frontier)),
      systemTokensMax,
    }
  }
}

// --- internal ---

/** A recap never takes more than this share of the room under the target … */
const RECAP_SHARE = 0.8

/** … nor more than this where the protected tail needs the rest. */
const RECAP_SHARE_BESIDE_TAIL = 0.5

/** The recap of the smallest form: enough for the names of what was done last, and a quarter of what there is. */
const SMALLEST_RECAP_TOKENS = 128
const SMALLEST_RECAP_SHARE = 0.25

/** Folded system messages are quoted within this share of the target. */
const QUOTED_SYSTEM_SHARE = 0.25

/** A recap takes at most this share of what it replaces: nearly as long, it is not worth a cache miss. */
const CONTENT_SHARE = 0.6

/** Of two recaps the one of the latest turn takes at most this share of the room. */
const AFTER_SHARE = 0.5

/** The words around a quoted system message. */
const QUOTE_TOKENS = 4

function mostFor(foldedTokens: number): number {
  return Math.min(foldedTokens, Math.max(RECAP_TOKENS_MIN, Math.floor(foldedTokens * CONTENT_SHARE)))
}

/**
 * What the recap of the latest turn takes of the room of both, in doublings: so the recap before it keeps its
 * size, and its place in the provider's cache, while a turn goes on.
 */
function doubled(afterTokens: number): number {
  return afterTokens === 0 ? 0 : 2 ** Math.ceil(Math.log2(afterTokens))
}

/** The cap of the recap before the latest user message, where the stride before had one before the same message. */
function standingBefore(previous: Stride | null, pins: Pins): number | null {
  const isSameTurn =
    previous !== null && previous.latestUser === pins.latestUser && previous.task === pins.task
  const fold = isSameTurn ? previous.fold : null
  return fold !== null && pins.latestUser < fold.frontier - 1 ? fold.beforeTokensMax : null
}

/** What the distinct system messages from `start` up to an end take when they are quoted. */
function quotedTokens(subject: Subject, start: number, tokensMax: number): (end: number) => number {
  const seen = new Set<string>()
  const sums = [0]
  for (let index = start; index < subject.messages.length; index += 1) {
    const facts = subject.messages[index]?.facts
    const isSystem = facts?.role === 'system' || facts?.role === 'developer'
    const isNew = isSystem && !seen.has(facts.meaning)
    if (isNew) seen.add(facts.meaning)
    sums.push((sums.at(-1) ?? 0) + (isNew ? (subject.sizes[index] ?? 0) + QUOTE_TOKENS : 0))
  }
  return (end) => Math.min(tokensMax, sums[Math.max(0, end - start)] ?? 0)
}
