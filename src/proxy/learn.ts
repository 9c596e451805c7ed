import type { TailReport } from '../overflow/tail-observer.ts'
import { isSuspicious, judgeReport } from '../overflow/truncation.ts'
import type { StatedWindow } from '../overflow/classification.ts'
import type { Calibration } from '../pressure/calibration.ts'
import type { ServerWindows, WindowQuestion } from '../upstream/windows/server-windows.ts'
import type { SentPrompt } from './measure/sent-prompt.ts'
import type { ModelKey, UpstreamMemory } from './memory/upstream-memory.ts'

/** What has to be known of a request to learn from its answer. Refers to no content. */
export type Lesson = {
  readonly modelKey: ModelKey
  readonly model: string
  readonly conversation: string
  /** Whether usage in this stream would be stated without anybody having asked for it. */
  readonly isUsageUnasked: boolean
  /** The prompt's size as the provider counts, as far as we know; an upper bound where nothing was counted. */
  readonly expectedTokens: number
  /** Null where the prompt was not counted. */
  readonly sent: SentPrompt | null
  readonly calibrationName: string | null
  /** The bytes that were sent, without what media took of them. */
  readonly textBytes: number
  /** What the server would be asked; null where the operator's figure holds. */
  readonly question: WindowQuestion | null
}

export type LearnParts = {
  readonly memory: UpstreamMemory
  readonly calibration: Calibration
  readonly serverWindows: ServerWindows
  readonly nowMs: () => number
  /** Called when an upstream left out part of a prompt without saying so. */
  readonly onTruncated: (model: string, seen: Truncation) => void
}

export type Truncation = {
  readonly promptTokens: number
  readonly expectedTokens: number
  readonly windowTokens: number
}

/**
 * Learns from an answer that was passed on: the window, if it says that it was too small or the prompt came
 * out cut; else how the provider counts. Answers that broke off, failed or were left teach nothing of counts.
 */
export function learnFromAnswer(
  lesson: Lesson,
  report: TailReport,
  isWhole: boolean,
  parts: LearnParts,
): void {
  const { modelKey, conversation } = lesson
  const { windows, usage } = parts.memory
  if (lesson.isUsageUnasked && report.usage !== null) usage.stated(modelKey)
  if (report.overflow !== null) {
    const refused = { classification: report.overflow, conversation, sentTokens: lesson.expectedTokens }
    windows.learnFrom(modelKey, refused, parts.nowMs())
    return
  }
  if (!isWhole || report.isError) return
  if (report.model !== null) parts.memory.rememberAnswer(modelKey, report.model)
  refreshAssumed(lesson, parts.serverWindows)
  const promptTokens = report.usage?.promptTokens ?? 0
  if (promptTokens > 0) learnFromCount(lesson, promptTokens, report.model, parts)
}

// --- internal ---

/** A model that was not loaded is now, and the server knows with which window. */
function refreshAssumed({ question }: Lesson, serverWindows: ServerWindows): void {
  if (question !== null && serverWindows.lookup(question)?.isAssumed === true) serverWindows.refresh(question)
}

function learnFromCount(
  lesson: Lesson,
  promptTokens: number,
  answeredBy: string | null,
  parts: LearnParts,
): void {
  const { modelKey, sent } = lesson
  const { calibration } = parts
  if (sent === null) {
    // Counting it now would be late: the next one is counted, and judged by that.
    if (lesson.calibrationName !== null && isSuspicious(promptTokens, lesson.textBytes)) {
      calibration.askForCount(lesson.calibrationName)
    }
    parts.memory.windows.succeeded(modelKey, promptTokens)
    return
  }
  const { ownTokens, aroundTokens, mediaTokens, looseTokens, anchor } = sent
  const prompt = { ownTokens, aroundTokens, mediaTokens, looseTokens }
  const judgement = judgeReport({
    promptTokens,
    expectedTokens: sent.expectedTokens,
    expectedTextTokens: sent.expectedTextTokens,
    isCalibrated: sent.isCalibrated,
    beginningTokens: anchor !== null && anchor.answeredBy === answeredBy ? anchor.promptTokens : null,
    addedTokens: sent.addedTokens,
  })
  switch (judgement.kind) {
    case 'whole':
      parts.memory.windows.succeeded(modelKey, promptTokens)
      calibration.observe(sent.calibrationName, {
        prefix: sent.name,
        prompt: { ...prompt, promptTokens, answeredBy },
        since: anchor,
      })
      break
    case 'partial':
      calibration.see(sent.calibrationName, sent.name, prompt)
      break
    case 'doubtful':
      calibration.see(sent.calibrationName, sent.name, prompt)
      if (calibration.isOddAgain(sent.calibrationName, promptTokens)) {
        truncated(lesson, promptTokens, judgement.window, parts)
      }
      break
    case 'truncated':
      calibration.see(sent.calibrationName, sent.name, prompt)
      truncated(lesson, promptTokens, judgement.window, parts)
      break
  }
}

/** A lower window holds at once; a server that can say what it has loaded makes it exact. */
function truncated(lesson: Lesson, promptTokens: number, window: StatedWindow, parts: LearnParts): void {
  const { modelKey, question, expectedTokens } = lesson
  parts.memory.windows.learn(modelKey, window, parts.nowMs())
  parts.onTruncated(lesson.model, { promptTokens, expectedTokens, windowTokens: window.tokens })
  if (question === null) return
  parts.serverWindows.refresh(question)
  void parts.serverWindows.settled(question, LOADED_WAIT_MS).then(() => {
    const loaded = parts.serverWindows.lookup(question)
    if (
      loaded === null ||
      loaded.isAssumed ||
      loaded.tokens >= expectedTokens ||
      loaded.tokens < promptTokens
    )
      return
    parts.memory.windows.learn(modelKey, { tokens: loaded.tokens, kind: loaded.kind }, parts.nowMs())
  })
}

/** How long after a truncation the server's word is still taken for it, in milliseconds. */
const LOADED_WAIT_MS = 10_000
