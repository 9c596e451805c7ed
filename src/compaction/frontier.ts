import type { Steps } from '../conversation/source.ts'
import { clipsByIndex, layoutOf, recapTokens } from './layout.ts'
import type { Ledger } from './ledger.ts'
import type { Pins } from './pins.ts'
import { RECAP_TOKENS_MIN } from './recap/recap.ts'
import type { Fold, Reach, Stride } from './stride.ts'
import type { Subject } from './subject.ts'

export type FrontierChoice = {
  readonly pins: Pins
  readonly reach: Reach
  readonly clips: Stride['clips']
  readonly foldAt: (frontier: number) => Fold
  readonly targetTokens: number
  readonly point: number
  readonly protectedFrom: number
  /** Where the open round begins: no frontier lies behind it. */
  readonly openFrom: number
  readonly after: number
  readonly strict: boolean
}

/**
 * The first frontier at which the view comes down to the target, else the last one before the protected
 * tail. Under strict placement those that a template takes go first.
 */
export function* chooseFrontier(
  subject: Subject,
  ledger: Ledger,
  choice: FrontierChoice,
): Steps<number | null> {
  const { structure } = subject
  const clips = clipsByIndex(choice.clips)
  const fits = choice.strict ? templateFits(subject, choice.point) : []
  const firstToReach: Partial<Record<Fit, number>> = {}
  const last: Partial<Record<Fit, number>> = {}
  let tailTokens = yield* ledger.treatedTokens(choice.after, choice.point, choice.reach, clips)
  for (let index = choice.after + 1; index <= choice.protectedFrom; index += 1) {
    tailTokens -= yield* ledger.treatedTokens(index - 1, index, choice.reach, clips)
    if (!structure.isFrontier(index)) continue
    const layout = layoutOf({ ...choice.pins, fold: choice.foldAt(index) }, structure.systemCount)
    if (layout.before === null && layout.after === null) continue
    const fit = fits[index] ?? 'well'
    const pinned =
      (layout.task === null ? 0 : (subject.sizes[layout.task] ?? 0)) +
      (layout.latestUser === null ? 0 : (subject.sizes[layout.latestUser] ?? 0))
    const tokens = pinned + recapTokens(layout.before) + recapTokens(layout.after) + tailTokens
    last[fit] = index
    if (tokens > choice.targetTokens) continue
    if (fit === 'well') return index
    firstToReach[fit] ??= index
  }
  const lastTaken = Math.max(last.well ?? NONE, last.joined ?? NONE)
  if (firstToReach.joined !== undefined || lastTaken !== NONE) return firstToReach.joined ?? lastTaken
  // A view that the template refuses helps nobody: rather than that, newest messages are folded too.
  for (
    let index = choice.protectedFrom + 1;
    last.badly !== undefined && index <= choice.openFrom;
    index += 1
  ) {
    if (structure.isFrontier(index) && fits[index] !== 'badly') return index
  }
  return firstToReach.badly ?? last.badly ?? null
}

/**
 * How a strict template takes a cut. `well`: before an assistant message, and the roles alternate from there
 * on; `joined`: before a user message, which then becomes one with what stands before it; `badly`: not at all.
 */
export type Fit = 'well' | 'joined' | 'badly'

const NONE = -1

/** How each cut is taken. Tool rounds take no turn, so what counts is who speaks first behind them. */
export function templateFits(subject: Subject, point: number): Fit[] {
  const fits: Fit[] = []
  let speaksFirst: 'user' | 'assistant' | null = null
  for (let index = point - 1; index >= 0; index -= 1) {
    const facts = subject.messages[index]?.facts
    if (facts?.role === 'user') speaksFirst = 'user'
    else if (facts?.role === 'assistant' && facts.callIds.length === 0) speaksFirst = 'assistant'
    if (facts?.role === 'user') fits[index] = 'joined'
    else fits[index] = facts?.role === 'assistant' && speaksFirst !== 'user' ? 'well' : 'badly'
  }
  return fits
}

/** The most that recaps may take, in tokens: in all, and by quoted system messages on top. */
export type RecapCaps = { readonly tokensMax: number; readonly systemTokensMax: number }

/**
 * The fold at any frontier: a recap of what lies before the latest user message, one of what follows it where
 * the frontier has passed it, and quoted system messages on top. No recap has more room than what it replaces,
 * which is everything but the task and what is kept of old turns.
 */
export function folding(
  subject: Subject,
  ledger: Ledger,
  pins: Pins,
  { tokensMax, systemTokensMax }: RecapCaps,
): (frontier: number, kept?: readonly number[]) => Fold {
  const { systemCount } = subject.structure
  const systemSums = [0]
  for (const [index, { facts }] of subject.messages.entries()) {
    const isSystem = index >= systemCount && (facts.role === 'system' || facts.role === 'developer')
    systemSums.push((systemSums[index] ?? 0) + (isSystem ? (subject.sizes[index] ?? 0) + QUOTE_TOKENS : 0))
  }
  const quoted = (start: number, end: number): number =>
    Math.min(systemTokensMax, (systemSums[end] ?? 0) - (systemSums[start] ?? 0))
  return (frontier, kept = []) => {
    const staying = new Set([pins.task, ...kept])
    const foldedTokens = (start: number, end: number): number => {
      let tokens = ledger.originalTokens(start, end)
      for (const index of staying) if (index >= start && index < end) tokens -= subject.sizes[index] ?? 0
      return tokens
    }
    const passesLatest =
      pins.latestUser !== -1 && pins.latestUser !== pins.task && pins.latestUser < frontier - 1
    const split = passesLatest ? pins.latestUser : frontier
    const beforeMost = mostFor(foldedTokens(systemCount, split))
    const afterMost = passesLatest ? mostFor(foldedTokens(split + 1, frontier)) : 0
    const afterTokensMax = Math.min(afterMost, Math.floor(tokensMax * AFTER_SHARE))
    return {
      frontier,
      kept,
      beforeTokensMax:
        Math.min(
          beforeMost,
          Math.max(tokensMax - steps(afterTokensMax), Math.floor(tokensMax * (1 - AFTER_SHARE))),
        ) + quoted(systemCount, split),
      afterTokensMax: afterTokensMax + quoted(split, frontier),
      systemTokensMax,
    }
  }
}

/** A recap that is nearly as long as what it replaces is not worth a cache miss. */
function mostFor(foldedTokens: number): number {
  return Math.min(foldedTokens, Math.max(RECAP_TOKENS_MIN, Math.floor(foldedTokens * CONTENT_SHARE)))
}

/**
 * What the recap of the latest turn takes of the room of both, in doublings: so the recap before it keeps its
 * size, and its place in the provider's cache, while a turn goes on.
 */
function steps(afterTokens: number): number {
  return afterTokens === 0 ? 0 : 2 ** Math.ceil(Math.log2(afterTokens))
}

/** A recap takes at most this share of what it replaces. */
const CONTENT_SHARE = 0.6

/** Of two recaps the one of the latest turn takes at most this share of the room. */
const AFTER_SHARE = 0.5

/** The words around a quoted system message. */
const QUOTE_TOKENS = 4
