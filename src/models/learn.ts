import type { Usage } from '../formats/answer-contract.ts'
import type { TailReport } from '../overflow/tail-observer.ts'
import { MODEL_NAME_CHARS_MAX } from '../upstream/target.ts'
import type { Counts } from './counts/counts.ts'
import type { SentPrompt } from './counts/counted-prompt.ts'
import {
  cutBounds,
  isConstant,
  judgeReport,
  narrowed,
  ownTextTokens,
  reportedPrompt,
  type ReportedPrompt,
  windowWithin,
} from './counts/reported-prompt.ts'
import type { ServerWindows } from './discovery/server-windows.ts'
import type { WindowQuestion } from './discovery/ask-json.ts'
import type { ModelKey } from './model-record.ts'
import type { Models } from './models.ts'
import { noteOf } from './suspicions.ts'
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

export type CutPrompt = {
  /** `known`: the prompt came out cut; `suspected`: it may have, or its server only reports it so. */
  readonly certainty: 'known' | 'suspected'
  readonly promptTokens: number
  readonly expectedTokens: number
  /** What the window is taken to be; null where nothing was concluded. */
  readonly windowTokens: number | null
}

export type Learning = ReturnType<typeof createLearning>

/** `onCut` is called when a prompt came out cut, or may have. */
export function createLearning({
  models,
  windows,
  counts,
  serverWindows,
  onCut,
}: {
  readonly models: Models
  readonly windows: Windows
  readonly counts: Counts
  readonly serverWindows: Pick<ServerWindows, 'lookup' | 'refresh' | 'answered'>
  readonly onCut: (model: string, seen: CutPrompt) => void
}) {
  /** Compares what was sent with what was reported of it, and learns from that; whether the report counts it whole. */
  function isCount(lesson: Lesson, sent: SentPrompt, { promptTokens }: Usage, report: TailReport): boolean {
    const { modelKey: key, conversation, expectedTokens, isAuto } = lesson
    const model = { key, encoding: sent.encoding }
    const { prompt, textBytes, counted } = sent
    const answeredBy = nameIn(report)
    const answeredAt = (beginning: string) => counts.answered(model, beginning)
    const reported = reportedPrompt(promptTokens, expectedTokens, sent, answeredAt, answeredBy)
    const suspected = models.suspected(key)
    if (isConstant(reported)) {
      // What was taken for a count before is forgotten.
      suspected.constantTokens = promptTokens
      counts.forget(key)
    }
    const isNone = suspected.constantTokens === promptTokens
    const stated = models.get(key, 'stated')
    const loadedTokens = stated?.isLoaded === true ? stated.tokens : null
    const verdict = isNone
      ? 'none'
      : judgeReport(reported, {
          loadedTokens,
          isOllama: report.isOllama,
          fittingTokens: Math.max(suspected.cutBounds?.fitsTokens ?? 0, models.get(key, 'answered') ?? 0),
          before: suspected.oddReports.get(conversation) ?? null,
        })
    const answered = { textBytes, counted, answeredBy, promptTokens }
    if (verdict === 'count') {
      suspected.oddReports.delete(conversation)
      const anchor = counted?.anchor ?? null
      return counts.observe(model, prompt, answered, anchor?.answeredBy === answeredBy ? anchor : null)
    }
    // What the server said it has loaded may be old: it may have been started anew with less.
    if (verdict === 'none' && !isNone && isAuto && loadedTokens !== null && counted !== null)
      serverWindows.refresh(lesson.question)
    counts.pass(model, prompt, answered)
    const textTokens = counted === null ? null : ownTextTokens(counted)
    noteOf(suspected.oddReports, conversation, { promptTokens, ownTextTokens: textTokens })
    if (verdict === 'none') return false
    const windowTokens = verdict === 'cut' ? cutWindow(lesson, reported) : null
    onCut(lesson.question.model ?? key.model, {
      certainty: verdict === 'cut' ? 'known' : 'suspected',
      promptTokens,
      expectedTokens: counted === null ? promptTokens : expectedTokens,
      windowTokens,
    })
    return false
  }

  /** Learns from a prompt that came out cut; the window that it gives away, or null. */
  function cutWindow({ modelKey: key, isAuto, question }: Lesson, reported: ReportedPrompt): number | null {
    // Counts of prompts that may have been cut as well are worth nothing.
    counts.forget(key)
    if (isAuto) serverWindows.refresh(question)
    const stated = models.get(key, 'stated')
    // A server that can be asked says it exactly, and soon, and a request that asks for another window does not get it. And
    // nothing inferred lowers the operator's window: he is told.
    if (isAuto && stated?.isLoaded === true && question.model !== key.model) windows.cut(key, stated)
    const seen = stated !== null || !isAuto ? null : cutBounds(reported)
    if (seen === null) return stated?.isLoaded === true ? stated.tokens : null
    const suspected = models.suspected(key)
    const answeredTokens = Math.min(models.get(key, 'answered') ?? 0, seen.exceedsTokens - 1)
    const fitsTokens = Math.max(seen.fitsTokens, answeredTokens)
    suspected.cutBounds = narrowed(suspected.cutBounds, { ...seen, fitsTokens })
    const window = windowWithin(suspected.cutBounds)
    if (window !== null) windows.cut(key, window)
    return window?.tokens ?? null
  }

  return {
    /**
     * Learns from an answer that was passed on: the window, if it says with numbers that it was too small, else how the provider
     * counts. Answers that broke off, failed or were left teach nothing of counts.
     */
    answered: (lesson: Lesson, report: TailReport, isEntire: boolean): void => {
      const { modelKey, expectedTokens, outputTokens, sent, isAuto, question } = lesson
      const { usage, overflow } = report
      if (lesson.isUsageUnasked && usage !== null) models.set(modelKey, 'usage', 'stated', 'answer')
      if (overflow !== null) {
        windows.refused(modelKey, lesson.conversation, {
          classification: overflow,
          expectedTokens,
          outputTokens,
        })
        windows.exceeded(modelKey, expectedTokens)
        return
      }
      if (!isEntire || report.isError) return
      const name = nameIn(report)
      if (name !== null) models.set(modelKey, 'name', name, 'answer')
      if (isAuto) serverWindows.answered(question)
      if (report.isOllama && models.get(modelKey, 'stated')?.isLoaded !== true)
        models.suspected(modelKey).isSilentOllama = true
      if (usage === null || usage.isSum === true) return
      noteCached(models, modelKey, usage.promptTokens, usage.cachedTokens)
      if (sent === null || usage.promptTokens === 0 || !isCount(lesson, sent, usage, report)) return
      const answeredTokens = Math.min(usage.promptTokens, Math.ceil(expectedTokens * BELIEVED_FACTOR_MAX))
      windows.answered(modelKey, answeredTokens, outputTokens ?? 0)
      // The server runs with more than it said last.
      const stated = models.get(modelKey, 'stated')
      if (isAuto && stated !== null && answeredTokens > stated.tokens) serverWindows.refresh(question)
    },
    /** Whether a conversation's next prompt is to be counted whatever its size: only a count can say what an odd report means. */
    wantsCount: (key: ModelKey, conversation: string): boolean => {
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

function nameIn({ model }: TailReport): string | null {
  return model?.slice(0, MODEL_NAME_CHARS_MAX) ?? null
}

/** Shorter prompts are not cached by everybody. */
const LONG_TOKENS = 2048

const READ_SHARE = 0.5

/** One miss in a row says nothing: a compaction's first prompt is new from the fold on, and has just filled the cache. */
const MISSES_MAX = 2
