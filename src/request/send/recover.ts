import type { Prepared, Outcome, Send } from '../request.ts'
import type { Classification, StatedWindow } from '../../overflow/classification.ts'
import { nextAttempt } from '../../overflow/tighten.ts'
import type { Profile } from '../../profiles/schema.ts'
import { isAnswered, isTooLarge, sendAgain, standing } from './send.ts'

export type RecoverOptions = {
  readonly profile: Profile
  /** The request's own output limit in tokens; null where it sets none. */
  readonly outputLimitTokens: number | null
  /** The budget of the first attempt, in own counts. */
  readonly budgetTokens: number
  /** The window as far as it is known; null where it is a guess. */
  readonly window: StatedWindow | null
  /** The provider's tokens for one of ours, as far as is known. */
  readonly ratio: number
  /** A smaller form of what was refused; null where nothing more can be taken away. */
  readonly tighten: (
    refused: Prepared,
    how: {
      budgetTokens: number
      fills: boolean
      keepRecent: number
      smallest: boolean
      refusedTokens: number
    },
  ) => Promise<Prepared | null>
  /** The same request with a lower output limit. */
  readonly clamp: (prepared: Prepared, outputTokens: number) => Prepared
  /** Own count of a request that was not counted before it was sent. */
  readonly countSent: (prepared: Prepared) => Promise<number>
  /** What of a refusal can be gone by: numbers that contradict what was answered are none. */
  readonly credible: (classification: Classification) => Classification
  /** Called for every refusal that may be cured, as it comes. */
  readonly onRefused: (refused: RefusedForm) => void
  /** Called once a form was accepted, with those that were refused before it: only then their size was the reason. */
  readonly onRecovered: (refused: readonly RefusedForm[], accepted: Prepared) => Promise<void>
}

/** A form of the request that was refused as too large, with our own count of its prompt. */
export type RefusedForm = {
  readonly classification: Classification
  readonly prepared: Prepared
  readonly sentTokens: number
  /** The status that it was refused with. */
  readonly status: number
}

/**
 * Recovers from overflow within the same request: tighten and send again, at most `overflow.attempts`
 * times, the last time in the smallest form. Where nothing helps, the upstream's last answer is the
 * client's, unchanged.
 */
export const recoverFromOverflow =
  (options: RecoverOptions) =>
  (send: Send): Send =>
    async function sendRecovering(prepared) {
      const { overflow, window } = options.profile
      let outcome = await send(prepared)
      let { budgetTokens } = options
      let keepRecent = options.profile.keep.recent_messages
      let clampedTokens: number | null = null
      const refusedForms: RefusedForm[] = []
      for (let attempt = 1; isTooLarge(outcome); attempt += 1) {
        const { classification } = outcome
        const sentTokens = await options.countSent(outcome.prepared)
        // A form that could not be made smaller was not refused once more.
        if (refusedForms.at(-1)?.prepared !== outcome.prepared) {
          const { status } = outcome.answer
          const refusedForm = { classification, prepared: outcome.prepared, sentTokens, status }
          refusedForms.push(refusedForm)
          options.onRefused(refusedForm)
        }
        const next = nextAttempt({
          attempt,
          attemptsMax: overflow.attempts,
          classification: options.credible(classification),
          sentTokens,
          budgetTokens,
          keepRecent,
          minRecent: overflow.min_recent,
          outputLimitTokens: clampedTokens ?? options.outputLimitTokens,
          outputReserveTokens: window.output_reserve,
          window: options.window,
          ratio: options.ratio,
          clampOutput: overflow.clamp_output,
        })
        if (next.kind === 'give-up') return outcome
        let smaller: Prepared | null
        if (next.kind === 'clamp') {
          smaller = options.clamp(outcome.prepared, next.outputTokens)
          clampedTokens = next.outputTokens
        } else {
          smaller = await options.tighten(outcome.prepared, { ...next, refusedTokens: sentTokens })
          // A limit that was lowered once stays so: with its own value every further view would be refused.
          let outputTokens: number | null = next.clampOutputTokens ?? clampedTokens
          if (smaller === null && next.outputTokensBeside !== null) {
            smaller = outcome.prepared
            outputTokens = next.outputTokensBeside
          }
          if (smaller !== null && outputTokens !== null) {
            smaller = options.clamp(smaller, outputTokens)
            clampedTokens = outputTokens
          }
          budgetTokens = next.budgetTokens
          keepRecent = next.keepRecent
          // Where this budget takes nothing away, a later and smaller one may.
          if (smaller === null && !next.smallest) continue
        }
        if (smaller === null) return outcome
        const refused: Outcome = outcome
        const form = smaller
        const again: Outcome | null = await sendAgain(refused, () => send(form))
        if (again === null) return standing(refused)
        outcome = { ...again, remedy: 'recovered' }
      }
      if (refusedForms.length > 0 && isAnswered(outcome))
        await options.onRecovered(refusedForms, outcome.prepared)
      return outcome
    }
