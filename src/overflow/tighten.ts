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
  /** To how little it may be lowered where a server holds it against a budget of thoughts. */
  readonly outputLeastTokens: number
  /** `window.output_reserve`: kept free for the reply where the request sets no limit. */
  readonly outputReserveTokens: number
  /** What is known of the window when the answer states none; null if that is a guess. */
  readonly window: StatedWindow | null
  /** The provider's tokens for one of ours, as far as was known when it was sent. */
  readonly ratio: number
  readonly clampOutput: 'when_impossible' | 'never'
}

export type CompactAttempt = {
  readonly kind: 'compact'
  /** For the prompt, in own counts; below what was sent and below the budget before. */
  readonly budgetTokens: number
  /**
   * Whether the budget is a guess: then the view fills it, since nothing says that so much had to go, rather than to leave
   * room for the rounds to come.
   */
  readonly fills: boolean
  readonly keepRecent: number
  /** System, task, short recap, latest user message, open round clipped: nothing smaller can be sent. */
  readonly smallest: boolean
  /** The output limit to be sent; null leaves the request's own. */
  readonly clampOutputTokens: number | null
  /** The limit that fits beside the prompt as it was refused, for where nothing can be taken away from it. */
  readonly outputTokensBeside: number | null
}

export type NextAttempt =
  | CompactAttempt
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
  const { class: answerClass, remedy } = classification
  if (attempt > attemptsMax) return giveUp
  if (answerClass === 'payload_too_large')
    return attempt === 1 && remedy !== 'none' ? halve(refused, null) : giveUp
  if (answerClass !== 'overflow' && answerClass !== 'output_too_large') return giveUp

  const window = windowOf(refused)
  // A larger prompt is made smaller first: a lower output limit would leave the reply less than its half.
  const isOverHalf = window !== null && promptOf(refused) > window.tokens * (1 - reserveShareMax)
  const outputTokens = outputBeside(refused)
  if (outputTokens !== null && (!isOverHalf || takesLessOutput(refused, outputTokens)))
    return { kind: 'clamp', outputTokens }
  // Without a stated window it is a cap of the model's, which is the client's to respect. Beside a prompt that takes more
  // than half of one no limit is the whole of the trouble.
  if (answerClass === 'output_too_large' && (classification.window === null || !isOverHalf)) return giveUp
  return window === null ? halve(refused, null) : shrink(refused, window)
}

/** A prompt that was not sent yet, before a server that holds its output limit against the window. */
export type LimitedPrompt = Pick<RefusedAttempt, 'outputLeastTokens' | 'clampOutput'> & {
  /** What the server should count of it. */
  readonly promptTokens: number
  readonly outputLimitTokens: number
  readonly window: StatedWindow
}

/**
 * The output limit that fits beside a prompt, where its own would be lowered after a refusal; null where its own fits or stays.
 */
export function limitBeside(limited: LimitedPrompt): number | null {
  const { promptTokens, outputLimitTokens, outputLeastTokens, window } = limited
  const isOverHalf = promptTokens > window.tokens * (1 - reserveShareMax)
  if (isOverHalf || promptTokens + outputLimitTokens <= window.tokens || !isImpossible(limited, window))
    return null
  const outputTokens = window.tokens - Math.ceil(promptTokens * (1 + ownCountMargin))
  return outputTokens < outputLimitTokens && outputTokens >= Math.max(1, outputLeastTokens)
    ? outputTokens
    : null
}

// --- internal ---

const giveUp: NextAttempt = { kind: 'give-up' }

/** A smaller prompt, by what a window leaves for it. */
function shrink(refused: RefusedAttempt, window: StatedWindow): NextAttempt {
  const { outputLimitTokens, keepRecent, sentTokens } = refused
  const reserve = reserveIn(window, refused)
  const room = window.tokens - reserve
  if (room < 1) return giveUp
  const isClamped = outputLimitTokens !== null && isImpossible(refused, window) && reserve < outputLimitTokens
  const clampOutputTokens = isClamped ? Math.max(1, reserve) : null
  const sized = sizedBudget(refused, room)
  if (sized !== null && sized.budgetTokens < Math.min(sentTokens, refused.budgetTokens))
    return compact(refused, { ...sized, keepRecent, clampOutputTokens })
  return halve(refused, clampOutputTokens, sized?.fills === false ? undefined : room)
}

