import type { Usage } from '../formats/answer-contract.ts'
import type { TailReport } from '../overflow/tail-observer.ts'
import { MODEL_NAME_CHARS_MAX } from '../upstream/model-name.ts'
import type { Counts } from './counts/counts.ts'
import type { SentPrompt } from './counts/prompt.ts'
import {
  isConstant,
  isWhole,
  ownTextTokens,
  reportedPrompt,
  type ReportedPrompt,
} from './counts/reported-prompt.ts'
import { cutBounds, hasDroppedOldest, isRound, narrowed, windowWithin } from './cut-prompt.ts'
import type { ServerWindows } from './discovery/server-windows.ts'
import type { WindowQuestion } from './discovery/window-question.ts'
import type { ModelKey } from './model-key.ts'
import type { Models } from './models.ts'
import { noteOf, type OddReport } from './suspicions.ts'
import type { Windows } from './windows.ts'

/** What has to be known of a request to learn from its answer. Holds no content. */
export type Lesson = {
  readonly modelKey: ModelKey
  readonly conversation: string
  /** The prompt's size as the provider counts, as far as we know; an upper bound where nothing was counted. */
  readonly expectedTokens: number
  /** The request's own output limit; null where it sets none. */
  readonly outputTokens: number | null
  /** Null where measuring failed, and where something else was sent than what was measured. */
  readonly sent: SentPrompt | null
  /** What the server is asked about this model, with the client's headers: dropped when the answer has ended. */
  readonly question: WindowQuestion
  /** Whether the server is asked: not where the operator has set the window. */
  readonly isAuto: boolean
  /** Whether nobody had asked for the usage of the streamed answer. */
  readonly isUsageUnasked: boolean
}

export type LearnParts = {
  readonly models: Models
  readonly windows: Windows
  readonly counts: Counts
  readonly serverWindows: Pick<ServerWindows, 'lookup' | 'refresh' | 'answered'>
  /** Called when a prompt came out cut (`known`), or may have: from a server that may only report it so (`suspected`). */
  readonly onCut: (model: string, seen: CutPrompt) => void
}

export type CutPrompt = {
  readonly certainty: 'known' | 'suspected'
  readonly promptTokens: number
  readonly expectedTokens: number
  /** What the window is taken to be; null where nothing was concluded. */
  readonly windowTokens: number | null
}

export type Learning = {
  /**
   * Learns from an answer that was passed on: the window, if it says with numbers that it was too small, else how the provider
   * counts. Answers that broke off, failed or were left teach nothing of counts.
   */
  readonly answered: (lesson: Lesson, report: TailReport, isEntire: boolean) => void
  /** Whether a conversation's next prompt is to be counted whatever its size: only a count can say what an odd report means. */
  readonly wantsCount: (key: ModelKey, conversation: string) => boolean
}

