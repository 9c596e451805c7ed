import { LRUCache } from 'lru-cache'

/** A prompt as we counted it, in our tokens. */
export type CountedPrompt = {
  readonly ownTokens: number
  /** What of it surrounds the messages that may be compacted: system block, tools, schemas. */
  readonly aroundTokens: number
  /** What of it was estimated from pixels and bytes. */
  readonly mediaTokens: number
  /** Of these and of thoughts that are sent back: what a provider may count otherwise, or not at all. */
  readonly looseTokens: number
}

/** A prompt that the provider counted too. */
export type Anchor = CountedPrompt & {
  /** In the provider's tokens. */
  readonly promptTokens: number
  /** The model that the provider says has answered; null where it says none. */
  readonly answeredBy: string | null
}

/** How a provider's count follows from ours. */
export type Rate = {
  /** The provider's tokens for one of ours. */
  readonly ratio: number
  /** What the provider counts with every prompt beyond that, in its tokens; below zero where we count too much. */
  readonly overheadTokens: number
  /** Whether enough answers bear this out, or it is still the family's figure. */
  readonly isCalibrated: boolean
  /** By how much the overhead may be off: what texts explain of the smallest prompt counted; infinite before any was. */
  readonly overheadDoubtTokens: number
}

/** Answers of one upstream, model and credential; the caller makes one name of the three. */
export type Calibration = {
  readonly rateOf: (name: string, startingRatio: number, aroundTokens: number) => Rate
  /** Whether the next prompt should be counted whatever its size. */
  readonly wantsCount: (name: string) => boolean
  /** Asks for that: something in the last report was odd, and only a count can say what. */
  readonly askForCount: (name: string) => void
  /** What is known of the beginnings of a prompt, by their names, the longest first. */
  readonly lookBack: (name: string, prefixes: readonly string[]) => Beginning
  /** Takes a prompt that the provider counted in full; `since` is the anchor that it grew from. */
  readonly observe: (name: string, observed: Observed) => void
  /**
   * Takes a report that is too small to be a count, and to be told from a constant; true where the one before was so
   * too, and another number.
   */
  readonly isOddAgain: (name: string, promptTokens: number) => boolean
  /** Takes a prompt that was answered without a count of it that can be used. */
  readonly see: (name: string, prefix: string, prompt: CountedPrompt) => void
}

/** What is known of a prompt's beginning; null where nothing is. `index` is that of its name. */
export type Beginning = {
  /** The longest that the provider has counted. */
  readonly counted: { readonly index: number; readonly anchor: Anchor } | null
  /** The longest that was answered at all. */
  readonly seen: CountedPrompt | null
}

export type Observed = {
  /** Names what was sent; a longer prompt that begins with it finds it again. */
  readonly prefix: string
  readonly prompt: Anchor
  readonly since: Anchor | null
}

