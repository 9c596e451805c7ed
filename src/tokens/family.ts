import type { WindowKind } from './budget.ts'

/** The window of a family of models. */
export type Family = {
  /** Matched against a name in small letters, with dashes for underscores, without what stands before a slash. */
  readonly pattern: RegExp
  readonly windowTokens: number
  readonly kind: WindowKind
  /** A name that this row is for. */
  readonly sample: string
}

/** A window that holds the prompt and the reply. */
export function total(pattern: RegExp, windowTokens: number, sample: string): Family {
  return { pattern, windowTokens, kind: 'total', sample }
}

/** A limit on the prompt alone. */
export function input(pattern: RegExp, windowTokens: number, sample: string): Family {
  return { pattern, windowTokens, kind: 'input', sample }
}
