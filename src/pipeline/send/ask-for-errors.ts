import type { Form, Outcome, Sending } from '../request.ts'
import { isAnswered, isOurDoing, type Retrying, sendAgain } from './outcome.ts'
import { withReplaced } from './outgoing-body.ts'

/** The form as it has its server refuse a prompt that it would cut without a word, if it was rewritten or `mayOverflow`. */
export function withErrorsAsked(form: Form, { request, refused }: Sending, mayOverflow: boolean): Form {
  const edit = form.chat.body.errorsRequest
  const isNeeded = form.isRewritten || mayOverflow
  if (edit === null || !isNeeded || request.profile.observe || refused.has('errors')) return form
  return { ...form, pieces: withReplaced(form.pieces, edit.at, edit.text) }
}

/** Sends what was refused without that word: a server that knows it may be another than the one that has to. */
export async function askNoErrors(
  first: Outcome,
  { form, sending, send, parts }: Retrying,
): Promise<Outcome> {
  if (first.asksErrors !== true || !isOurDoing(first)) return first
  sending.refused.add('errors')
  const plain = await sendAgain(first, () => send(form, sending))
  if (plain === null) return first
  if (isAnswered(plain) && first.answer.status !== 500)
    parts.models.suspected(sending.request.modelKey).refusesErrors = true
  return plain
}
