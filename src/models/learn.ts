import { LRUCache } from 'lru-cache'
import type { Usage } from '../dialects/chat-completions/completion.ts'
import type { TailReport } from '../overflow/tail-observer.ts'
import { nameOfModel, type ModelKey } from './model-key.ts'
import { MODEL_NAME_CHARS_MAX } from '../upstream/model-name.ts'
import type { ServerWindows } from './discovery/server-windows.ts'
import type { WindowQuestion } from './discovery/sites.ts'
import type { Counts } from './counts/counts.ts'
import type { Anchor, CountedPrompt } from './counts/prompt.ts'
import {
  isConstant,
  isWhole,
  reportedPrompt,
  type ReportedPrompt,
  type SentBeginning,
  type SentCounts,
} from './counts/reported-prompt.ts'
import { cutBounds, hasDroppedOldest, isRound, narrowed, windowWithin, type CutBounds } from './cut-prompt.ts'
import type { Models } from './models.ts'
import type { PromptCaches } from './prompt-caches.ts'
import type { Windows } from './windows.ts'

/** What has to be known of a request to learn from its answer. Holds no content. */
export type Lesson = {
  readonly modelKey: ModelKey
  readonly model: string
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

/** A prompt that was sent, as far as it is compared with what the provider says of it. Holds nothing of its content. */
export type SentPrompt = {
  /** Under which a longer prompt finds it again. */
  readonly prompt: string
  /** In which it was counted. */
  readonly encoding: string
  /** The longest first. */
  readonly beginnings: readonly SentBeginning[]
  /** The bytes that were sent, without what media took of them. */
  readonly textBytes: number
  /** Null where it was not counted. */
  readonly counted: SentCount | null
}

export type SentCount = CountedPrompt &
  SentCounts & {
    /** What of it both have counted before; null where nothing. */
    readonly anchor: Anchor | null
  }

export type LearnParts = {
  readonly models: Models
  readonly windows: Windows
  readonly counts: Counts
  readonly promptCaches: PromptCaches
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
  /** Forgets what is doubted of a model, and where its window was seen to lie. */
  readonly forget: (key: ModelKey) => void
}

export function createLearning(parts: LearnParts): Learning {
  const { models, windows, counts, serverWindows } = parts
  const odd = new LRUCache<string, OddReport>({ max: ENTRIES_MAX, ttl: DOUBT_LIFETIME_MS })
  /** Numbers that are no counts, by model: what was taken for one before is forgotten. */
  const constants = new LRUCache<string, number>({ max: ENTRIES_MAX, ttl: DOUBT_LIFETIME_MS })
  /** Models behind an Ollama that has not said what it has loaded: only what was counted can show a cut. */
  const silent = new LRUCache<string, true>({ max: ENTRIES_MAX, ttl: DOUBT_LIFETIME_MS })
  const bounds = new LRUCache<string, CutBounds>({ max: ENTRIES_MAX, ttl: DOUBT_LIFETIME_MS })

  function learnFrom(lesson: Lesson, report: TailReport, isEntire: boolean): void {
    const { modelKey, expectedTokens, outputTokens, sent } = lesson
    const { usage } = report
    if (lesson.isUsageUnasked && usage !== null) models.set(modelKey, 'usage', 'stated', 'answer')
    if (report.overflow !== null) {
      windows.refused(modelKey, lesson.conversation, {
        classification: report.overflow,
        expectedTokens,
        outputTokens,
      })
      return
    }
    if (!isEntire || report.isError) return
    if (report.model !== null)
      models.set(modelKey, 'name', report.model.slice(0, MODEL_NAME_CHARS_MAX), 'answer')
    if (lesson.isAuto) serverWindows.answered(lesson.question)
    if (report.isOllama && models.get(modelKey, 'stated')?.isLoaded !== true)
      silent.set(nameOfModel(modelKey), true)
    if (usage !== null) parts.promptCaches.note(modelKey, usage.promptTokens, usage.cachedTokens)
    const answeredTokens =
      sent === null || usage === null || usage.promptTokens === 0
        ? null
        : compare({ ...lesson, sent }, usage, report)
    if (answeredTokens !== null) noteAnswered(lesson, answeredTokens)
  }

  function noteAnswered({ modelKey, expectedTokens, isAuto, question }: Lesson, tokens: number): void {
    const believedTokens = Math.min(tokens, Math.ceil(expectedTokens * BELIEVED_FACTOR_MAX))
    windows.answered(modelKey, believedTokens)
    // The server runs with more than it said last.
    const stated = models.get(modelKey, 'stated')
    if (isAuto && stated !== null && believedTokens > stated.tokens) serverWindows.refresh(question)
  }

  /** Compares what was sent with what was reported of it; the prompt's size where the report counts it whole, else null. */
  function compare(lesson: SentLesson, usage: Usage, report: TailReport): number | null {
    const { modelKey: key, sent, conversation, expectedTokens } = lesson
    const { promptTokens } = usage
    const model = { key, encoding: sent.encoding }
    const { prompt, textBytes, counted, beginnings } = sent
    const answeredBy = report.model?.slice(0, MODEL_NAME_CHARS_MAX) ?? null
    const known = counts.answeredAt(
      model,
      beginnings.map((each) => each.prompt),
    )
    const reported = reportedPrompt(promptTokens, { ...sent, expectedTokens }, known, answeredBy)
    const before = odd.get(oddName(key, conversation)) ?? null
    if (isConstant(reported) && !isRound(promptTokens)) {
      constants.set(nameOfModel(key), promptTokens)
      counts.forget(key)
    }
    const isNumber = constants.get(nameOfModel(key)) !== promptTokens
    const verdict = isNumber ? judge(lesson, reported, report.isOllama, before) : 'none'
    const answered = { textBytes, counted, answeredBy }
    if (verdict === 'count') {
      odd.delete(oddName(key, conversation))
      const anchor = counted?.anchor ?? null
      const since = anchor?.answeredBy === answeredBy ? anchor : null
      return counts.observe(model, prompt, { ...answered, promptTokens, since }) ? promptTokens : null
    }
    counts.pass(model, prompt, { ...answered, promptTokens: null })
    odd.set(oddName(key, conversation), {
      promptTokens,
      ownTextTokens: reported.counted?.ownTextTokens ?? null,
    })
    if (verdict === 'cut') takeCut(lesson, reported)
    else if (verdict === 'like-cut')
      parts.onCut(lesson.model, { ...told(reported), certainty: 'suspected', windowTokens: null })
    return null
  }

  /**
   * What a report is. A cut is concluded only by the server's own word that it has not loaded that much, or of a server that
   * calls itself Ollama, and there only if nothing else explains the report.
   */
  function judge(
    { modelKey, isAuto, question }: SentLesson,
    reported: ReportedPrompt,
    isOllama: boolean,
    before: OddReport | null,
  ): 'count' | 'none' | 'cut' | 'like-cut' {
    const { counted, promptTokens } = reported
    const isCount = isWhole(reported)
    if (counted === null) return isCount ? 'count' : 'none'
    const { expectedTokens } = counted
    const isShort = promptTokens < expectedTokens * CUT_SHARE_MAX
    const stated = models.get(modelKey, 'stated')
    if (stated?.isLoaded === true) {
      const hasRoom = expectedTokens <= stated.tokens
      const isLeft = promptTokens <= stated.tokens && promptTokens > stated.tokens * LEFT_SHARE_MIN
      if (isShort && !hasRoom && isLeft) return 'cut'
      // What it said may be old: it may have been started anew with less.
      if (!isCount && isAuto) serverWindows.refresh(question)
      return isCount ? 'count' : 'none'
    }
    if (isOllama && isShort && expectedTokens > fittingTokens(modelKey)) {
      if (isEvidentCut(reported, isCount, before)) return 'cut'
      if (isCount && growsEvenly(reported, before)) return 'count'
      return before === null ? 'none' : 'like-cut'
    }
    if (isCount) return 'count'
    return promptTokens >= LEFT_TOKENS_MIN && isLeftOver(reported, before) ? 'like-cut' : 'none'
  }

  /** A prompt of this size has come out whole, or is what was left of one. */
  function fittingTokens(key: ModelKey): number {
    const left = bounds.get(nameOfModel(key))?.fitsTokens ?? 0
    return Math.max(UNCUT_TOKENS, left, models.get(key, 'answered') ?? 0)
  }

  function takeCut(lesson: SentLesson, reported: ReportedPrompt): void {
    const { modelKey: key, model, isAuto, question } = lesson
    // Counts of prompts that may have been cut as well are worth nothing.
    counts.forget(key)
    if (isAuto) serverWindows.refresh(question)
    const stated = models.get(key, 'stated')
    // A server that can be asked says it exactly, and soon. And nothing inferred lowers the operator's window: he is told.
    const seen = stated !== null || !isAuto ? null : cutBounds(reported)
    let windowTokens = stated?.isLoaded === true ? stated.tokens : null
    if (seen !== null) {
      const answeredTokens = Math.min(models.get(key, 'answered') ?? 0, seen.exceedsTokens - 1)
      const fitsTokens = Math.max(seen.fitsTokens, answeredTokens)
      const all = narrowed(bounds.get(nameOfModel(key)) ?? null, { ...seen, fitsTokens })
      bounds.set(nameOfModel(key), all)
      const window = windowWithin(all)
      if (window !== null) windows.cut(key, window)
      windowTokens = window?.tokens ?? null
    }
    parts.onCut(model, { ...told(reported), certainty: 'known', windowTokens })
  }

  return {
    answered: learnFrom,
    wantsCount: (key, conversation) => odd.has(oddName(key, conversation)) || silent.has(nameOfModel(key)),
    forget: (key) => {
      const beginning = oddName(key, '')
      for (const name of odd.keys()) if (name.startsWith(beginning)) odd.delete(name)
      for (const each of [constants, silent, bounds]) each.delete(nameOfModel(key))
    },
  }
}

// --- internal ---

type SentLesson = Lesson & { readonly sent: SentPrompt }

/** A report that was no count. */
type OddReport = { readonly promptTokens: number; readonly ownTextTokens: number | null }

const ENTRIES_MAX = 1_000

/** A doubt that nothing has confirmed for so long is none, in milliseconds. */
const DOUBT_LIFETIME_MS = 3_600_000

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

function oddName(key: ModelKey, conversation: string): string {
  return `${nameOfModel(key)} ${conversation}`
}

/** Of a server that cuts: whether nothing else explains a small report. */
function isEvidentCut(reported: ReportedPrompt, isCount: boolean, before: OddReport | null): boolean {
  const { promptTokens, counted } = reported
  if (promptTokens < (counted?.ownTextTokens ?? 0) * TERSE_SHARE_MIN) return true
  return isRound(promptTokens) || (!isCount && isLeftOver(reported, before)) || isFlat(reported, before)
}

/** Whether a report looks like what is left of a cut prompt: a window's size, short by the oldest messages, or capped. */
function isLeftOver(reported: ReportedPrompt, before: OddReport | null): boolean {
  const hasDropped = reported.beginnings.length > 0 && hasDroppedOldest(reported)
  return isRound(reported.promptTokens) || hasDropped || isFlat(reported, before)
}

/** A cap does not grow with its prompt; a count does, by half of our own in the tersest of tokenizers. */
function isFlat({ promptTokens, counted }: ReportedPrompt, before: OddReport | null): boolean {
  if (counted === null || before?.ownTextTokens == null) return false
  const addedTokens = counted.ownTextTokens - before.ownTextTokens
  return addedTokens > 0 && promptTokens - before.promptTokens < addedTokens * GROWN_SHARE_MIN
}

/** Whether a report that was small has grown as its prompt did, at the rate that it has itself: a terse tokenizer. */
function growsEvenly({ promptTokens, counted }: ReportedPrompt, before: OddReport | null): boolean {
  if (counted === null || before?.ownTextTokens == null) return false
  const addedTokens = counted.ownTextTokens - before.ownTextTokens
  const rate = promptTokens / Math.max(1, counted.ownTextTokens)
  const grownTokens = promptTokens - before.promptTokens
  return addedTokens > 0 && Math.abs(grownTokens - addedTokens * rate) <= addedTokens * rate * EVEN_SHARE_MAX
}

function told({ promptTokens, counted }: ReportedPrompt) {
  return { promptTokens, expectedTokens: counted?.expectedTokens ?? promptTokens }
}