/** What is learnt lives in memory: a restart begins with the families' ratios and is right again after one answer. */
export function createCalibration(options: {
  readonly namesMax: number
  readonly anchorsMax: number
}): Calibration {
  const names = new LRUCache<string, Evidence>({ max: options.namesMax })
  const seen = new LRUCache<string, CountedPrompt & Partial<Anchor>>({ max: options.anchorsMax })

  function evidenceOf(name: string): Evidence {
    const known = names.get(name) ?? { ...noEvidence, overheads: new Map<number, Overhead>() }
    names.set(name, known)
    return known
  }

  return {
    rateOf: (name, startingRatio, aroundTokens) => {
      const evidence = names.get(name)
      if (evidence === undefined)
        return { ratio: startingRatio, overheadTokens: 0, isCalibrated: false, overheadDoubtTokens: Infinity }
      const ratio = ratioFrom(evidence, startingRatio)
      const overhead = evidence.overheads.get(aroundTokens)
      return {
        ratio,
        overheadTokens: overhead === undefined ? 0 : overheadFrom(overhead, ratio),
        isCalibrated: evidence.answers >= answersForCalibration,
        overheadDoubtTokens: overhead === undefined ? Infinity : explainedTokens(overhead, ratio),
      }
    },
    wantsCount: (name) => names.get(name)?.wantsCount ?? false,
    askForCount: (name) => {
      evidenceOf(name).wantsCount = true
    },
    lookBack: (name, prefixes) => {
      let longest: CountedPrompt | null = null
      for (const [index, prefix] of prefixes.entries()) {
        const prompt = seen.get(seenName(name, prefix))
        if (prompt === undefined) continue
        longest ??= prompt
        if (isAnchor(prompt)) return { counted: { index, anchor: prompt }, seen: longest }
      }
      return { counted: null, seen: longest }
    },
    isOddAgain: (name, promptTokens) => {
      const evidence = evidenceOf(name)
      const before = evidence.oddPromptTokens
      evidence.oddPromptTokens = promptTokens
      return before !== null && before !== promptTokens
    },
    see: (name, prefix, prompt) => {
      evidenceOf(name).wantsCount = false
      const key = seenName(name, prefix)
      if (!seen.has(key)) seen.set(key, prompt)
    },
    observe: (name, { prefix, prompt, since }) => {
      if (!isPlausible(prompt)) return
      const evidence = evidenceOf(name)
      evidence.answers += 1
      evidence.wantsCount = false
      evidence.oddPromptTokens = null
      takeGrowth(evidence, prompt, since)
      takeOverhead(evidence, prompt)
      seen.set(seenName(name, prefix), prompt)
    },
  }
}

/** The provider's count of a prompt, from an anchor that it grew from where there is one. */
export function expectedTokens(ownTokens: number, rate: Rate, anchor: Anchor | null): number {
  const tokens =
    anchor === null
      ? rate.overheadTokens + ownTokens * rate.ratio
      : anchor.promptTokens + (ownTokens - anchor.ownTokens) * rate.ratio
  return Math.max(0, Math.ceil(tokens))
}

/** How a prompt that grew from an anchor differs from our count of it, in our tokens. */
export type Excess = {
  /** What the provider counted of its beginning beyond our count and the overhead; below zero where it counted less. */
  readonly countedTokens: number
  /** By how much the rest, which it has not counted, may be denser than the ratio says. */
  readonly marginTokens: number
}

/** Nothing is known of the prompt but our own count. */
export const noExcess: Excess = { countedTokens: 0, marginTokens: 0 }

export function excessOf(ownTokens: number, rate: Rate, anchor: Anchor): Excess {
  const counted = (anchor.promptTokens - rate.overheadTokens) / rate.ratio - anchor.ownTokens
  const uncounted = Math.max(0, ownTokens - anchor.ownTokens)
  return { countedTokens: Math.ceil(counted), marginTokens: Math.ceil(uncounted * uncountedMargin) }
}

// --- internal ---

/**
 * Of 1,800 recorded requests the densest growth took 15 % more than the ratio said (`npm run calibration`): with this margin
 * each one that was believed to fill 95 % of the window was inside it.
 */
const uncountedMargin = 0.15

/** The starting ratio weighs at first as much as so many of our tokens that were counted, and fades like them. */
const startingWeightTokens = 2000

/** A sample weighs half once so many of our tokens were counted after it: texts differ, and the newest are most alike. */
const halfLifeTokens = 16_000

/** A prompt without an anchor says little of the ratio: it may hold what only the provider sees. */
const unanchoredTokensMax = 1000

/**
 * How far a ratio follows. Believing too little is what overflows, and servers report odd numbers: below this share of
 * the family's ratio only anchors go. No tokenizer takes more than three times as many tokens.
 */
const ratioShareMin = 0.8
const ratioMax = 3

/** Growth that was counted at less than this share of ours was no growth of this prompt. */
const growthRatioMin = 0.5

/** From so many on the ratio is our own. */
const answersForCalibration = 3

/** Up to this share our count of texts may be off without anything hidden beside them. */
const textErrorShare = 0.1

