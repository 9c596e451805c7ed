import { noSizes, type AnswerClass, type Remedy, type StatedSizes } from './classification.ts'
import { readCount, windowTokensMin } from './token-numbers.ts'
import rows from './wordings.json' with { type: 'json' }

/*
 * Wordings of servers, each beside a sample. Patterns are matched against a server's own words (own-words.ts), whose length
 * is bounded; none nests a repetition in a repetition, so that a hostile text costs linear time.
 */

/** How one server words an overflow. */
export type OverflowSignature = {
  readonly provider: string
  /** With the named groups `window`, `prompt`, `output` and `total` (prompt and output). */
  readonly pattern: RegExp
  readonly sample: string
  /** Whether the window counts the prompt alone. */
  readonly countsInput?: boolean
  /** Whether the server stops counting at its window, so that the prompt's size is a lower bound. */
  readonly stopsCounting?: boolean
  /** Whether the server says that less output is enough, where the prompt fits. */
  readonly takesLessOutput?: boolean
}

/**
 * Wordings that the general form would misread, or in which too little is said for it. The first pattern that matches
 * is taken: wordings with more numbers stand first.
 */
export const overflowSignatures: readonly OverflowSignature[] = rows.overflows.map((row) => ({
  ...row,
  // `{window}` stands for a number of tokens, however it is grouped.
  pattern: new RegExp(row.pattern.replaceAll(/\{([a-z]+)\}/g, String.raw`(?<$1>\d[\d,._]*)`), 'i'),
}))

/** A wording that speaks of tokens, limits or sizes, or refuses the order of messages, and is no overflow. */
export type LookAlike = {
  readonly provider: string
  readonly class: AnswerClass
  readonly remedy: Remedy
  readonly pattern: RegExp
  readonly sample: string
}

/** Looked at before any overflow wording: what matches here is never an overflow. */
export const vetoes: readonly LookAlike[] = [
  ...lookAlikes('rate', 'none', rows.vetoes.rate),
  ...lookAlikes('denied', 'none', rows.vetoes.denied),
  ...lookAlikes('output_too_large', 'clamp', rows.vetoes.output_too_large),
]

/** Looked at after the overflow wordings. */
export const refusals: readonly LookAlike[] = [
  ...lookAlikes('payload_too_large', 'compact-count', rows.refusals['compact-count']),
  ...lookAlikes('payload_too_large', 'compact-bytes', rows.refusals['compact-bytes']),
  ...lookAlikes('order', 'none', rows.refusals.order),
]

/** Sizes, and whether the server itself says that less output is enough, where the prompt fits. */
export type SignedSizes = StatedSizes & { readonly takesLessOutput: boolean }

/** What the first signature that matches says of sizes; null where none does. What is no plausible number is left out. */
export function readSignature(words: string, signatures: readonly OverflowSignature[]): SignedSizes | null {
  for (const { pattern, countsInput = false, stopsCounting = false, takesLessOutput = false } of signatures) {
    const groups = pattern.exec(words)?.groups
    if (groups === undefined) continue
    const tokens = readCount(groups['window']) ?? 0
    const prompt = readCount(groups['prompt']) ?? 0
    return {
      ...noSizes,
      window: tokens < windowTokensMin ? null : { tokens, kind: countsInput ? 'input' : 'total' },
      promptTokens: prompt === 0 ? null : { tokens: prompt, exact: !stopsCounting },
      completionTokens: readCount(groups['output']),
      totalTokens: readCount(groups['total']),
      takesLessOutput,
    }
  }
  return null
}

// --- internal ---

type Row = { readonly provider: string; readonly pattern: string; readonly sample: string }

function lookAlikes(answerClass: AnswerClass, remedy: Remedy, found: readonly Row[]): readonly LookAlike[] {
  return found.map((row) => ({ ...row, class: answerClass, remedy, pattern: new RegExp(row.pattern, 'i') }))
}
