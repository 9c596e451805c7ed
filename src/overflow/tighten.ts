import type { Classification, StatedWindow } from './classification.ts'

/** What is known when an answer refused a request and another attempt may be made. All counts are tokens. */
export type RefusedAttempt = {
  /** Of the attempt to be made: 1 is the first resend. */
  readonly attempt: number
  /** `overflow.attempts`. The attempt with this number is the smallest form. */
  readonly attemptsMax: number
  readonly classification: Classification
  /** Own count of the prompt that was refused. */
  readonly sentTokens: number
  /** The budget under which that prompt was made, in own counts. */
  readonly budgetTokens: number
  /** How many of the newest messages that prompt kept for sure. */
  readonly keepRecent: number
  /** `overflow.min_recent`: halving stops here. */
  readonly minRecent: number
  /** The output limit of the refused request as it was sent; null if it set none. */
  readonly outputLimitTokens: number | null
  /** `window.output_reserve`: kept free for the reply where the request sets no limit. */
  readonly outputReserveTokens: number
  /** What is known of the window when the answer states none; null if that is a guess. */
  readonly window: StatedWindow | null
  /** The provider's tokens for one of ours, as far as was known when it was sent. */
  readonly ratio: number
  readonly clampOutput: 'when_impossible' | 'never'
}

export type NextAttempt =
  | {
      readonly kind: 'compact'
      /** For the prompt, in own counts; below what was sent and below the budget before. */
      readonly budgetTokens: number
      /** Whether the budget is a guess: then the view fills it, since nothing says that so much had to go. */
      readonly fills: boolean
      readonly keepRecent: number
      /** System, task, short recap, latest user message, open round clipped: nothing smaller can be sent. */
      readonly smallest: boolean
      /** The output limit to be sent; null leaves the request's own. */
      readonly clampOutputTokens: number | null
      /** The limit that fits beside the prompt as it was refused, for where nothing can be taken away from it. */
      readonly outputTokensBeside: number | null
    }
  | { readonly kind: 'clamp'; readonly outputTokens: number }
  | { readonly kind: 'give-up' }

/** Own and stated counts agree to a few percent after scaling; this much stays free for what they do not. */
const margin = 0.02
/** Free when only our own count says that the prompt fits beside a lowered output limit. */
const ownCountMargin = 0.1
/** Counts that differ by more than this factor are not about the same prompt; then only halving is safe. */
const countRatioMax = 8
/** Design: the reserve is never more than this share of a total window. */
const reserveShareMax = 0.5

/** Decides what is sent after a refusal: less output, a smaller prompt, or nothing more. Budgets only ever shrink. */
export function nextAttempt(refused: RefusedAttempt): NextAttempt {
  const { attempt, attemptsMax, classification } = refused
  if (attempt > attemptsMax) return { kind: 'give-up' }
  switch (classification.class) {
    case 'overflow':
      return attemptAfterOverflow(refused)
    case 'output_too_large':
      // Without a window it is a cap of the model's, which is the client's to respect.
      // Beside a prompt that takes more than half of a stated window no limit is the whole of the trouble.
      return classification.window !== null && isOverHalf(refused, classification.window)
        ? attemptAfterOverflow(refused)
        : (clampOnly(refused) ?? { kind: 'give-up' })
    case 'payload_too_large':
      return attempt === 1 && classification.remedy !== 'none' ? halve(refused, null) : { kind: 'give-up' }
    case 'crowded':
    case 'rate':
    case 'order':
    case 'denied':
    case 'other':
      return { kind: 'give-up' }
  }
}

// --- internal ---

function attemptAfterOverflow(refused: RefusedAttempt): NextAttempt {
  const clamp = clampOnly(refused)
  if (clamp !== null) return clamp
  const window = windowOf(refused)
  if (window === null) return halve(refused, null)
  const reserve = reserveIn(window, refused)
  const room = window.tokens - reserve
  if (room < 1) return { kind: 'give-up' }
  const clampOutputTokens = clampBeside(refused, window, reserve)
  const exact = ownPerStated(refused)
  const budgetTokens = Math.floor(
    exact === null ? room * ownPerExpected(refused) * (1 - ownCountMargin) : room * exact * (1 - margin),
  )
  const isSized = exact !== null || isWindowAlone(refused)
  if (!isSized || budgetTokens >= Math.min(refused.sentTokens, refused.budgetTokens))
    return halve(refused, clampOutputTokens, exact === null ? room : undefined)
  const { keepRecent } = refused
  return compact(refused, { budgetTokens, keepRecent, fills: exact === null, clampOutputTokens })
}

/** The output limit alone made the request impossible, and the prompt fits beside a lower one. */
function clampOnly(refused: RefusedAttempt): NextAttempt | null {
  const window = windowOf(refused)
  const outputTokens = outputBeside(refused)
  if (window === null || outputTokens === null) return null
  // A larger prompt is made smaller first: it would leave the reply less than its half.
  if (isOverHalf(refused, window)) return null
  return { kind: 'clamp', outputTokens }
}

