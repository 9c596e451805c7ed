import type { Form, Outcome, Send } from '../request.ts'
import { madeBody } from '../../upstream/answer-body.ts'
import { parsedBody, readPlain, withoutLength } from '../reply/whole-answer.ts'
import { withEdits } from './outgoing-body.ts'
import { discard, isAnswered, isOurDoing, isTooLarge, sendAgain, standing } from './outcome.ts'

/**
 * Asks once more without streaming where a stream ended with nothing: some servers begin a stream before they have
 * looked at the prompt, and have no way left to refuse it. A refusal for its size, or for what Foldgate made of it, takes
 * the place of the empty answer, and so does a good answer, as a stream. Whatever else comes of it, the client gets the empty one.
 */
export const askPlainly =
  (once: Send) =>
  (send: Send): Send =>
    async function sendAskingPlainly(form, sending) {
      const empty = await send(form, sending)
      const { profile } = sending.request
      if (empty.verdict !== 'empty' || profile.observe || profile.overflow.attempts === 0) return empty
      const plainForm = withoutStreaming(form)
      if (plainForm === null) return empty
      const plain = await sendAgain(empty, () => once(plainForm, sending))
      if (plain === null) return standing(empty)
      // What Foldgate made of the request may be what is refused: then another form of it may be welcome.
      if (isTooLarge(plain) || (form.isRewritten && isOurDoing(plain))) return { ...plain, form }
      const streamed = isAnswered(plain) ? streamedAnswer(await readPlain(plain)) : null
      if (streamed !== null) return { ...streamed, form }
      discard(plain.answer)
      return { ...empty, attempts: plain.attempts }
    }

// --- internal ---

/** The same request for a plain answer; null if it asks for one. */
function withoutStreaming(form: Form): Form | null {
  const edits = form.chat.body.withoutStreaming
  return edits === null ? null : { ...form, pieces: withEdits(form.pieces, edits) }
}

/** A plain answer as the stream that the client has asked for; null where it is none, or says nothing either. */
function streamedAnswer(plain: Outcome): Outcome | null {
  const { answer, form } = plain
  const { dialect, body } = form.chat
  const streamed = dialect.answers.asStream(parsedBody(plain))
  if (streamed === null) return null
  const rawHeaders = withoutLength(answer.rawHeaders).map((text, at, headers) =>
    at % 2 === 1 && headers[at - 1]?.toLowerCase() === 'content-type' ? EVENT_STREAM : text,
  )
  return {
    ...plain,
    answer: { ...answer, rawHeaders, body: madeBody([Buffer.from(streamed.text)]) },
    held: [],
    // What it cost is good to know in any case.
    asksUsage: streamed.statesUsage && !body.showsUsage,
  }
}

const EVENT_STREAM = 'text/event-stream; charset=utf-8'
