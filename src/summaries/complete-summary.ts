import { harmless } from '../compaction/recap/harmless.ts'
import type { CountTokens } from '../compaction/subject.ts'
import type { FailureReason } from './failure.ts'
import { fitSections, withoutUnfinished } from './fit-sections.ts'
import { faultIn } from './judge.ts'
import { lostThings, withoutKept } from './lost-things.ts'
import type { SummarySettings } from './prompt.ts'
import { redacted } from './secrets.ts'
import { unwrapped } from './unwrapped.ts'

export type Asked = {
  /** The summary that this one continues; null where there was none. */
  readonly previous: string | null
  /** What the model was told, by sentences. */
  readonly instructions: readonly string[]
  /** The word that fenced its material; null where nothing was fenced. */
  readonly fenceKey: string | null
  /** A longer text is refused. */
  readonly replacedTokens: number
  readonly settings: SummarySettings
  readonly count: CountTokens
}

export type Completed =
  | { readonly kind: 'complete'; readonly text: string; readonly tokens: number }
  | { readonly kind: 'refused'; readonly reason: FailureReason }

/**
 * The summary that is made of what a model wrote: judged, without secrets and wrappings, cut to whole sections within
 * its cap, with what it lost of the one before. `isUnfinished`: the output limit cut it off.
 */
export function completeSummary(written: string, isUnfinished: boolean, asked: Asked): Completed {
  const { count, settings } = asked
  if (written.length > asked.replacedTokens * TOKEN_CHARS_MAX) return { kind: 'refused', reason: 'too-long' }
  const text = redacted(harmless(unwrapped(written)))
  const fault = faultIn(text, asked.instructions, asked.fenceKey)
  if (fault !== null) return { kind: 'refused', reason: fault }
  if (count(text) > asked.replacedTokens) return { kind: 'refused', reason: 'too-long' }
  const whole = isUnfinished ? withoutUnfinished(text) : text
  const own = whole === null ? null : withoutKept(whole)
  const fitted = own === null ? null : fitSections(own.text, settings.max_tokens, count)
  if (own === null || fitted === null || fitted.text === '') return { kind: 'refused', reason: 'truncated' }
  const before = [fitted.dropped, own.kept, asked.previous ?? ''].filter((part) => part !== '')
  const keptMax = Math.floor(settings.max_tokens * KEPT_SHARE)
  const kept = lostThings(fitted.text, before, keptMax, count)
  const complete = kept === '' ? fitted.text : withKept(fitted.text, kept, settings.max_tokens, count)
  return { kind: 'complete', text: complete, tokens: count(complete) }
}

// --- internal ---

/** No text but a run of one character has more characters a token: beyond, it need not be counted, which takes its time. */
const TOKEN_CHARS_MAX = 64

/** The share of a summary's cap that the list of lost things may take. */
const KEPT_SHARE = 1 / 8

/** The cap holds for both: where they do not fit together, a section makes room; where it would take all, the list goes. */
function withKept(text: string, kept: string, tokensMax: number, count: CountTokens): string {
  const fitted = fitSections(text, tokensMax - count(`\n\n${kept}`) - 1, count)
  const both = fitted === null ? text : `${fitted.text}\n\n${kept}`
  return count(both) <= tokensMax ? both : text
}
