import type { Chat, ConversationTokens, Counted, Measure, ReadRequest, Remembered } from '../request.ts'
import { lowestThresholdTokens } from '../../compaction/due.ts'
import { runsAlways } from '../../compaction/passes/passes.ts'
import { sumOf } from '../../conversation/sizes.ts'
import type { StatedWindow } from '../../overflow/classification.ts'
import type { Counts } from '../../models/counts/counts.ts'
import {
  differenceTokens,
  expectedTokens,
  growthDoubtTokens,
  type Rate,
} from '../../models/counts/counted-prompt.ts'
import { encodingFor, startingRatio } from '../../tokens/tokenizer-families.ts'
import { runInSlices, type Eventual, nextSlice } from '../../scheduling/drive.ts'
import type { Windows } from '../../models/windows.ts'
import type { Learning } from '../../models/learn.ts'
import type { ResolvedWindow } from '../../models/resolve-window.ts'
import { loadCounter } from '../../tokens/encodings.ts'
import { budgetOf, type Reserve, reserveFor, thresholdTokens } from '../../tokens/budget.ts'
import { hasSummaries, type Profile } from '../../profiles/schema.ts'
import { anchorOf } from './sent-prompt.ts'
import { createTokenCounting } from './count-tokens.ts'
import { withoutPast } from './without-past.ts'

/** What of a request is measured. */
export type MeasureRequest = Pick<ReadRequest, 'chat' | 'profile' | 'modelKey' | 'recall'> & {
  readonly place: { readonly scope: string }
  readonly remembered: Pick<Remembered, 'conversation' | 'compaction'>
}

/** How it is measured. */
type MeasureBy = {
  /** By whose way of counting: the model that was asked for, or the one that answers in its name. */
  readonly model: string
  readonly window: ResolvedWindow
  /** Counted whatever the size: a compaction stands, or one is asked for. */
  readonly mustCount: boolean
}

/** What it is measured by that was learnt of its model. */
type LearntCounts = {
  readonly counts: Pick<Counts, 'rateOf' | 'anchorAt'>
  readonly learning: Pick<Learning, 'wantsCount'>
  readonly windows: Pick<Windows, 'holdsLimit'>
}

/**
 * Measures requests; remembers how many tokens a message and a list of tools have. `onGuess` is called with a model whose
 * window is not known and had to be guessed.
 */
export function createMeasure({ counts, learning, windows }: LearntCounts, onGuess: (model: string) => void) {
  const countTokens = createTokenCounting()

  return function measure(request: MeasureRequest, by: MeasureBy): Eventual<Measure> {
    const { chat, profile, modelKey, recall, remembered } = request
    const { model, window } = by
    if (window.source === 'default') onGuess(model)
    const encoding = profile.window.encoding === 'auto' ? encodingFor(model) : profile.window.encoding
    const counting = { key: modelKey, encoding }
    const familyRatio = startingRatio(model, profile.window).ratio
    const known = { window, familyRatio, counting }
    const providerBudget = budgetOf(window, reserveOf(request), windows.holdsLimit(modelKey, window.tokens))
    const rate = counts.rateOf(counting, familyRatio, 0)
    const budgetTokens = ownBudget(providerBudget, rate)
    const addedBytes = recall === null ? 0 : Buffer.byteLength(JSON.stringify(recall.tool)) + 1
    const bytes = chat.bytes.length + addedBytes
    const mustCount = by.mustCount || learning.wantsCount(modelKey, remembered.conversation)
    if (mustCount || !isSmall(chat, bytes, profile, budgetTokens)) return measureCounted()
    return {
      ...known,
      rate,
      budgetTokens,
      counted: null,
      incomingTokens: bytes,
      pressure: bytes / budgetTokens,
    }

    async function measureCounted(): Promise<Measure> {
      const { scope } = request.place
      const { compaction } = remembered
      const counter = await loadCounter(encoding, { run: runInSlices, pause: nextSlice })
      const counted = await countTokens({ chat, counter, encoding, model, scope, addedTool: recall })
      const { history, aroundTokens } = counted
      const rateNow = counts.rateOf(counting, familyRatio, aroundTokens)
      const budgetNow = ownBudget(providerBudget, rateNow)
      const conversationTokens = sumOf(history.sizes, chat.structure.systemCount, history.sizes.length)
      const incomingTokens = aroundTokens + conversationTokens
      const anchor = anchorOf({ chat, compaction, scope }, counts, counting, counted)
      const besideTokens = besideFor(rateNow, counted, budgetNow, anchor !== null)
      const isAsItCame = compaction === null
      let difference = 0
      if (anchor !== null) {
        const grownTokens = conversationTokens - anchor.conversationTokens
        difference = differenceTokens(rateNow, anchor, besideTokens)
        if (!isAsItCame) difference += growthDoubtTokens(rateNow, grownTokens)
      }
      const whole: Counted = {
        ...counted,
        room: { budgetTokens: budgetNow, aroundTokens: aroundTokens + besideTokens },
        anchor,
        conversationTokens,
        compaction,
        differenceTokens: difference,
      }
      const expected = expectedTokens(incomingTokens, rateNow, isAsItCame ? anchor : null)
      return {
        ...known,
        rate: rateNow,
        budgetTokens: budgetNow,
        // Not by the budget, which the client's limits move: what is left out at one request stays out at the next.
        counted: (incomingTokens > budgetNow ? withoutPast(whole, window.tokens) : null) ?? whole,
        incomingTokens,
        pressure: expected / rateNow.ratio / budgetNow,
      }
    }
  }
}

