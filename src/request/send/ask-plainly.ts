import type { Prepared, Outcome, Send } from '../request.ts'
import { asStream } from '../../dialects/chat-completions/reply/as-stream.ts'
import { bodyOf as asBody } from '../../upstream/answer-body.ts'
import { bodyOf } from '../reply/goes-on.ts'
import { readPlain } from '../reply/join-plain.ts'
import { withoutLength } from '../reply/without-length.ts'
import { withoutSpan, withReplaced } from './outgoing-body.ts'
import { discard, isAnswered, isOurDoing, isTooLarge, sendAgain, standing } from './send.ts'

export type AskPlainlyOptions = {
  /** Sends a form as it is: the plain one is asked for nothing more. */
  readonly once: Send
  readonly isOn: boolean
}

/**
 * Asks once more without streaming where a stream ended with nothing: some servers begin a stream before they have
 * looked at the prompt, and have no way left to refuse it. A refusal for its size, or for what Foldgate made of it, takes
 * the place of the empty answer, and so does a good answer, as a stream. Whatever else comes of it, the client gets the empty one.
 */
export const askPlainly =
  ({ once, isOn }: AskPlainlyOptions) =>
  (send: Send): Send => {
    if (!isOn) return send

    return async function sendAskingPlainly(prepared) {
      const empty = await send(prepared)
      const form = empty.verdict === 'empty' ? withoutStreaming(prepared) : null
      if (form === null) return empty
      const plain = await sendAgain(empty, () => once(form))
      if (plain === null) return standing(empty)
      // What Foldgate made of the request may be what is refused: then another form of it may be welcome.
      if (isTooLarge(plain) || (prepared.isRewritten && isOurDoing(plain))) return { ...plain, prepared }
      const streamed = isAnswered(plain) ? streamedAnswer(await readPlain(plain)) : null
      if (streamed !== null) return { ...streamed, prepared }
      discard(plain.answer)
      return { ...empty, attempts: plain.attempts }
    }
  }

// --- internal ---

/** The same request for a plain answer; null where it asks for one. Servers refuse options of a stream beside that. */
function withoutStreaming(prepared: Prepared): Prepared | null {
  const { streaming } = prepared.chat.completion
  if (streaming === null) return null
  const plain = withReplaced(prepared.pieces, streaming.value, 'false')
  return { ...prepared, pieces: streaming.options === null ? plain : withoutSpan(plain, streaming.options) }
}

/** A plain answer as the stream that the client has asked for; null where it is none, or says nothing either. */
function streamedAnswer(plain: Outcome): Outcome | null {
  const streamed = asStream(bodyOf(plain))
  if (streamed === null) return null
  const { answer, prepared } = plain
  const rawHeaders = withoutLength(answer.rawHeaders).map((text, at, headers) =>
    at % 2 === 1 && headers[at - 1]?.toLowerCase() === 'content-type' ? EVENT_STREAM : text,
  )
  return {
    ...plain,
    answer: { ...answer, rawHeaders, body: asBody([Buffer.from(streamed.text)]) },
    held: [],
    // What it cost is good to know in any case.
    asksUsage: streamed.statesUsage && !prepared.chat.completion.includeUsage,
  }
}

const EVENT_STREAM = 'text/event-stream; charset=utf-8'
