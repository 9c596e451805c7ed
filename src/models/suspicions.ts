/** What is suspected of a model, in this process alone; all of it ends an hour after the first of it. */
export type Suspicions = {
  readonly sinceMs: number
  /** By conversation, the smallest prompt that was refused without numbers, in the provider's tokens. */
  readonly refusedTokens: Map<string, number>
  /** A window far below what is stated, or below a prompt that was answered: what two refusals agree on is believed. */
  contradicted: { readonly tokens: number; readonly conversation: string } | null
  /** The smallest prompt that was too long, in the provider's tokens; null where none was. */
  exceededTokens: number | null
  /** Refusals that no rule can read, by their words: what came of half of the prompt. */
  readonly unknownWordings: Map<string, TriedSmaller>
  /** By conversation, the last report of a prompt that was no count of it. */
  readonly oddReports: Map<string, OddReport>
  /** The number that is reported whatever the prompt. */
  constantTokens: number | null
  /** Whether an Ollama answers that has not said what it has loaded: only what was counted can show a cut. */
  isSilentOllama: boolean
  /** The largest prompt that was answered together with its output limit, in the provider's tokens; 0 before any was. */
  togetherTokens: number
  /** Whether a prompt was refused on account of its output limit, which the server held against its window. */
  isLimitHeld: boolean
  /** How often a request was refused with the usage asked for, and answered without. */
  usageRefusals: number
  /** Whether a request that asked for errors instead of silent cuts was refused, and answered without. */
  refusesErrors: boolean
  /** Where prompts that came out cut say that the window lies. */
  cutBounds: CutBounds | null
  /** How many long prompts in a row were not read from the provider's cache; null before any was. */
  cacheMisses: number | null
}

export type TriedSmaller = {
  /** When it was refused as well; null if it was answered. */
  readonly refusedAtMs: number | null
  /** The prompt that was refused before half of it was answered, in the provider's tokens; null if it was refused. */
  readonly answered: { readonly conversation: string; readonly promptTokens: number } | null
}

/** Between what a cut prompt still had and the first size that did not fit: there lies the window. */
export type CutBounds = {
  readonly fitsTokens: number
  readonly exceedsTokens: number
  /** How many prompts say so. */
  readonly cuts: number
}

export type OddReport = { readonly promptTokens: number; readonly ownTextTokens: number | null }

/** How long something is suspected that nothing has confirmed, in milliseconds. */
export const SUSPECTED_MS = 3_600_000

/** `unknownWordings` of before: each of them has a time of its own. */
export function noSuspicions(
  sinceMs: number,
  unknownWordings: Suspicions['unknownWordings'] = new Map(),
): Suspicions {
  return {
    sinceMs,
    refusedTokens: new Map(),
    unknownWordings,
    contradicted: null,
    exceededTokens: null,
    oddReports: new Map(),
    constantTokens: null,
    isSilentOllama: false,
    togetherTokens: 0,
    isLimitHeld: false,
    usageRefusals: 0,
    refusesErrors: false,
    cutBounds: null,
    cacheMisses: null,
  }
}

/** Notes something of a conversation, as one of the latest few. */
export function noteOf<Value>(map: Map<string, Value>, conversation: string, value: Value): void {
  map.delete(conversation)
  map.set(conversation, value)
  const [oldest] = map.keys()
  if (map.size > CONVERSATIONS_MAX && oldest !== undefined) map.delete(oldest)
}

// --- internal ---

/** Conversations remembered of one model; two are enough to confirm each other. */
const CONVERSATIONS_MAX = 64
