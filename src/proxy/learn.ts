import type { Usage } from '../overflow/completion.ts'
import type { Suspicions } from '../overflow/suspicions.ts'
import type { TailReport } from '../overflow/tail-observer.ts'
import { hasCountedCached, judgeReport, type ReportedPrompt, type Suspicion } from '../overflow/truncation.ts'
import type { Calibration } from '../pressure/calibration/calibration.ts'
import { MODEL_NAME_CHARS_MAX } from '../upstream/model-name.ts'
import type { ServerWindows, WindowQuestion } from '../upstream/windows/server-windows.ts'
import type { Failures } from './failures.ts'
import type { Lesson } from './lesson.ts'
import { describeReport } from './measure/reported-prompt.ts'
import type { Learnt } from './memory/learnt.ts'
import type { UpstreamMemory } from './memory/upstream-memory.ts'

export type LearnParts = {
  readonly memory: UpstreamMemory
  readonly learnt: Pick<Learnt, 'note'>
  readonly calibration: Calibration
  readonly suspicions: Suspicions
  readonly serverWindows: ServerWindows
  readonly failures: Failures
  readonly nowMs: () => number
  /** Called when an upstream left out part of a prompt without saying so. */
  readonly onCut: (model: string, seen: CutPrompt) => void
}

export type CutPrompt = {
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
  const { memory } = parts
  parts.learnt.note(modelKey)
  if (lesson.isUsageUnasked && report.usage !== null) memory.usage.stated(modelKey)
  if (report.overflow !== null) {
    const refused = { classification: report.overflow, conversation, sentTokens: lesson.expectedTokens }
    memory.windows.learnFrom(modelKey, refused, parts.nowMs())
    return
  }
  if (!isWhole || report.isError) return
  if (report.model !== null) memory.rememberAnswer(modelKey, report.model)
  if (lesson.isAuto) parts.serverWindows.answered(lesson.question)
  if (lesson.sent !== null && report.usage !== null && report.usage.promptTokens > 0) {
    learnFromReport({ ...lesson, sent: lesson.sent }, report.usage, report.model, parts)
  }
}

// --- internal ---

type SentLesson = Lesson & { readonly sent: NonNullable<Lesson['sent']> }

function learnFromReport(lesson: SentLesson, usage: Usage, model: string | null, parts: LearnParts): void {
  const { calibration } = parts
  const { sent } = lesson
  const { calibrationName } = sent
  const answeredBy = model?.slice(0, MODEL_NAME_CHARS_MAX) ?? null
  const reported = describeReport(sent, lesson.expectedTokens, usage, answeredBy, calibration)
  const judgement = judgeReport(reported)
  let promptTokens: number | null = null
  if (judgement.kind === 'whole') {
    parts.suspicions.dispel({ calibrationName, conversation: lesson.conversation })
    promptTokens = judgement.promptTokens
  } else if (judgement.kind === 'partial') calibration.notePartial(calibrationName)
  else if (judgement.kind === 'doubtful' || judgement.kind === 'cut')
    promptTokens = countAfterAll(lesson, reported, judgement, parts)

  const { prompt, textBytes, counted } = sent
  const answered = { textBytes, counted, answeredBy }
  if (promptTokens === null) {
    calibration.pass(calibrationName, prompt, { ...answered, promptTokens: null })
    return
  }
  const anchor = counted?.anchor ?? null
  const isCount = calibration.observe(calibrationName, prompt, {
    ...answered,
    promptTokens,
    since: anchor?.answeredBy === answeredBy ? anchor : null,
    hasCountedCached: hasCountedCached(reported, promptTokens),
  })
  if (isCount) {
    const believedTokens = Math.ceil(lesson.expectedTokens * BELIEVED_FACTOR_MAX)
    parts.memory.windows.succeeded(lesson.modelKey, Math.min(promptTokens, believedTokens))
  }
}

/**
 * A prompt may have come out cut. What cannot be explained otherwise is believed, and what can be has to come
 * twice; a server that says what it has loaded settles it. Returns the report where it turns out to be a count.
 */
function countAfterAll(
  lesson: SentLesson,
  reported: ReportedPrompt,
  suspicion: Suspicion,
  parts: LearnParts,
): number | null {
  const { sent, conversation, isAuto, question, modelKey } = lesson
  const { promptTokens, window } = suspicion
  const verdict = parts.suspicions.take(
    { calibrationName: sent.calibrationName, conversation },
    {
      promptTokens,
      textBytes: sent.textBytes,
      ownTextTokens: reported.counted?.ownTextTokens ?? null,
      windowTokens: window.tokens,
      // Who always says the same has not done so even once.
      hasCounted: reported.habits.cachedCounts > 0,
    },
  )
  // Bytes do not tell what of them are thoughts: the next of this conversation is counted.
  if (reported.counted === null) return null
  if (isAuto && isLoaded(parts.serverWindows, question, reported.counted.expectedTokens)) {
    // What it said may be old; said again, nothing was cut, whatever the report means.
    parts.serverWindows.refresh(question)
    return verdict === 'first' ? null : promptTokens
  }
  if (verdict === 'grown' && !suspicion.isRemainder) return promptTokens
  const isConfirmed = verdict === 'confirmed' || verdict === 'grown'
  if (suspicion.kind === 'doubtful' && !isConfirmed) return null
  if (!parts.memory.windows.learnCut(modelKey, window, parts.nowMs())) return null
  const { expectedTokens } = reported.counted
  parts.onCut(lesson.model, { promptTokens, expectedTokens, windowTokens: window.tokens })
  if (isAuto) {
    void parts.failures.around('observation', null, async () => {
      await askWhatIsLoaded(lesson, { promptTokens, expectedTokens }, parts)
      return null
    })
  }
  return null
}

/** What is loaded is the window, exactly, or the proof that nothing was cut. */
async function askWhatIsLoaded(
  { modelKey, question }: Lesson,
  { promptTokens }: Pick<CutPrompt, 'promptTokens' | 'expectedTokens'>,
  { serverWindows, memory, learnt }: LearnParts,
): Promise<void> {
  serverWindows.refresh(question)
  await serverWindows.settled(question, LOADED_WAIT_MS)
  if (!isLoaded(serverWindows, question, promptTokens)) return
  memory.windows.forgetCut(modelKey)
  learnt.note(modelKey)
}

/** Whether the server says that it has loaded the model with so many tokens or more. */
function isLoaded(serverWindows: ServerWindows, question: WindowQuestion, tokens: number): boolean {
  const stated = serverWindows.lookup(question)
  return stated?.isLoaded === true && stated.tokens >= tokens
}

/** How long after a cut prompt the server's word is still taken for it, in milliseconds. */
const LOADED_WAIT_MS = 10_000

/** A report raises a learnt window to this many times what was expected at most. */
const BELIEVED_FACTOR_MAX = 2