/** The output limit that fits beside the prompt as it is; null where that is none, or not to be lowered. */
function outputBeside(refused: RefusedAttempt): number | null {
  const window = windowOf(refused)
  const { outputLimitTokens } = refused
  if (window === null || outputLimitTokens === null || !isImpossible(refused, window)) return null
  const outputTokens = window.tokens - promptOf(refused)
  return outputTokens >= 1 && outputTokens < outputLimitTokens ? outputTokens : null
}

function isOverHalf(refused: RefusedAttempt, window: StatedWindow): boolean {
  return promptOf(refused) > window.tokens * (1 - reserveShareMax)
}

/** The prompt in the server's tokens: as stated where that is exact, else our count with a margin. */
function promptOf({ classification, sentTokens }: RefusedAttempt): number {
  const { promptTokens } = classification
  if (promptTokens?.exact === true) return promptTokens.tokens
  return Math.max(promptTokens?.tokens ?? 0, Math.ceil(sentTokens * (1 + ownCountMargin)))
}

function clampBeside(refused: RefusedAttempt, window: StatedWindow, reserve: number): number | null {
  const { outputLimitTokens } = refused
  if (outputLimitTokens === null || !isImpossible(refused, window)) return null
  return reserve < outputLimitTokens ? Math.max(1, reserve) : null
}

/** `overflow.clamp_output: when_impossible`: the request's own limit leaves the prompt less than half of the window. */
function isImpossible(refused: RefusedAttempt, window: StatedWindow): boolean {
  const { clampOutput, outputLimitTokens } = refused
  if (clampOutput === 'never' || outputLimitTokens === null || window.kind === 'input') return false
  return outputLimitTokens > window.tokens * (1 - reserveShareMax)
}

/** In the server's tokens. A limit that will not be lowered counts in full: the server will refuse by it again. */
function reserveIn(window: StatedWindow, refused: RefusedAttempt): number {
  if (window.kind === 'input') return 0
  const { outputLimitTokens, outputReserveTokens, classification } = refused
  const half = Math.floor(window.tokens * reserveShareMax)
  if (outputLimitTokens !== null) {
    return isImpossible(refused, window) ? half : outputLimitTokens
  }
  // What the server says it would have generated is its own default, and stands beside every prompt.
  return classification.completionTokens ?? Math.min(outputReserveTokens, half)
}

function windowOf({ classification, window }: RefusedAttempt): StatedWindow | null {
  return classification.window ?? window
}

/** How many of our tokens stand for one of the server's; null unless it counted this very prompt to its end. */
function ownPerStated({ classification, sentTokens, outputLimitTokens }: RefusedAttempt): number | null {
  const { promptTokens, totalTokens } = classification
  const fromTotal =
    totalTokens === null || outputLimitTokens === null ? null : totalTokens - outputLimitTokens
  const stated = promptTokens === null ? fromTotal : promptTokens.exact ? promptTokens.tokens : null
  if (stated === null || stated < 1) return null
  const ratio = sentTokens / stated
  return ratio > countRatioMax || ratio < 1 / countRatioMax ? null : ratio
}

/**
 * Whether the stated window has to say alone how much may be sent: the server stopped counting the prompt, or never
 * began. A second refusal shows that our own count is no help beside it.
 */
function isWindowAlone({ attempt, classification, sentTokens }: RefusedAttempt): boolean {
  const { window, promptTokens } = classification
  if (attempt > 1 || window === null || promptTokens?.exact === true) return false
  return promptTokens === null || promptTokens.tokens / sentTokens <= countRatioMax
}

/** How many of our tokens stand for one of the server's, as far as was known and what it has counted allows. */
function ownPerExpected({ classification, sentTokens, ratio }: RefusedAttempt): number {
  const leastTokens = classification.promptTokens?.tokens ?? 0
  return leastTokens < 1 ? 1 / ratio : Math.min(1 / ratio, sentTokens / leastTokens)
}

/** Never below half of what was refused, unless the window demands it: what else would be thrown away may have fitted. */
function halve(
  refused: RefusedAttempt,
  clampOutputTokens: number | null,
  roomTokens = Number.POSITIVE_INFINITY,
): NextAttempt {
  const { sentTokens, keepRecent, minRecent } = refused
  const halfTokens = Math.min(sentTokens / 2, refused.budgetTokens - 1)
  const halved = Math.max(minRecent, Math.floor(keepRecent / 2))
  return compact(refused, {
    budgetTokens: Math.floor(Math.min(halfTokens, roomTokens * (1 - margin))),
    keepRecent: Math.min(keepRecent, halved),
    fills: true,
    clampOutputTokens,
  })
}

function compact(
  refused: RefusedAttempt,
  how: Pick<CompactAttempt, 'budgetTokens' | 'keepRecent' | 'fills' | 'clampOutputTokens'>,
): NextAttempt {
  if (how.budgetTokens < 1) return { kind: 'give-up' }
  const smallest = refused.attempt === refused.attemptsMax
  return {
    kind: 'compact',
    ...how,
    keepRecent: smallest ? 0 : how.keepRecent,
    smallest,
    outputTokensBeside: outputBeside(refused),
  }
}

type CompactAttempt = Extract<NextAttempt, { readonly kind: 'compact' }>
