import type { Chat, Counted, Form, Measure } from '../request.ts'
import { sum, sumOf } from '../../conversation/sizes.ts'
import { type Compaction, writeCompaction } from '../../compaction/compaction.ts'
import {
  type Anchor,
  expectedTokens,
  type SentBeginning,
  type SentPrompt,
} from '../../models/counts/counted-prompt.ts'
import type { CountedModel, Counts } from '../../models/counts/counts.ts'
import { digest } from '../read/read-chat.ts'
import { bytesIn } from '../send/outgoing-body.ts'

/** Our count of what is sent: a form may have been given its size before anything was counted, and as it came it is as large as it came. */
export function ownTokensOf(measure: Measure | null, { isRewritten, sentTokens }: Form): number {
  return isRewritten ? sentTokens : (measure?.incomingTokens ?? sentTokens)
}

/** What the provider should count of a prompt of so many of our tokens; our own count if nothing was measured. */
export function promptTokensOf(
  measure: Measure | null,
  form: Form,
  ownTokens = ownTokensOf(measure, form),
): number {
  if (measure === null) return ownTokens
  const { counted, rate } = measure
  return expectedTokens(ownTokens, rate, counted === null ? null : anchorFor(counted, form))
}

/** A prompt as it is compared with what the provider says of it. */
export function describeSent(chat: Chat, scope: string, measure: Measure, form: Form): SentPrompt {
  const { rate, familyRatio, counted, counting } = measure
  const { prompt, beginnings } = promptsUnder(chat, scope, form.compacted?.compaction ?? null)
  const described = { prompt, encoding: counting.encoding }
  const sentBytes = bytesIn(form.pieces)
  // What holds media is counted, whatever its size.
  if (counted === null) return { ...described, textBytes: sentBytes, beginnings, counted }
  const { perMessage, history } = counted
  const loose = perMessage.map(({ mediaTokens, thoughtTokens }) => mediaTokens + thoughtTokens)
  const end = loose.length
  return {
    ...described,
    textBytes: sentBytes - mediaCharacters(chat, form),
    beginnings: beginnings.map((each) => ({
      ...each,
      counted: {
        addedTextTokens: sumOf(history.sizes, each.point, end) - sumOf(loose, each.point, end),
        looseTokens: sumOf(loose, 0, each.point),
      },
    })),
    counted: {
      ownTokens: ownTokensOf(measure, form),
      aroundTokens: counted.aroundTokens,
      // What was folded or made anew holds neither.
      looseTokens: sumOfKept(form, (index) => loose[index] ?? 0),
      conversationTokens: counted.conversationTokens,
      ratio: rate.ratio,
      ratioMin: Math.min(rate.ratio, familyRatio),
      toolsTokens: counted.toolsTokens,
      messageTokens: messageTokens(counted, form),
      anchor: anchorFor(counted, form),
    },
  }
}

/** The prompt under the newest compaction as far as the provider has counted it; null if it has counted nothing of it. */
export function anchorOf(
  { chat, compaction, scope }: { chat: Chat; compaction: Compaction | null; scope: string },
  counts: Pick<Counts, 'anchorAt'>,
  counting: CountedModel,
  { history }: Pick<Counted, 'history'>,
): Anchor | null {
  return counts.anchorAt(
    counting,
    promptsUnder(chat, scope, compaction).beginnings.map(({ prompt, point }) => ({
      prompt,
      // A client that dropped its thoughts or changed an image since has another beginning of the same meaning.
      conversationTokens: sumOf(history.sizes, chat.structure.systemCount, point),
    })),
  )
}

// --- internal ---

/** How far back a prompt is looked for that the provider has counted: mostly it is the one before. */
const POINTS_BACK_MAX = 16

/** A beginning of a prompt, which ends at a request point; nothing of it is counted yet. */
type Beginning = SentBeginning & { readonly point: number }

/** The names of a prompt that is sent under a compaction, null for none, and of its beginnings, the longest first. */
function promptsUnder({ structure, keys }: Chat, scope: string, compaction: Compaction | null) {
  const under =
    compaction === null
      ? `${scope} `
      : `${scope} ${digest(`${keys[compaction.point] ?? ''} ${writeCompaction(compaction, structure.systemCount)}`)} `
  const beginnings: Beginning[] = []
  for (const point of structure.requestPoints.slice(-POINTS_BACK_MAX))
    if (compaction === null || point >= compaction.point)
      beginnings.unshift({ point, prompt: under + (keys[point] ?? ''), counted: null })
  return { prompt: under + (keys.at(-1) ?? ''), beginnings }
}

/** The provider's count is known of the view of the newest compaction, and of no other. */
function anchorFor({ anchor, compaction }: Counted, { compacted }: Form): Anchor | null {
  return (compacted?.compaction ?? null) === compaction ? anchor : null
}

function messageTokens({ history }: Counted, { compacted }: Form): readonly number[] {
  if (compacted === null) return history.sizes.slice(history.structure.systemCount)
  const { messages, leadingCount } = compacted.view
  return messages.slice(leadingCount).map(({ tokens }) => tokens)
}

/** How much of what was sent is base64. */
function mediaCharacters({ messages }: Chat, form: Form): number {
  const bytes = sumOfKept(form, (index) =>
    sum((messages[index]?.facts.media ?? []).map(({ dataBytes }) => dataBytes)),
  )
  return Math.ceil((bytes * 4) / 3)
}

/** What those of the client's messages come to together that are sent as they came. */
function sumOfKept({ chat, compacted }: Form, of: (index: number) => number): number {
  if (compacted === null) return sum(chat.messages.map((_, index) => of(index)))
  return sum(compacted.view.messages.map(({ item }) => (item.kind === 'kept' ? of(item.index) : 0)))
}
