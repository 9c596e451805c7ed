import type { Chat, Counted, Measure, Form } from '../request.ts'
import { sumOf, sumsOf } from '../../compaction/size-sums.ts'
import { writeCompaction, type Compaction } from '../../compaction/compaction.ts'
import {
  expectedTokens,
  type Anchor,
  type SentBeginning,
  type SentPrompt,
} from '../../models/counts/prompt.ts'
import type { CountedModel, Counts } from '../../models/counts/counts.ts'
import { digest } from '../read/body-source.ts'
import { bytesIn } from '../send/outgoing-body.ts'

/** What the provider should count of a prompt of so many of our tokens; our own count if nothing was measured. */
export function promptTokensOf(measure: Measure | null, form: Form, ownTokens = form.sentTokens): number {
  return measure === null ? ownTokens : expectedTokens(ownTokens, measure.rate, anchorFor(measure, form))
}

/** A prompt as it is compared with what the provider says of it. */
export function describeSent(chat: Chat, scope: string, measure: Measure, form: Form): SentPrompt {
  const { rate, familyRatio, counted, counting } = measure
  const compaction = form.compacted?.compaction ?? null
  const under = promptsUnder(chat, scope, compaction)
  const points = pointsUnder(chat, compaction)
  const described = {
    prompt: under + (chat.keys[chat.messages.length] ?? ''),
    encoding: counting.encoding,
    textBytes: bytesIn(form.pieces) - mediaCharacters(chat, form),
  }
  const beginnings: SentBeginning[] = []
  if (counted === null) {
    for (const point of points) beginnings.push({ prompt: under + (chat.keys[point] ?? ''), counted: null })
    return { ...described, beginnings, counted: null }
  }
  const { perMessage, subject } = counted
  const loose = looseSums(perMessage)
  const all = sumsOf(subject.sizes)
  const text = (until: number): number => (all[until] ?? 0) - (loose[until] ?? 0)
  for (const point of points) {
    const addedTextTokens = text(perMessage.length) - text(point)
    const prompt = under + (chat.keys[point] ?? '')
    beginnings.push({ prompt, counted: { addedTextTokens, looseTokens: loose[point] ?? 0 } })
  }
  return {
    ...described,
    beginnings,
    counted: {
      ownTokens: form.sentTokens,
      aroundTokens: counted.aroundTokens,
      looseTokens: looseTokens(counted, form),
      conversationTokens: counted.conversationTokens,
      ratio: rate.ratio,
      ratioMin: Math.min(rate.ratio, familyRatio),
      toolsTokens: counted.toolsTokens,
      messageTokens: messageTokens(counted, form),
      anchor: anchorFor(measure, form),
    },
  }
}

/** The prompt under the newest compaction as far as the provider has counted it; null if it has counted nothing of it. */
export function anchorOf(
  { chat, compaction, scope }: { chat: Chat; compaction: Compaction | null; scope: string },
  counts: Pick<Counts, 'anchorAt'>,
  counting: CountedModel,
  { subject }: Pick<Counted, 'subject'>,
): Anchor | null {
  const under = promptsUnder(chat, scope, compaction)
  return counts.anchorAt(
    counting,
    pointsUnder(chat, compaction).map((point) => ({
      prompt: under + (chat.keys[point] ?? ''),
      // A client that dropped its thoughts or changed an image since has another beginning of the same meaning.
      conversationTokens: sumOf(subject.sizes, chat.structure.systemCount, point),
    })),
  )
}

// --- internal ---

/** How far back a prompt is looked for that the provider has counted: mostly it is the one before. */
const POINTS_BACK_MAX = 16

/** The request points whose prompts are beginnings of what is sent under a compaction, the longest first. */
function pointsUnder({ structure }: Chat, compaction: Compaction | null): readonly number[] {
  const points: number[] = []
  for (const point of structure.requestPoints.slice(-POINTS_BACK_MAX))
    if (compaction === null || point >= compaction.point) points.unshift(point)
  return points
}

/** The beginning of the names of all prompts that are sent under a compaction; null: of those sent as they came. */
function promptsUnder(chat: Chat, scope: string, compaction: Compaction | null): string {
  if (compaction === null) return `${scope} `
  const written = writeCompaction(compaction, chat.structure.systemCount)
  return `${scope} ${digest(`${chat.keys[compaction.point] ?? ''} ${written}`)} `
}

/** The provider's count is known of the view of the newest compaction, and of no other. */
function anchorFor({ counted }: Measure, { compacted }: Form): Anchor | null {
  if (counted === null || (compacted?.compaction ?? null) !== counted.compaction) return null
  return counted.anchor
}

/** At each index, the tokens of the media and thoughts before it. */
function looseSums(perMessage: Counted['perMessage']): Float64Array {
  const sums = new Float64Array(perMessage.length + 1)
  for (let index = 0; index < perMessage.length; index += 1)
    sums[index + 1] = (sums[index] ?? 0) + looseOf(perMessage[index])
  return sums
}

function looseOf(counted: Counted['perMessage'][number] | undefined): number {
  return counted === undefined ? 0 : counted.mediaTokens + counted.thoughtTokens
}

function messageTokens({ subject }: Counted, { compacted }: Form): readonly number[] {
  const { systemCount } = subject.structure
  if (compacted === null) return subject.sizes.slice(systemCount)
  return compacted.view.messages.slice(systemCount).map(({ tokens }) => tokens)
}

/** Media and thoughts in what was sent: what was folded or made anew holds neither. */
function looseTokens({ perMessage }: Counted, { compacted }: Form): number {
  const kept =
    compacted === null
      ? perMessage
      : compacted.view.messages.flatMap(({ item }) =>
          item.kind === 'kept' ? (perMessage[item.index] ?? []) : [],
        )
  return kept.reduce((sum, counted) => sum + looseOf(counted), 0)
}

/** How much of what was sent is base64. */
function mediaCharacters(chat: Chat, { compacted }: Form): number {
  const kept =
    compacted === null
      ? chat.messages
      : compacted.view.messages.flatMap(({ item }) =>
          item.kind === 'kept' ? (chat.messages[item.index] ?? []) : [],
        )
  let bytes = 0
  for (const { facts } of kept) for (const media of facts.media) bytes += media.dataBytes
  return Math.ceil((bytes * 4) / 3)
}