export function createLearning(parts: LearnParts): Learning {
  const { models, windows, counts, serverWindows } = parts

  function learnFrom(lesson: Lesson, report: TailReport, isEntire: boolean): void {
    const { modelKey, expectedTokens, outputTokens, sent } = lesson
    const { usage } = report
    if (lesson.isUsageUnasked && usage !== null) models.set(modelKey, 'usage', 'stated', 'answer')
    if (report.overflow !== null) {
      const refusal = { classification: report.overflow, expectedTokens, outputTokens }
      windows.refused(modelKey, lesson.conversation, refusal)
      windows.exceeded(modelKey, expectedTokens)
      return
    }
    if (!isEntire || report.isError) return
    if (report.model !== null)
      models.set(modelKey, 'name', report.model.slice(0, MODEL_NAME_CHARS_MAX), 'answer')
    if (lesson.isAuto) serverWindows.answered(lesson.question)
    if (report.isOllama && models.get(modelKey, 'stated')?.isLoaded !== true)
      models.suspected(modelKey).isSilentOllama = true
    if (usage === null || usage.isSum === true) return
    noteCached(models, modelKey, usage.promptTokens, usage.cachedTokens)
    if (sent === null || usage.promptTokens === 0 || !isCount(lesson, sent, usage, report)) return
    const answeredTokens = Math.min(usage.promptTokens, Math.ceil(expectedTokens * BELIEVED_FACTOR_MAX))
    windows.answered(modelKey, answeredTokens, lesson.outputTokens ?? 0)
    // The server runs with more than it said last.
    const stated = models.get(modelKey, 'stated')
    if (lesson.isAuto && stated !== null && answeredTokens > stated.tokens)
      serverWindows.refresh(lesson.question)
  }

  /** Compares what was sent with what was reported of it, and learns from that; whether the report counts it whole. */
  function isCount(lesson: Lesson, sent: SentPrompt, { promptTokens }: Usage, report: TailReport): boolean {
    const { modelKey: key, conversation, expectedTokens } = lesson
    const model = { key, encoding: sent.encoding }
    const { prompt, textBytes, counted } = sent
    const answeredBy = report.model?.slice(0, MODEL_NAME_CHARS_MAX) ?? null
    const answeredAt = (beginning: string) => counts.answered(model, beginning)
    const reported = reportedPrompt(promptTokens, expectedTokens, sent, answeredAt, answeredBy)
    const suspected = models.suspected(key)
    const before = suspected.oddReports.get(conversation) ?? null
    if (isConstant(reported) && !isRound(promptTokens)) {
      // What was taken for a count before is forgotten.
      suspected.constantTokens = promptTokens
      counts.forget(key)
    }
    const verdict =
      suspected.constantTokens === promptTokens ? 'none' : judge(lesson, reported, report.isOllama, before)
    const answered = { textBytes, counted, answeredBy, promptTokens }
    if (verdict === 'count') {
      suspected.oddReports.delete(conversation)
      const anchor = counted?.anchor ?? null
      const since = anchor?.answeredBy === answeredBy ? anchor : null
      return counts.observe(model, prompt, answered, since)
    }
    counts.pass(model, prompt, answered)
    noteOf(suspected.oddReports, conversation, {
      promptTokens,
      ownTextTokens: counted === null ? null : ownTextTokens(counted),
    })
    if (verdict === 'cut') takeCut(lesson, reported)
    else if (verdict === 'like-cut')
      parts.onCut(key.model, { ...told(reported), certainty: 'suspected', windowTokens: null })
    return false
  }

  /**
   * What a report is. A cut is concluded only by the server's own word that it has not loaded that much, or of a server that
   * calls itself Ollama, and there only if nothing else explains the report.
   */
  function judge(
    { modelKey, isAuto, question }: Lesson,
    reported: ReportedPrompt,
    isOllama: boolean,
    before: OddReport | null,
  ): 'count' | 'none' | 'cut' | 'like-cut' {
    const { promptTokens, expectedTokens } = reported
    const isAllCounted = isWhole(reported)
    if (reported.sent.counted === null) return isAllCounted ? 'count' : 'none'
    const isShort = promptTokens < expectedTokens * CUT_SHARE_MAX
    const stated = models.get(modelKey, 'stated')
    if (stated?.isLoaded === true) {
      const hasRoom = expectedTokens <= stated.tokens
      const isLeft = promptTokens <= stated.tokens && promptTokens > stated.tokens * LEFT_SHARE_MIN
      if (isShort && !hasRoom && isLeft) return 'cut'
      // What it said may be old: it may have been started anew with less.
      if (!isAllCounted && isAuto) serverWindows.refresh(question)
      return isAllCounted ? 'count' : 'none'
    }
    if (isOllama && isShort && expectedTokens > fittingTokens(modelKey)) {
      if (isEvidentCut(reported, isAllCounted, before)) return 'cut'
      if (isAllCounted && growsEvenly(reported, before)) return 'count'
      return before === null ? 'none' : 'like-cut'
    }
    if (isAllCounted) return 'count'
    return promptTokens >= LEFT_TOKENS_MIN && isLeftOver(reported, before) ? 'like-cut' : 'none'
  }

  /** A prompt of this size has come out whole, or is what was left of one. */
  function fittingTokens(key: ModelKey): number {
    const left = models.suspected(key).cutBounds?.fitsTokens ?? 0
    return Math.max(UNCUT_TOKENS, left, models.get(key, 'answered') ?? 0)
  }

  function takeCut({ modelKey: key, isAuto, question }: Lesson, reported: ReportedPrompt): void {
    // Counts of prompts that may have been cut as well are worth nothing.
    counts.forget(key)
    if (isAuto) serverWindows.refresh(question)
    const stated = models.get(key, 'stated')
    // A server that can be asked says it exactly, and soon. And nothing inferred lowers the operator's window: he is told.
    const seen = stated !== null || !isAuto ? null : cutBounds(reported)
    let windowTokens = stated?.isLoaded === true ? stated.tokens : null
    if (seen !== null) {
      const suspected = models.suspected(key)
      const answeredTokens = Math.min(models.get(key, 'answered') ?? 0, seen.exceedsTokens - 1)
      const fitsTokens = Math.max(seen.fitsTokens, answeredTokens)
      suspected.cutBounds = narrowed(suspected.cutBounds, { ...seen, fitsTokens })
      const window = windowWithin(suspected.cutBounds)
      if (window !== null) windows.cut(key, window)
      windowTokens = window?.tokens ?? null
    }
    parts.onCut(key.model, { ...told(reported), certainty: 'known', windowTokens })
  }

  return {
    answered: learnFrom,
    wantsCount: (key, conversation) => {
      const { oddReports, isSilentOllama } = models.suspected(key)
      return isSilentOllama || oddReports.has(conversation)
    },
  }
}

