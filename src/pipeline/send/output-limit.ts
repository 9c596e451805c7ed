import type { BodyPiece } from '../../json/splice.ts'
import type { OutputLimit } from '../../formats/contract.ts'
import { limitBeside } from '../../overflow/tighten.ts'
import type { Eventual } from '../../scheduling/eventual.ts'
import { knownWindow } from '../measure/measure.ts'
import { countedMeasure } from '../measure/measure-request.ts'
import { promptTokensOf } from '../measure/sent-prompt.ts'
import type { RequestParts } from '../parts.ts'
import type { Form, Sending } from '../request.ts'
import { withReplaced } from './outgoing-body.ts'

/** The same form with a lower output limit. */
export function clamped(form: Form, outputTokens: number): Form {
  const limit = form.chat.body.outputLimit
  if (limit === null) return form
  const pieces = withReplaced(form.pieces, limit.value, String(outputTokens))
  return { ...form, pieces: withLessThinking(pieces, limit, outputTokens), clampedOutputTokens: outputTokens }
}

/**
 * The form with an output limit that fits beside its prompt, where the server would refuse it on account of its own: it has
 * done so of late.
 */
export function withFittingLimit(form: Form, sending: Sending, parts: RequestParts): Eventual<Form> {
  const { measure, modelKey, profile, whyUntouched } = sending.request
  const { outputLimit, outputLeastTokens } = form.chat.body
  const window = knownWindow(measure)
  if (outputLimit === null || window === null || whyUntouched !== null) return form
  if (!parts.windows.holdsLimit(modelKey, window.tokens)) return form
  return countSent(form, sending, parts).then((sentTokens) => {
    const outputTokens = limitBeside({
      promptTokens: promptTokensOf(sending.measure, form, sentTokens),
      outputLimitTokens: outputLimit.tokens,
      outputLeastTokens,
      window,
      clampOutput: profile.overflow.clamp_output,
    })
    return outputTokens === null ? form : clamped(form, outputTokens)
  })
}

/** Own count of a form. A request that was not counted before it was sent is counted now. */
export async function countSent(form: Form, sending: Sending, parts: RequestParts): Promise<number> {
  if (form.compacted !== null) return form.sentTokens
  const measure = await parts.failures.around('measure', null, () => countedMeasure(sending, parts))
  return measure?.incomingTokens ?? form.sentTokens
}

// --- internal ---

/** Thinking is given as much less than the reply as the client gave it, where it would have more than there is now. */
function withLessThinking(
  pieces: readonly BodyPiece[],
  { tokens, thinking }: OutputLimit,
  outputTokens: number,
): readonly BodyPiece[] {
  if (thinking === undefined || thinking.tokens < outputTokens) return pieces
  const thinkingTokens = Math.max(thinking.tokensMin, outputTokens - (tokens - thinking.tokens))
  return withReplaced(pieces, thinking.value, String(thinkingTokens))
}