/** Whether the server says that this lower limit is enough, and a reply has room in it. */
function takesLessOutput({ classification, ...refused }: RefusedAttempt, outputTokens: number): boolean {
  const leastTokens = Math.max(refused.outputReserveTokens, refused.outputLeastTokens)
  return classification.remedy === 'less-output' && outputTokens >= leastTokens
}

/** The output limit that fits beside the prompt as it is; null where that is none, or not to be lowered. */
function outputBeside(refused: RefusedAttempt): number | null {
  const window = windowOf(refused)
  const { outputLimitTokens } = refused
  if (window === null || outputLimitTokens === null || refused.clampOutput === 'never') return null
  if (!isImpossible(refused, window) && refused.classification.remedy !== 'less-output') return null
  const outputTokens = window.tokens - promptOf(refused)
  return outputTokens >= 1 && outputTokens < outputLimitTokens ? outputTokens : null
}

/** The prompt in the server's tokens: as stated where that is exact, else our count with a margin. */
function promptOf({ classification, sentTokens }: RefusedAttempt): number {
  const { promptTokens } = classification
  if (promptTokens?.exact === true) return promptTokens.tokens
  return Math.max(promptTokens?.tokens ?? 0, Math.ceil(sentTokens * (1 + ownCountMargin)))
}

/** `overflow.clamp_output: when_impossible`: the request's own limit leaves the prompt less than half of the window. */
function isImpossible(
  { clampOutput, outputLimitTokens }: Pick<RefusedAttempt, 'clampOutput' | 'outputLimitTokens'>,
  window: StatedWindow,
): boolean {
  if (clampOutput === 'never' || outputLimitTokens === null || window.kind === 'input') return false
  return outputLimitTokens > window.tokens * (1 - reserveShareMax)
}

/** In the server's tokens. A limit that will not be lowered counts in full: the server will refuse by it again. */
function reserveIn(window: StatedWindow, refused: RefusedAttempt): number {
  if (window.kind === 'input') return 0
  const { outputLimitTokens, outputReserveTokens, classification } = refused
  const half = Math.floor(window.tokens * reserveShareMax)
  if (outputLimitTokens !== null) return isImpossible(refused, window) ? half : outputLimitTokens
  // What the server says it would have generated is its own default, and stands beside every prompt.
  return classification.completionTokens ?? Math.min(outputReserveTokens, Math.floor(window.tokens / 4))
}

function windowOf({ classification, window }: RefusedAttempt): StatedWindow | null {
  return classification.window ?? window
}

/** What fits, by the room that the window leaves for a prompt, in the server's tokens; null where only halving is safe. */
function sizedBudget(
  { attempt, classification, sentTokens, outputLimitTokens, ratio }: RefusedAttempt,
  room: number,
): Pick<CompactAttempt, 'budgetTokens' | 'fills'> | null {
  const { window, promptTokens, totalTokens } = classification
  // What it has counted to its end tells how many of our tokens stand for one of its own.
  const fromTotal =
    totalTokens === null || outputLimitTokens === null ? null : totalTokens - outputLimitTokens
  const counted = promptTokens === null ? fromTotal : promptTokens.exact ? promptTokens.tokens : null
  const factor = counted === null || counted < 1 ? 0 : sentTokens / counted
  if (factor >= 1 / countRatioMax && factor <= countRatioMax)
    return { budgetTokens: Math.floor(room * factor * (1 - margin)), fills: false }
  // Else the stated window has to say it alone. A second refusal shows that our own count is no help beside it.
  if (attempt > 1 || window === null || promptTokens?.exact === true) return null
  const leastTokens = promptTokens?.tokens ?? 0
  if (leastTokens / sentTokens > countRatioMax) return null
  const expected = leastTokens < 1 ? 1 / ratio : Math.min(1 / ratio, sentTokens / leastTokens)
  return { budgetTokens: Math.floor(room * expected * (1 - ownCountMargin)), fills: true }
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
  if (how.budgetTokens < 1) return giveUp
  const smallest = refused.attempt === refused.attemptsMax
  return {
    kind: 'compact',
    ...how,
    keepRecent: smallest ? 0 : how.keepRecent,
    smallest,
    outputTokensBeside: outputBeside(refused),
  }
}
