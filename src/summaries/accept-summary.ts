import { harmless } from '../compaction/recap/headings.ts'
import type { CountTokens } from '../compaction/history/history.ts'
import type { SummaryAnswer } from './summary-call.ts'
import { lostThings, type Section, sectionsOf, textOfSections, withoutKept, worthOf } from './sections.ts'
import type { SummaryOrder } from './summary-order.ts'
import { instructionSentences } from './prompt.ts'
import { redacted } from './secrets.ts'
import { failure, type FailureReason, type SummaryRecord } from './summary-record.ts'

/** What a model was given beside its instructions. */
export type Given = {
  /** The summary that this one continues; null if there was none. */
  readonly previous: string | null
  /** The word that fenced its material; null if nothing was fenced. */
  readonly fenceKey: string | null
}

/**
 * The summary that is made of a model's text: judged, without secrets and wrappings, cut to whole sections within its cap,
 * with what it lost of the one before.
 */
export function acceptSummary(
  written: Omit<Extract<SummaryAnswer, { kind: 'text' }>, 'kind'>,
  { settings, replacedTokens, history: { count } }: CompletionOrder,
  { previous, fenceKey }: Given,
): SummaryRecord {
  if (written.text.length > replacedTokens * TOKEN_CHARS_MAX) return failure('too-long')
  const text = redacted(harmless(unwrapped(written.text)))
  const fault = faultIn(text, instructionSentences(settings), fenceKey)
  if (fault !== null) return failure(fault)
  if (count(text) > replacedTokens) return failure('too-long')
  const whole = written.isUnfinished ? withoutUnfinished(text) : text
  const own = whole === null ? null : withoutKept(whole)
  const fitted = own === null ? null : fitSections(own.text, settings.max_tokens, count)
  if (own === null || fitted === null || fitted.text === '') return failure('truncated')
  const before = [fitted.dropped, own.kept, previous ?? ''].filter((part) => part !== '')
  const keptMax = Math.floor(settings.max_tokens * KEPT_SHARE)
  const kept = lostThings(fitted.text, before, keptMax, count)
  const complete = kept === '' ? fitted.text : withKept(fitted.text, kept, settings.max_tokens, count)
  return { kind: 'written', text: complete, tokens: count(complete) }
}

/** The part of a summary that fits, and the rest. */
type Fitted = { readonly text: string; readonly dropped: string }

/**
 * @internal exported for tests. A summary cut to `tokensMax`: whole sections, the worthiest first as far as they fit, in their
 * order. If none fits, whole lines from the beginning of the worthiest. Null if nothing whole is left.
 */
export function fitSections(summary: string, tokensMax: number, count: CountTokens): Fitted | null {
  if (count(summary) <= tokensMax) return { text: summary, dropped: '' }
  const all = pieces(summary)
  const ranked = all
    .map((section, position) => ({ section, position, tokens: count(section.text) + BREAK_TOKENS }))
    .sort((a, b) => worthOf(b.section) - worthOf(a.section) || a.position - b.position)
  const kept = new Set<number>()
  let left = tokensMax
  for (const { position, tokens } of ranked) {
    if (tokens > left) continue
    kept.add(position)
    left -= tokens
  }
  const worthiest = ranked[0]
  if (kept.size === 0)
    return worthiest === undefined ? null : firstLines(summary, worthiest.section, tokensMax, count)
  return {
    text: textOfSections(all.filter((_, position) => kept.has(position))),
    dropped: textOfSections(all.filter((_, position) => !kept.has(position))),
  }
}

/** A summary that broke off, without the section that it broke off in; null if that was its first. */
function withoutUnfinished(summary: string): string | null {
  const whole = pieces(summary).slice(0, -1)
  return whole.length === 0 ? null : textOfSections(whole)
}

// --- internal ---

type CompletionOrder = Pick<SummaryOrder, 'settings' | 'replacedTokens'> & {
  readonly history: Pick<SummaryOrder['history'], 'count'>
}

/** No text but a run of one character has more characters a token: a longer one need not be counted, which takes its time. */
const TOKEN_CHARS_MAX = 64

/** The share of a summary's cap that the list of lost things may take. */
const KEPT_SHARE = 1 / 8

/** The cap holds for both: if they do not fit together, a section makes room; if it would take all, the list goes. */
function withKept(text: string, kept: string, tokensMax: number, count: CountTokens): string {
  const fitted = fitSections(text, tokensMax - count(`\n\n${kept}`) - 1, count)
  const both = fitted === null ? text : `${fitted.text}\n\n${kept}`
  return count(both) <= tokensMax ? both : text
}

