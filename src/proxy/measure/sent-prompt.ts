import { writeStride, type Stride } from '../../compaction/stride.ts'
import { expectedTokens, type Anchor, type CountedPrompt } from '../../pressure/calibration.ts'
import { digest } from '../request/body-source.ts'
import type { Measure } from './measure.ts'
import type { Chat } from '../request/read-chat.ts'
import type { Prepared } from '../rewrite.ts'

/** A prompt that was sent, as far as it is compared with what the provider says of it. Holds nothing of its content. */
export type SentPrompt = CountedPrompt & {
  readonly calibrationName: string
  /** Under which a longer prompt finds it again. */
  readonly name: string
  /** In the provider's tokens, as far as we know them. */
  readonly expectedTokens: number
  /** Of these, the text of messages: without media, thoughts, tools and schemas. */
  readonly expectedTextTokens: number
  readonly isCalibrated: boolean
  /** What of it the provider has counted before; null where nothing. */
  readonly anchor: Anchor | null
  /** What it added to the last prompt that it begins with, in the provider's tokens; null where none was seen. */
  readonly addedTokens: number | null
}

/** How far back a prompt is looked for that the provider has counted: mostly it is the one before. */
const POINTS_BACK_MAX = 16

/** What the provider should count of a prompt that is sent, in its tokens. */
export function expectedPromptTokens(measure: Measure, prepared: Prepared): number {
  return expectedTokens(prepared.sentTokens, measure.rate, anchorFor(measure, prepared))
}

/** Describes what was sent; null where it was not counted. */
export function describeSent(chat: Chat, measure: Measure, prepared: Prepared): SentPrompt | null {
  const { counted, rate, calibrationName } = measure
  if (counted === null) return null
  const stride = prepared.compacted?.stride ?? null
  const ownTokens = prepared.sentTokens
  const seen = stride === counted.stride ? counted.beginning.seen : null
  const textTokens = Math.max(0, ownTokens - counted.looseTokens - counted.toolsTokens)
  return {
    calibrationName,
    name: promptName(chat, stride, chat.messages.length),
    ownTokens,
    aroundTokens: counted.aroundTokens,
    // Those of the whole conversation: what a view left out was left out by its stride, under whose name it is found.
    mediaTokens: counted.mediaTokens,
    looseTokens: counted.looseTokens,
    expectedTokens: expectedPromptTokens(measure, prepared),
    expectedTextTokens: Math.ceil(textTokens * rate.ratio),
    isCalibrated: rate.isCalibrated,
    anchor: anchorFor(measure, prepared),
    addedTokens: seen === null ? null : Math.ceil((ownTokens - seen.ownTokens) * rate.ratio),
  }
}

/** The request points whose prompts are beginnings of what is sent under a stride, the longest first. */
export function promptBeginnings(
  chat: Chat,
  stride: Stride | null,
): readonly { readonly point: number; readonly name: string }[] {
  const under = strideName(chat, stride)
  return chat.structure.requestPoints
    .filter((point) => stride === null || point >= stride.point)
    .slice(-POINTS_BACK_MAX)
    .toReversed()
    .map((point) => ({ point, name: `${under} ${chat.keys[point] ?? ''}` }))
}

// --- internal ---

function anchorFor({ counted }: Measure, { compacted }: Prepared): Anchor | null {
  if (counted === null || (compacted?.stride ?? null) !== counted.stride) return null
  return counted.beginning.counted?.anchor ?? null
}

/** Names the prompt that is sent for the first `point` messages under a stride; null: as they came. */
function promptName(chat: Chat, stride: Stride | null, point: number): string {
  return `${strideName(chat, stride)} ${chat.keys[point] ?? ''}`
}

function strideName(chat: Chat, stride: Stride | null): string {
  if (stride === null) return ''
  return digest(`${chat.keys[stride.point] ?? ''} ${writeStride(stride, chat.structure.systemCount)}`)
}