/** Surroundings (sets of tools, system blocks) whose overhead is remembered for one name. */
const overheadsMax = 64

/** A count above this many times ours, or below this share of our texts, is no count of this prompt. */
const countFactorMax = 8
const countShareMin = 0.5
/** Below this, hidden parts may well exceed the visible ones many times. */
const smallPromptTokens = 1000

type Overhead = Pick<Anchor, 'ownTokens' | 'promptTokens' | 'aroundTokens'>

type Evidence = {
  answers: number
  wantsCount: boolean
  /** The last report, if it was too small to be a count. */
  oddPromptTokens: number | null
  /** Weighted sums of growth: what the provider counted, and we. */
  promptTokens: number
  ownTokens: number
  /** What is left of the starting ratio's weight. */
  startingTokens: number
  /** By the surroundings' own count, the smallest prompt in them: what it exceeds our count by is hardly text. */
  readonly overheads: Map<number, Overhead>
}

const noEvidence = {
  answers: 0,
  wantsCount: false,
  oddPromptTokens: null,
  promptTokens: 0,
  ownTokens: 0,
  startingTokens: startingWeightTokens,
} as const

function ratioFrom(evidence: Evidence, startingRatio: number): number {
  const { promptTokens, ownTokens, startingTokens } = evidence
  const ratio = (promptTokens + startingRatio * startingTokens) / (ownTokens + startingTokens)
  return Math.min(ratioMax, Math.max(startingRatio * ratioShareMin, ratio))
}

function isAnchor(prompt: CountedPrompt & Partial<Anchor>): prompt is Anchor {
  return prompt.promptTokens !== undefined
}

function takeGrowth(evidence: Evidence, prompt: Anchor, since: Anchor | null): void {
  // What media cost is no matter of the ratio.
  if (prompt.mediaTokens !== (since?.mediaTokens ?? 0)) return
  const grownTokens = prompt.ownTokens - (since?.ownTokens ?? 0)
  const countedTokens = prompt.promptTokens - (since?.promptTokens ?? 0)
  if (grownTokens <= 0 || countedTokens <= 0) return
  const ratio = countedTokens / grownTokens
  if (ratio < growthRatioMin || ratio > ratioMax) return
  const weight = since === null ? Math.min(1, unanchoredTokensMax / grownTokens) : 1
  const kept = 0.5 ** ((grownTokens * weight) / halfLifeTokens)
  evidence.promptTokens = evidence.promptTokens * kept + grownTokens * weight * ratio
  evidence.ownTokens = evidence.ownTokens * kept + grownTokens * weight
  evidence.startingTokens *= kept
}

function takeOverhead({ overheads }: Evidence, prompt: Anchor): void {
  const known = overheads.get(prompt.aroundTokens)
  if (prompt.mediaTokens > 0 || (known !== undefined && known.ownTokens < prompt.ownTokens)) return
  overheads.delete(prompt.aroundTokens)
  overheads.set(prompt.aroundTokens, prompt)
  const [oldest] = overheads.keys()
  if (overheads.size > overheadsMax && oldest !== undefined) overheads.delete(oldest)
}

/** What remains of the difference once as much as texts may explain is taken off. */
function overheadFrom(smallest: Overhead, ratio: number): number {
  const difference = smallest.promptTokens - smallest.ownTokens * ratio
  const beyond = Math.abs(difference) - explainedTokens(smallest, ratio)
  return Math.sign(difference) * Math.max(0, Math.ceil(beyond))
}

function explainedTokens({ ownTokens, aroundTokens }: Overhead, ratio: number): number {
  return (ownTokens - aroundTokens) * ratio * textErrorShare
}

function isPlausible({ ownTokens, looseTokens, promptTokens }: Anchor): boolean {
  if (promptTokens < (ownTokens - looseTokens) * countShareMin) return false
  return ownTokens < smallPromptTokens || promptTokens < ownTokens * countFactorMax
}

function seenName(name: string, prefix: string): string {
  return `${name}\n${prefix}`
}