/** What a measured request is under a window that was learnt since. What was counted stands, and what was planned by it. */
export function underWindow(measure: Measure, window: ResolvedWindow, providerBudget: number): Measure {
  const budgetTokens = ownBudget(providerBudget, measure.rate)
  return {
    ...measure,
    window,
    budgetTokens,
    pressure: (measure.pressure * measure.budgetTokens) / budgetTokens,
  }
}

/** The window of a measured request; null where it is a guess, by which no answer may be judged. */
export function knownWindow(measure: Measure | null): StatedWindow | null {
  if (measure === null || measure.window.source === 'default') return null
  return { tokens: measure.window.tokens, kind: measure.window.kind }
}

/** What a request keeps free of its window. */
export function reserveOf({ chat, profile }: { readonly chat: Chat; readonly profile: Profile }): Reserve {
  return reserveFor(chat.body.outputLimit?.tokens ?? null, profile.window.output_reserve)
}

// --- internal ---

function ownBudget(providerBudget: number, { ratio }: Rate): number {
  return Math.max(1, Math.floor(providerBudget / ratio))
}

/** Tokens added to our count of a prompt of which the provider has counted no beginning yet: tools and overheads, in ours. */
function besideFor(
  { overheadTokens, overheadDoubtTokens, ratio }: Rate,
  { toolsTokens, toolsMarginTokens }: ConversationTokens,
  budgetTokens: number,
  isAnswered: boolean,
): number {
  const overhead = Math.ceil(overheadTokens / ratio)
  // Gateways show tools to models in their own ways: until this one's is known, the dearer way is planned with.
  const isToolsWayKnown = isAnswered || overheadDoubtTokens / ratio < toolsMarginTokens
  const least = isToolsWayKnown ? -toolsTokens : toolsMarginTokens
  return Math.min(Math.max(overhead, least), Math.floor(budgetTokens * BESIDE_SHARE_MAX))
}

/** These additions take at most this share of the budget, whatever the provider reported. */
const BESIDE_SHARE_MAX = 0.5

/** Prompts are counted from this share of the budget on, whatever the trigger. */
const COUNTED_FROM_SHARE = 0.75

/**
 * Whether nothing has to be counted, because the body's bytes alone stay below every threshold: a text never has more tokens than
 * UTF-8 bytes, and a message's keys and quotes take more bytes than its framing takes tokens. The budget is in our tokens, so
 * the provider's ratio is in it already.
 */
function isSmall(chat: Chat, bodyBytes: number, profile: Profile, budgetTokens: number): boolean {
  const { every, limit, summary } = profile
  const looksAtCounts = every.turns > 0 || every.tool_calls > 0 || limit.turns > 0 || limit.messages > 0
  if (runsAlways(profile) || looksAtCounts) return false
  // Media cost what their size says, not what their bytes say.
  for (const { facts } of chat.messages) if (facts.media.length > 0) return false
  // Well before the first compaction: what the provider says of a counted prompt tells what that one needs.
  return (
    bodyBytes < budgetTokens * COUNTED_FROM_SHARE &&
    bodyBytes < lowestThresholdTokens(profile, budgetTokens, 0) &&
    (!hasSummaries(profile) || bodyBytes < thresholdTokens(summary.at, budgetTokens, 0))
  )
}