/** @internal exported for tests. Takes what an answer stated of its provider's prompt cache; null where it said nothing of one. */
export function noteCached(
  models: Pick<Models, 'suspected'>,
  key: ModelKey,
  promptTokens: number,
  cachedTokens: number | null,
): void {
  if (promptTokens < LONG_TOKENS) return
  const suspected = models.suspected(key)
  const isRead = (cachedTokens ?? 0) >= promptTokens * READ_SHARE
  suspected.cacheMisses = isRead ? 0 : (suspected.cacheMisses ?? MISSES_MAX) + 1
}

/** Whether most of one of the latest two long prompts came from the cache: the next one's beginning will too. */
export function readsFromCache(models: Pick<Models, 'suspected'>, key: ModelKey): boolean {
  return (models.suspected(key).cacheMisses ?? MISSES_MAX) < MISSES_MAX
}

// --- internal ---

/** A report is believed to this many times what was expected at most. */
const BELIEVED_FACTOR_MAX = 2

/** Of a server that cuts, what reports less than this share of what was expected of a prompt may have been cut. */
const CUT_SHARE_MAX = 0.9
/** Who cuts to a window leaves at least this share of it. */
const LEFT_SHARE_MIN = 0.4

/** No tokenizer takes fewer tokens for a text than this share of ours. */
const TERSE_SHARE_MIN = 0.45
/** A prompt that grew by less than this share of the text that was added has been capped. */
const GROWN_SHARE_MIN = 0.4

/** Nobody cuts to less. */
const LEFT_TOKENS_MIN = 1_024

/** How far growth may be off the rate of the whole. */
const EVEN_SHARE_MAX = 0.25

/** No server that cuts has a window below this. */
const UNCUT_TOKENS = 2_048

/** Of a server that cuts: whether nothing else explains a small report. */
function isEvidentCut(reported: ReportedPrompt, isAllCounted: boolean, before: OddReport | null): boolean {
  const { promptTokens, sent } = reported
  const ownTokens = sent.counted === null ? 0 : ownTextTokens(sent.counted)
  if (promptTokens < ownTokens * TERSE_SHARE_MIN) return true
  return isRound(promptTokens) || (!isAllCounted && isLeftOver(reported, before)) || isFlat(reported, before)
}

/** Whether a report looks like what is left of a cut prompt: a window's size, short by the oldest messages, or capped. */
function isLeftOver(reported: ReportedPrompt, before: OddReport | null): boolean {
  const hasDropped = reported.beginnings.length > 0 && hasDroppedOldest(reported)
  return isRound(reported.promptTokens) || hasDropped || isFlat(reported, before)
}

/** A cap does not grow with its prompt; a count does, by half of our own in the tersest of tokenizers. */
function isFlat({ promptTokens, sent: { counted } }: ReportedPrompt, before: OddReport | null): boolean {
  if (counted === null || before?.ownTextTokens == null) return false
  const addedTokens = ownTextTokens(counted) - before.ownTextTokens
  return addedTokens > 0 && promptTokens - before.promptTokens < addedTokens * GROWN_SHARE_MIN
}

/** Whether a report that was small has grown as its prompt did, at the rate that it has itself: a terse tokenizer. */
function growsEvenly({ promptTokens, sent: { counted } }: ReportedPrompt, before: OddReport | null): boolean {
  if (counted === null || before?.ownTextTokens == null) return false
  const addedTokens = ownTextTokens(counted) - before.ownTextTokens
  const rate = promptTokens / Math.max(1, ownTextTokens(counted))
  const grownTokens = promptTokens - before.promptTokens
  return addedTokens > 0 && Math.abs(grownTokens - addedTokens * rate) <= addedTokens * rate * EVEN_SHARE_MAX
}

function told({ promptTokens, expectedTokens, sent }: ReportedPrompt) {
  return { promptTokens, expectedTokens: sent.counted === null ? promptTokens : expectedTokens }
}

/** Shorter prompts are not cached by everybody. */
const LONG_TOKENS = 2048

const READ_SHARE = 0.5

/** One miss in a row says nothing: a compaction's first prompt is new from the fold on, and has just filled the cache. */
const MISSES_MAX = 2
