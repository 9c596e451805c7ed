import type { FailureReason } from './failure.ts'

/** Why a text that a model wrote is no summary, whatever its length; null where it may be one. `instructions` are those that it was given, each once. */
export function faultIn(
  text: string,
  instructions: readonly string[],
  fenceKey: string | null,
): FailureReason | null {
  if ((text.match(/[\p{L}\p{N}]/gu) ?? []).length < LETTERS_MIN) return 'empty'
  if (repeatsInstructions(text, instructions, fenceKey)) return 'instructions-repeated'
  if (/^\s*<(?:!doctype|html|\?xml)\b/i.test(text)) return 'error-text'
  // What has sections was written as asked, whatever it begins with.
  if (/^(?:#{1,4} |\*\*)/m.test(text)) return null
  if (errorText.test(text)) return 'error-text'
  return text.length <= DECLINED_CHARS_MAX && declined.test(text) ? 'declined' : null
}

// --- internal ---

/** "OK", "Done.", "好的": a word is no summary of thousands of tokens. Twelve letters hold a sentence in Chinese, and hardly two words in English. */
const LETTERS_MIN = 12

/** A model that will not summarise says so in a few lines. */
const DECLINED_CHARS_MAX = 600

const errorText =
  /^\s*(?:\[?(?:\w{1,30})?(?:error|exception)\]?\s{0,2}[:(]|error\b|traceback \(most recent|\{\s*"(?:error|detail|object)"|(?:internal server error|bad gateway|service unavailable|gateway time-?out|too many requests|\d{3} \w))/i

const declined =
  /^\s*(?:i(?:'|’)?m (?:very )?sorry|sorry,|i apologi[sz]e|i (?:can(?:no|'|’)t|am (?:unable|not able)|will not|won(?:'|’)t)|as an ai\b|unfortunately, i\b)/i

/** One sentence may stand in a conversation about prompts; two were copied. */
const REPEATED_SENTENCES = 2

function repeatsInstructions(
  text: string,
  instructions: readonly string[],
  fenceKey: string | null,
): boolean {
  if (fenceKey !== null && text.includes(fenceKey)) return true
  const repeated = instructions.filter((sentence) => text.includes(sentence))
  return repeated.length >= Math.min(REPEATED_SENTENCES, Math.max(1, instructions.length))
}
