import { lowestThresholdTokens } from '../../compaction/advance.ts'
import type { Room } from '../../compaction/policy.ts'
import { sumOf } from '../../compaction/size-sums.ts'
import type { Stride } from '../../compaction/stride.ts'
import type { StatedWindow } from '../../overflow/classification.ts'
import type { Suspicions } from '../../overflow/suspicions.ts'
import type { Calibration } from '../../pressure/calibration/calibration.ts'
import {
  excessOf,
  expectedTokens,
  noExcess,
  type Excess,
  type Rate,
} from '../../pressure/calibration/expected.ts'
import type { Anchor } from '../../pressure/calibration/prompt.ts'
import { encodingFor, loadCounter } from '../../pressure/encodings.ts'
import { budgetOf, needsNoCount, nominalUp, pressureOf, thresholdTokens } from '../../pressure/pressure.ts'
import { hasSummaries } from '../../profiles/summaries.ts'
import { startingRatio } from '../../pressure/ratio.ts'
import type { ResolvedWindow } from '../../pressure/window.ts'
import type { Profile } from '../../profiles/schema.ts'
import type { JsonObject } from '../../conversation/json-value.ts'
import { drive, nextSlice } from '../drive.ts'
import type { Chat } from '../request/read-chat.ts'
import { promptBeginnings } from './sent-prompt.ts'
import { nameOfCounts, type ModelKey } from '../../upstream/model-key.ts'
import { reserveOf } from './reserve.ts'
import { createScales, type Weighed } from './weigh.ts'

/** How a request presses against its model's window. */
export type Measure = {
  readonly window: ResolvedWindow
  readonly rate: Rate
  /** The family's ratio, whatever was learnt. */
  readonly familyRatio: number
  /** Under which name counts of this upstream, model and credential are compared. */
  readonly calibrationName: string
  /** Window less reserve, in our tokens. */
  readonly budgetTokens: number
  /** The counted conversation; null where counting was not needed. */
  readonly counted: Counted | null
  /** Own count of the prompt as it came in; an upper bound where nothing was counted. */
  readonly incomingTokens: number
  /** Prompt divided by budget. */
  readonly pressure: number
}

export type Counted = Weighed & {
  readonly nominal: Room
  readonly actual: Room
  /** What the provider is known to have counted of what is sent under `stride`; null where nothing. */
  readonly anchor: Anchor | null
  /** Our count of all messages but the leading system block, as they came. */
  readonly conversationTokens: number
  /** The newest stride on record. */
  readonly stride: Stride | null
  /** How the prompt under `stride` differs from our count of it. */
  readonly excess: Excess
}

export type MeasureRequest = {
  readonly chat: Chat
  readonly profile: Profile
  readonly model: string
  readonly modelKey: ModelKey
  /** The window now, and the one that the past is derived with. */
  readonly windows: { readonly actual: ResolvedWindow; readonly nominal: ResolvedWindow }
  /** The newest stride on record. */
  readonly stride: Stride | null
  /** Whose conversation it is, and which. */
  readonly scope: string
  readonly conversation: string
  /** A tool that is offered beside the client's; null where none is. */
  readonly addedTool: JsonObject | null
  /** Counted whatever the size: a stride stands, or one is asked for. */
  readonly mustCount: boolean
}

export type MeasureOptions = {
  readonly calibration: Calibration
  readonly suspicions: Pick<Suspicions, 'wantsCount'>
  /** Called with a model whose window is not known and had to be guessed. */
  readonly onGuess: (model: string) => void
}

/** Measures requests; remembers what a message and a list of tools weighed. */
export function createMeasure(options: MeasureOptions): (request: MeasureRequest) => Promise<Measure> {
  const { calibration, suspicions } = options
  const weigh = createScales()

  return async function measure(request) {
    const { chat, profile, model, modelKey } = request
    const window = request.windows.actual
    if (window.source === 'default') options.onGuess(model)
    const encoding = profile.window.encoding === 'auto' ? encodingFor(model) : profile.window.encoding
    const calibrationName = nameOfCounts(modelKey, encoding)
    const familyRatio = profile.window.ratio ?? startingRatio(model)
    const reserve = reserveOf(request)
    const guess = calibration.rateOf(calibrationName, familyRatio, 0)
    const guessedBudgetTokens = budgetIn(window, reserve, guess.ratio)
    const mustCount =
      request.mustCount || suspicions.wantsCount({ calibrationName, conversation: request.conversation })
    const bytes = chat.bytes.length + addedBytes(request.addedTool)
    if (!mustCount && isSmall(chat, bytes, profile, guessedBudgetTokens)) {
      const incomingTokens = bytes
      return {
        window,
        rate: guess,
        familyRatio,
        calibrationName,
        budgetTokens: guessedBudgetTokens,
        counted: null,
        incomingTokens,
        pressure: pressureOf(incomingTokens, guessedBudgetTokens),
      }
    }

    const counter = await loadCounter(encoding, { run: drive, pause: nextSlice })
    const weighed = await weigh({
      chat,
      counter,
      encoding,
      model,
      scope: request.scope,
      addedTool: request.addedTool,
    })
    const { subject, aroundTokens } = weighed
    const { systemCount } = chat.structure
    const rate = calibration.rateOf(calibrationName, familyRatio, aroundTokens)
    const budgetTokens = budgetIn(window, reserve, rate.ratio)
    const besideTokens = besideFor(rate, weighed, budgetTokens)
    const conversationTokens = sumOf(subject.sizes, systemCount, subject.sizes.length)
    const incomingTokens = aroundTokens + conversationTokens
    const { anchor, ownTokens } = anchorOf(request, calibration, calibrationName, weighed)
    const isAsItCame = request.stride === null
    return {
      window,
      rate,
      familyRatio,
      calibrationName,
      budgetTokens,
      counted: {
        ...weighed,
        nominal: nominalRoom(
          request.windows.nominal,
          reserve,
          familyRatio,
          aroundTokens + weighed.toolsMarginTokens,
        ),
        actual: { budgetTokens, aroundTokens: aroundTokens + besideTokens, slackTokens: 0 },
        anchor,
        conversationTokens,
        stride: request.stride,
        excess: anchor === null ? noExcess : excessOf(ownTokens, rate, anchor, besideTokens),
      },
      incomingTokens,
      pressure: pressureOf(
        expectedTokens(incomingTokens, rate, isAsItCame ? anchor : null) / rate.ratio,
        budgetTokens,
      ),
    }
  }
}

