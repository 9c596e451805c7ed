import type { Steps } from '../../conversation/source.ts'
import { clipsByIndex, layoutOf, partTokens } from '../layout.ts'
import type { Ledger } from '../ledger.ts'
import type { Pins } from './pins.ts'
import type { Fold, Reach, Compaction } from '../compaction.ts'
import type { Subject } from '../subject.ts'

export type FrontierChoice = {
  readonly pins: Pins
  readonly reach: Reach
  readonly clips: Compaction['clips']
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
    let pinned = 0
    for (const pin of [layout.task, layout.latestUser])
      if (pin !== null) pinned += yield* ledger.treatedTokens(pin, pin + 1, choice.reach, clips)
    const tokens = pinned + partTokens(layout.before) + partTokens(layout.after) + tailTokens
    last[fit] = index
    if (tokens > choice.targetTokens) continue
    if (fit === 'well') return index
    firstToReach[fit] ??= index
  }
  // One message more in the tail is a small price for a cut that joins nothing.
  const joined = firstToReach.joined ?? last.joined ?? NONE
  const taken = last.well !== undefined && last.well >= joined - 1 ? last.well : joined
  if (taken !== NONE) return taken
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

// --- internal ---

/**
 * How a strict template takes a cut. `well`: before an assistant message, and the roles alternate from there
 * on; `joined`: before a user message, which then becomes one with what stands before it; `badly`: not at all.
 */
export type Fit = 'well' | 'joined' | 'badly'

const NONE = -1

/** How each cut is taken. Tool rounds take no turn, so what counts is who speaks first behind them. */
export function templateFits(subject: Subject, point: number): Fit[] {
  // As long as it will be: filled from its end, it would grow into something much slower.
  const fits = Array.from<Fit>({ length: point })
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