/** An answer without the wrappings that models like to put around all of it: a block of code, a `<summary>` tag, our own tags. */
function unwrapped(text: string): string {
  let left = text.trim()
  for (let layer = 0; layer < LAYERS_MAX; layer += 1) {
    const inner = inCode(left) ?? inTags(left)
    if (inner === null) break
    left = inner.trim()
  }
  return left
}

const LAYERS_MAX = 4

function inCode(text: string): string | null {
  const opening = /^```[a-z]{0,16}[ \t]*\n/i.exec(text)
  if (opening === null || !text.endsWith('\n```')) return null
  const inner = text.slice(opening[0].length, -'\n```'.length)
  // Two blocks one after the other are no block around all.
  return (inner.match(/^```/gm) ?? []).length % 2 === 0 ? inner : null
}

function inTags(text: string): string | null {
  const opening = /^<(summary|conversation-summary|conversation-recap)>/i.exec(text)
  if (opening === null) return null
  const closing = `</${opening[1] ?? ''}>`
  const hasClosing = text.toLowerCase().endsWith(closing.toLowerCase())
  return text.slice(opening[0].length, hasClosing ? -closing.length : undefined)
}

/** Why a text is no summary, whatever its length; null if it may be one. */
function faultIn(
  text: string,
  instructions: readonly string[],
  fenceKey: string | null,
): FailureReason | null {
  if ((text.match(/[\p{L}\p{N}]/gu) ?? []).length < LETTERS_MIN) return 'empty'
  if (fenceKey !== null && text.includes(fenceKey)) return 'instructions-repeated'
  const repeated = instructions.filter((sentence) => text.includes(sentence))
  if (repeated.length >= Math.min(REPEATED_SENTENCES, Math.max(1, instructions.length)))
    return 'instructions-repeated'
  if (/^\s*<(?:!doctype|html|\?xml)\b/i.test(text)) return 'error-text'
  // A text with sections was written as asked, whatever it begins with.
  if (/^(?:#{1,4} |\*\*)/m.test(text)) return null
  if (errorText.test(text)) return 'error-text'
  return text.length <= DECLINED_CHARS_MAX && declined.test(text) ? 'declined' : null
}

/** "OK", "Done.", "好的": a word is no summary of thousands of tokens. Twelve letters hold a sentence in Chinese, and hardly two words in English. */
const LETTERS_MIN = 12

/** One sentence may stand in a conversation about prompts; two were copied. */
const REPEATED_SENTENCES = 2

/** A model that will not summarise says so in a few lines. */
const DECLINED_CHARS_MAX = 600

const errorText =
  /^\s*(?:\[?(?:\w{1,30})?(?:error|exception)\]?\s{0,2}[:(]|error\b|traceback \(most recent|\{\s*"(?:error|detail|object)"|(?:internal server error|bad gateway|service unavailable|gateway time-?out|too many requests|\d{3} \w))/i

const declined =
  /^\s*(?:i(?:'|’)?m (?:very )?sorry|sorry,|i apologi[sz]e|i (?:can(?:no|'|’)t|am (?:unable|not able)|will not|won(?:'|’)t)|as an ai\b|unfortunately, i\b)/i

/** The blank line between two sections. */
const BREAK_TOKENS = 2

/** The sections; of a text without headings its paragraphs. */
function pieces(summary: string): Section[] {
  const found = sectionsOf(summary)
  if (found.some(({ heading }) => heading !== '')) return found
  return summary
    .split(/\n[ \t]*\n/)
    .map((text) => ({ heading: '', text: text.trim() }))
    .filter(({ text }) => text !== '')
}

function firstLines(
  summary: string,
  { text }: Section,
  tokensMax: number,
  count: CountTokens,
): Fitted | null {
  const lines = text.split('\n')
  let tokens = 0
  let end = 0
  for (const line of lines) {
    tokens += count(`${line}\n`)
    if (tokens > tokensMax) break
    end += 1
  }
  const kept = lines.slice(0, end).join('\n').trim()
  // A heading alone says nothing.
  if (kept === '' || (end < 2 && sectionsOf(kept)[0]?.heading !== '')) return null
  return { text: kept, dropped: summary.replace(kept, () => '').trim() }
}
