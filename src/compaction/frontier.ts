import type { Steps } from '../conversation/source.ts'
import { clipsByIndex, layoutOf, recapTokens } from './layout.ts'
import type { Ledger } from './ledger.ts'
import type { Pins } from './pins.ts'
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
  let tailTokens = yield* ledger.treatedTokens(choice.after, choice.point, choice.reach, clips)
  const agreeable = choice.strict ? agreeableFrontiers(subject, choice.point) : []
  let firstToReach: number | null = null
  let lastAgreeable: number | null = null
  let last: number | null = null
  for (let index = choice.after + 1; index <= choice.protectedFrom; index += 1) {
    tailTokens -= yield* ledger.treatedTokens(index - 1, index, choice.reach, clips)
    if (!structure.isFrontier(index)) continue
    const layout = layoutOf({ ...choice.pins, fold: choice.foldAt(index) }, structure.systemCount)
    if (layout.before === null && layout.after === null) continue
    const isAgreeable = !choice.strict || agreeable[index] === true
    const pinned =
      (layout.task === null ? 0 : (subject.sizes[layout.task] ?? 0)) +
      (layout.latestUser === null ? 0 : (subject.sizes[layout.latestUser] ?? 0))
    const tokens = pinned + recapTokens(layout.before) + recapTokens(layout.after) + tailTokens
    const reaches = tokens <= choice.targetTokens
    if (reaches && isAgreeable) return index
    if (reaches) firstToReach ??= index
    if (isAgreeable) lastAgreeable = index
    last = index
  }
  return firstToReach ?? lastAgreeable ?? last
}

/**
 * Where a strict template takes a cut: before an assistant message, if the roles alternate from there on
 * behind a user message. Tool rounds take no turn, so what counts is who speaks first behind them.
 */
function agreeableFrontiers(subject: Subject, point: number): boolean[] {
  const agreeable: boolean[] = []
  let speaksFirst: 'user' | 'assistant' | null = null
  for (let index = point - 1; index >= 0; index -= 1) {
    const facts = subject.messages[index]?.facts
    if (facts?.role === 'user') speaksFirst = 'user'
    else if (facts?.role === 'assistant' && facts.callIds.length === 0) speaksFirst = 'assistant'
    agreeable[index] = facts?.role === 'assistant' && speaksFirst !== 'user'
  }
  return agreeable
}

/** The most that recaps may take, in tokens: in all, and by quoted system messages on top. */
export type RecapCaps = { readonly tokensMax: number; readonly systemTokensMax: number }

/**
 * The fold at any frontier: a recap of what lies before the latest user message takes its share of the cap
 * where there is one behind it too, and quoted system messages come on top.
 */
export function folding(
  subject: Subject,
  pins: Pins,
  { tokensMax, systemTokensMax }: RecapCaps,
): (frontier: number) => Fold {
  const { systemCount } = subject.structure
  const systemSums = [0]
  for (const [index, { facts }] of subject.messages.entries()) {
    const isSystem = index >= systemCount && (facts.role === 'system' || facts.role === 'developer')
    systemSums.push((systemSums[index] ?? 0) + (isSystem ? (subject.sizes[index] ?? 0) + QUOTE_TOKENS : 0))
  }
  const quoted = (start: number, end: number): number =>
    Math.min(systemTokensMax, (systemSums[end] ?? 0) - (systemSums[start] ?? 0))
  return (frontier) => {
    const passesLatest =
      pins.latestUser !== -1 && pins.latestUser !== pins.task && pins.latestUser < frontier - 1
    const split = passesLatest ? pins.latestUser : frontier
    const beforeTokens = passesLatest ? Math.floor(tokensMax * BEFORE_SHARE) : tokensMax
    return {
      frontier,
      beforeTokensMax: beforeTokens + quoted(systemCount, split),
      afterTokensMax: passesLatest ? tokensMax - beforeTokens + quoted(split, frontier) : 0,
      systemTokensMax,
    }
  }
}

/** Of two recaps the one of all that lies before the latest user message takes the larger part. */
const BEFORE_SHARE = 0.6

/** The words around a quoted system message. */
const QUOTE_TOKENS = 4
