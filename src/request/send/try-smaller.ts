import { noteOf } from '../../models/suspicions.ts'
import { unreadWording } from '../../overflow/unread-wording.ts'
import { headerValue } from '../../upstream/credential.ts'
import { promptTokensOf } from '../measure/sent-prompt.ts'
import type { RequestParts } from '../parts.ts'
import type { Measure, Outcome, Send } from '../request.ts'
import { discard, isAnswered, sendAgain, standing } from './outcome.ts'
import { clamped, countSent } from './output-limit.ts'
import { recordForm, tightened } from './recover.ts'

/**
 * Answers a refusal that no rule can read by one experiment, where the prompt is large: the same under half of its size. If
 * that is answered, the conversation goes on from there, and the window is believed to lie below once it happened twice; if
 * not, the client gets the refusal as it came, and this wording is not tried again for an hour.
 */
export const trySmaller =
  (parts: RequestParts) =>
  (send: Send): Send =>
    async function sendTrying(form, sending) {
      const first = await send(form, sending)
      const { profile, whyUntouched, modelKey, remembered, chat } = sending.request
      const wording = wordingOf(first)
      const mayTry = !profile.observe && profile.overflow.attempts > 0 && profile.trigger !== 'off'
      if (wording === null || !mayTry || whyUntouched !== null) return first
      const tried = parts.models.suspected(modelKey).unreadWordings
      const before = tried.get(wording)
      if (before?.refusedAtMs != null && parts.nowMs() - before.refusedAtMs < UNTRIED_MS) return first
      const sentTokens = await countSent(form, sending, parts)
      const { measure } = sending
      const promptTokens = promptTokensOf(measure, form, sentTokens)
      if (measure === null || promptTokens < worthTokens(measure)) return first
      const how = {
        budgetTokens: Math.floor((sentTokens - 1) / 2),
        keepRecent: profile.keep.recent_messages,
        smallest: false,
        fills: true,
        refusedTokens: sentTokens,
      }
      const smaller = await tightened(first.form, how, sending, parts)
      if (smaller === null) return first
      const limit = first.form.clampedOutputTokens
      const half = limit === null || chat.body.outputLimit === null ? smaller : clamped(smaller, limit)
      // They were refused, or are what was: another refusal is answered by no larger request.
      sending.refused.add('original')
      const second = await sendAgain(first, () => send(half, sending))
      if (second === null) return standing(first)
      if (!isAnswered(second)) {
        discard(second.answer)
        // A server in trouble, or one that is asked too often, has said nothing of this wording.
        if (isRefusedAlike(second)) noteOf(tried, wording, { refusedAtMs: parts.nowMs(), answered: null })
        return { ...first, attempts: second.attempts }
      }
      const answered = { conversation: remembered.conversation, promptTokens }
      if (before?.answered != null)
        for (const each of [before.answered, answered])
          parts.windows.recovered(modelKey, each.conversation, each.promptTokens)
      noteOf(tried, wording, { refusedAtMs: null, answered })
      await recordForm(second.form, sending, parts)
      return { ...second, remedy: 'recovered' }
    }

// --- internal ---

/** How long a wording is not tried again that was refused at half of the size, too, in milliseconds. */
const UNTRIED_MS = 3_600_000
/** A prompt of this share of a known window may be too long for another. */
const WINDOW_SHARE_MIN = 0.5
/** Where the window is a guess, the smallest prompt that may be too long, in the provider's tokens. */
const GUESSED_TOKENS_MIN = 4_096

function worthTokens({ window }: Measure): number {
  return window.source === 'default' ? GUESSED_TOKENS_MIN : window.tokens * WINDOW_SHARE_MIN
}

function isRefusedAlike({ verdict, classification }: Outcome): boolean {
  return verdict === 'refused' && (classification?.class === 'other' || classification?.class === 'overflow')
}

/** What an unread refusal says; null for any other answer, and for one that could not be given to the client any more. */
function wordingOf({ verdict, classification, answer, held }: Outcome): string | null {
  if (verdict !== 'refused' || classification?.class !== 'other' || !answer.body.isEnded) return null
  const isReadable = headerValue(answer.rawHeaders, 'content-encoding') === null
  return isReadable ? unreadWording(Buffer.concat(held).toString('utf8'), answer.status) : null
}