/** The window of a measured request; null where it is a guess, by which no answer may be judged. */
export function knownWindow(measure: Measure | null): StatedWindow | null {
  if (measure === null || measure.window.source === 'default') return null
  return { tokens: measure.window.tokens, kind: measure.window.kind }
}

// --- internal ---

/**
 * What of the prompt under the newest stride the provider has counted, and our own count of the prompt. Beyond its
 * point a stride treats nothing, so what came after a prompt that was sent weighs what its messages weigh.
 */
function anchorOf(
  { chat, stride, scope }: MeasureRequest,
  calibration: Calibration,
  name: string,
  { subject, aroundTokens }: Weighed,
): { readonly anchor: Anchor | null; readonly ownTokens: number } {
  const { systemCount } = chat.structure
  const points = promptBeginnings(chat, scope, stride)
  const found = calibration.anchorAt(
    name,
    points.map(({ point, prompt }) => ({
      prompt,
      // A client that dropped its thoughts or changed an image since has another beginning of the same meaning.
      conversationTokens: sumOf(subject.sizes, systemCount, point),
    })),
  )
  if (found === null) return { anchor: null, ownTokens: 0 }
  const { anchor, index } = found
  const added = sumOf(subject.sizes, points[index]?.point ?? 0, subject.sizes.length)
  return { anchor, ownTokens: anchor.ownTokens + (aroundTokens - anchor.aroundTokens) + added }
}

/** What is reckoned with beside our count of a prompt that the provider has not counted a beginning of, in our tokens. */
function besideFor(
  { overheadTokens, overheadDoubtTokens, ratio }: Rate,
  { toolsTokens, toolsMarginTokens }: Weighed,
  budgetTokens: number,
): number {
  const overhead = Math.ceil(overheadTokens / ratio)
  // Gateways show tools to models in their own ways: until this one's is known, the dearer way is planned with.
  const isToolsWayKnown = overheadDoubtTokens / ratio < toolsMarginTokens
  const least = isToolsWayKnown ? -toolsTokens : toolsMarginTokens
  return Math.min(Math.max(overhead, least), Math.floor(budgetTokens * BESIDE_SHARE_MAX))
}

/** Whatever was reported, a conversation keeps this share of the budget. */
const BESIDE_SHARE_MAX = 0.5

function budgetIn(window: ResolvedWindow, reserveTokens: number, ratio: number): number {
  const budget = budgetOf({ windowTokens: window.tokens, kind: window.kind, reserveTokens })
  return Math.max(1, Math.floor(budget / ratio))
}

/**
 * The numbers that past strides are derived with: no learnt window, and reserve and surroundings rounded
 * up, so that one request's odd limit or one more tool moves nothing that lies in the past.
 */
function nominalRoom(window: ResolvedWindow, reserve: number, ratio: number, aroundTokens: number): Room {
  const exact = budgetIn(window, reserve, ratio)
  const budgetTokens = budgetIn(window, nominalUp(reserve, window.tokens), ratio)
  const around = nominalUp(aroundTokens, Math.floor(window.tokens / ratio))
  return { budgetTokens, aroundTokens: around, slackTokens: exact - budgetTokens + around - aroundTokens }
}

/** What a tool adds to a body, at most. */
function addedBytes(tool: JsonObject | null): number {
  return tool === null ? 0 : Buffer.byteLength(JSON.stringify(tool)) + 1
}

/** Whether nothing has to be counted, because the body's bytes alone stay below every threshold. */
function isSmall(chat: Chat, bodyBytes: number, profile: Profile, budgetTokens: number): boolean {
  const { every, limit, preview, render } = profile
  const looksAtEachMessage = preview.at === 0 || (render.enabled && render.at === 0)
  const looksAtCounts = every.turns > 0 || every.tool_calls > 0 || limit.turns > 0 || limit.messages > 0
  if (looksAtEachMessage || looksAtCounts) return false
  return needsNoCount({
    bodyBytes,
    // The budget is in our tokens, so the provider's ratio is in it already.
    ratio: 1,
    // Well before the first stride: what the provider says of a counted prompt tells what that one needs.
    triggerTokens: Math.min(
      lowestThresholdTokens(profile, budgetTokens, 0),
      hasSummaries(profile) ? thresholdTokens(profile.summary.at, budgetTokens, 0) : Infinity,
      budgetTokens * COUNTED_FROM_SHARE,
    ),
    hasMedia: chat.messages.some(({ facts }) => facts.media.length > 0),
  })
}

/** Prompts are counted from this share of the budget on, whatever the trigger. */
const COUNTED_FROM_SHARE = 0.75
