import { LRUCache } from 'lru-cache'
import {
  isNothing,
  joinedEvidence,
  newEvidence,
  noHabits,
  readEvidence,
  writeEvidence,
  type Evidence,
  type EvidenceSnapshot,
  type Habits,
} from './evidence.ts'
import type { Rate } from './expected.ts'
import { grownBy, noGrowth, ratioFrom } from './growth.ts'
import type { Anchor, AnsweredPrompt } from './prompt.ts'

/** What answers of an upstream, model and credential taught of its count; the caller makes one name of the three. */
export type Calibration = {
  readonly rateOf: (name: string, startingRatio: number, aroundTokens: number) => Rate
  /** The longest beginning of a prompt that both have counted; null where there is none. */
  readonly anchorAt: (
    name: string,
    beginnings: readonly Beginning[],
  ) => { index: number; anchor: Anchor } | null
  /** Those of a prompt's beginnings that were answered, in their order. */
  readonly answeredAt: (name: string, prompts: readonly string[]) => readonly AnsweredBeginning[]
  /** How the provider has reported so far. */
  readonly habitsOf: (name: string) => Habits
  /** Takes a prompt that the provider counted whole; false where what it says cannot be a count of it. */
  readonly observe: (name: string, prompt: string, observed: CountedAnswer) => boolean
  /** Takes a prompt that was answered without a count of it that can be used. */
  readonly pass: (name: string, prompt: string, answered: AnsweredPrompt) => void
  /** It reported only what it had not cached. */
  readonly notePartial: (name: string) => void
  /** What a name's answers taught beyond single prompts, as plain JSON; null where they have not. */
  readonly snapshot: (name: string) => EvidenceSnapshot | null
  /**
   * Takes a snapshot over, `instead` of what is known or `beside` it: then what rests on more prompts stands. One that
   * is damaged changes nothing.
   */
  readonly restore: (name: string, snapshot: unknown, how: 'instead' | 'beside') => void
}

/** A beginning of a prompt, as it was sent at a request point. */
export type Beginning = {
  readonly prompt: string
  /** Our count of the conversation up to there: one that was counted otherwise was another. */
  readonly conversationTokens: number
}

/** A beginning that was answered; `index` is that of its name. */
export type AnsweredBeginning = { readonly index: number; readonly answered: AnsweredPrompt }

export type CountedAnswer = AnsweredPrompt & {
  readonly promptTokens: number
  /** What it grew from, counted by the same model; null where that is not known. */
  readonly since: Anchor | null
  /** Whether what it must have had in its cache was counted. */
  readonly hasCountedCached: boolean
}

/** Prompts live in memory: after a restart one answer of a conversation makes its next prompt exact again. */
export function createCalibration(options: {
  readonly namesMax: number
  readonly promptsMax: number
}): Calibration {
  const names = new LRUCache<string, Evidence>({ max: options.namesMax })
  const prompts = new LRUCache<string, AnsweredPrompt>({ max: options.promptsMax })

  function evidenceOf(name: string): Evidence {
    const known = names.get(name) ?? newEvidence()
    names.set(name, known)
    return known
  }

  function pass(name: string, prompt: string, answered: AnsweredPrompt): void {
    const key = promptKey(name, prompt)
    const known = prompts.get(key)
    if (known?.promptTokens != null && isSame(known, answered)) return
    prompts.set(key, { ...answered, promptTokens: null })
  }

  return {
    rateOf: (name, startingRatio, aroundTokens) => {
      const evidence = names.get(name)
      const ratio = ratioFrom(evidence?.growth ?? noGrowth, startingRatio)
      const overhead = evidence?.overheads.find(aroundTokens, ratio) ?? null
      return {
        ratio,
        overheadTokens: overhead?.tokens ?? 0,
        overheadDoubtTokens: overhead?.doubtTokens ?? Infinity,
      }
    },
    anchorAt: (name, beginnings) => {
      for (const [index, { prompt, conversationTokens }] of beginnings.entries()) {
        const anchor = anchorOf(prompts.get(promptKey(name, prompt)))
        if (anchor?.conversationTokens === conversationTokens) return { index, anchor }
      }
      return null
    },
    answeredAt: (name, beginnings) =>
      beginnings.flatMap((beginning, index) => {
        const answered = prompts.get(promptKey(name, beginning))
        return answered === undefined ? [] : [{ index, answered }]
      }),
    habitsOf: (name) => names.get(name)?.habits ?? noHabits,
    observe: (name, prompt, { since, hasCountedCached, ...answered }) => {
      const evidence = evidenceOf(name)
      const hasLoose = (answered.counted?.looseTokens ?? 0) > 0
      if (!hasLoose && answered.promptTokens > answered.textBytes + hiddenTokensMax) {
        evidence.habits = { ...evidence.habits, constantTokens: answered.promptTokens }
      }
      const anchor = anchorOf(answered)
      if (anchor !== null && !isPlausible(anchor)) {
        pass(name, prompt, answered)
        return false
      }
      if (anchor !== null) {
        evidence.growth = grownBy(evidence.growth, anchor, since)
        evidence.overheads.take(anchor)
        evidence.prompts += 1
      }
      evidence.habits = {
        ...evidence.habits,
        hasCounted: evidence.habits.hasCounted || anchor !== null || hasCountedCached,
        cachedCounts: Math.min(cachedCountsMax, evidence.habits.cachedCounts + (hasCountedCached ? 1 : 0)),
      }
      prompts.set(promptKey(name, prompt), answered)
      return true
    },
    pass,
    notePartial: (name) => {
      const evidence = evidenceOf(name)
      evidence.habits = { ...evidence.habits, cachedCounts: 0 }
    },
    snapshot: (name) => {
      const evidence = names.peek(name)
      return evidence === undefined || isNothing(evidence) ? null : writeEvidence(evidence)
    },
    restore: (name, snapshot, how) => {
      if (snapshot === null) {
        if (how === 'instead') names.delete(name)
        return
      }
      const given = readEvidence(snapshot)
      if (given === null) return
      const known = how === 'beside' ? names.peek(name) : undefined
      names.set(name, known === undefined ? given : joinedEvidence(known, given))
    },
  }
}

// --- internal ---

/** A count above this many times ours, or below this share of our texts, is no count of this prompt. */
const countFactorMax = 8
const countShareMin = 0.5
/** Below this, hidden parts may well exceed the visible ones many times. */
const smallPromptTokens = 1000

/** Nobody asks for more: a habit is one after a few times. */
const cachedCountsMax = 8

/** No text has more tokens than bytes; what is beyond that is hidden, or no count. */
const hiddenTokensMax = 512

function anchorOf(prompt: AnsweredPrompt | undefined): Anchor | null {
  if (prompt === undefined || prompt.counted === null || prompt.promptTokens === null) return null
  return { ...prompt.counted, promptTokens: prompt.promptTokens, answeredBy: prompt.answeredBy }
}

function isSame(known: AnsweredPrompt, answered: AnsweredPrompt): boolean {
  return known.counted?.conversationTokens === answered.counted?.conversationTokens
}

function isPlausible({ ownTokens, looseTokens, promptTokens }: Anchor): boolean {
  if (promptTokens < (ownTokens - looseTokens) * countShareMin) return false
  return ownTokens < smallPromptTokens || promptTokens < ownTokens * countFactorMax
}

function promptKey(name: string, prompt: string): string {
  return `${name}\n${prompt}`
}
