import type { Media } from '../conversation/message.ts'
import { modelName } from './families.ts'
import { imageRuleOf, type ImageRule } from './image-rules.ts'

/**
 * What a part that is no text costs, in tokens of the model's own provider. Goes by pixels and bytes, never by the length of
 * the base64 text; where a size is unknown it errs on the side of too much.
 */
export function mediaTokens(media: Media, model: string): number {
  switch (media.kind) {
    case 'image':
      return imageTokens(media, imageRuleOf(model))
    case 'audio':
      return media.dataBytes === 0
        ? unknownSizeTokens
        : Math.ceil((media.seconds || media.dataBytes / audioBytesPerSecond) * audioTokensPerSecond(model))
    case 'video':
      return media.dataBytes === 0
        ? unknownSizeTokens
        : Math.ceil((media.dataBytes / videoBytesPerSecond) * videoTokensPerSecond)
    case 'file':
      if (media.isText === true) return Math.ceil(media.dataBytes / textBytesPerToken)
      return media.dataBytes === 0
        ? unknownSizeTokens
        : Math.ceil(media.dataBytes / fileBytesPerPage) * fileTokensPerPage
    case 'other':
      return media.dataBytes === 0 ? unknownPartTokens : Math.ceil(media.dataBytes / textBytesPerToken)
  }
}

// --- internal ---

/** A medium known by address or id only. Most photos cost between 250 and 1,600, whoever counts them. */
const unknownSizeTokens = 1600

/** What an image of unknown size is taken for, where its rule makes that dearer than `unknownSizeTokens`. */
const unknownEdgePixels = 1024

/** Sound whose header says nothing: compressed speech at 128 kbit/s. Raw samples (48 kB/s for 16 bits, mono, 24 kHz) come out three times too long. */
const audioBytesPerSecond = 16_000

/** Gemini documents 32 tokens a second; OpenAI's audio models take about 10. */
function audioTokensPerSecond(model: string): number {
  return /gemini|gemma/.test(modelName(model)) ? 32 : 10
}

/** 2 Mbit/s, and Gemini's frame a second of 258 tokens with 32 of sound, rounded up. */
const videoBytesPerSecond = 250_000
const videoTokensPerSecond = 300

/** A page of a PDF: the text and the picture of it, 1.5 to 3 thousand tokens with Claude. Scans take more bytes a page. */
const fileBytesPerPage = 65_536
const fileTokensPerPage = 2000

/** Files that are text, and the JSON of a kind of part that nobody described to us: prose. */
const textBytesPerToken = 4
const unknownPartTokens = 256

function imageTokens(media: Media, rule: ImageRule): number {
  const known = media.widthPixels > 0 && media.heightPixels > 0
  if (known) return whole(rule.tokens(media.widthPixels, media.heightPixels, media.detail))
  const guess = whole(rule.tokens(unknownEdgePixels, unknownEdgePixels, media.detail))
  if (media.detail === 'low' && rule.lowIsFixed) return guess
  return Math.max(unknownSizeTokens, guess, whole(rule.unknownTokens ?? 0))
}

/** Rounded up; 4,050.0000001, which 2,500 times 1.62 is to the machine, is 4,050. */
function whole(tokens: number): number {
  return Math.ceil(tokens - 1e-6)
}
