import type { StatedWindow } from '../overflow/classification.ts'
import type { Usage } from '../overflow/completion.ts'
import type { Suspicions } from '../overflow/suspicions.ts'
import type { TailReport } from '../overflow/tail-observer.ts'
import { judgeReport, type ReportedPrompt, type ReportJudgement } from '../overflow/truncation.ts'
import type { AnsweredBeginning, Calibration, Habits } from '../pressure/calibration/calibration.ts'
import type { ServerWindows, WindowQuestion } from '../upstream/windows/server-windows.ts'
import type { Failures } from './failures.ts'
import type { Lesson } from './lesson.ts'
import type { SentPrompt } from './measure/sent-prompt.ts'
import type { UpstreamMemory } from './memory/upstream-memory.ts'

export type LearnParts = {
  readonly memory: UpstreamMemory
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
  const { calibration, memory } = parts
  const { sent } = lesson
  const answeredBy = model?.slice(0, MODEL_CHARS_MAX) ?? null
  const answered = calibration.answeredAt(
    sent.calibrationName,
    sent.beginnings.map(({ prompt }) => prompt),
  )
  const reported = describeReport(
    lesson,
    usage,
    answeredBy,
    answered,
    calibration.habitsOf(sent.calibrationName),
  )
  const judgement = judgeReport(reported)
  const take = (promptTokens: number): void => {
    const anchor = sent.counted?.anchor ?? null
    const isCount = calibration.observe(sent.calibrationName, sent.prompt, {
      textBytes: sent.textBytes,
      counted: sent.counted,
      promptTokens,
      answeredBy,
      since: anchor?.answeredBy === answeredBy ? anchor : null,
      hasCountedCached: hasCountedCached(reported, promptTokens),
    })
    if (!isCount) return
    parts.suspicions.dispel(sent.calibrationName, promptTokens)
    memory.windows.succeeded(
      lesson.modelKey,
      Math.min(promptTokens, reported.expectedTokens * BELIEVED_FACTOR_MAX),
    )
  }
  const { textBytes, counted } = sent
  if (judgement.kind === 'whole') {
    take(judgement.promptTokens)
    return
  }
  // A server that says that it has loaded more than was sent has cut nothing, whatever its count means.
  const loadedTokens = loadedOf(parts.serverWindows, lesson.question)
  if (judgement.kind !== 'useless' && loadedTokens !== null && loadedTokens >= reported.expectedTokens) {
    take(usage.promptTokens)
    return
  }
  if (judgement.kind === 'useless') {
    // What looks like the uncached part alone may be all that was left of the prompt. The server knows.
    const isLeft = loadedTokens !== null && loadedTokens >= usage.promptTokens
    if (isLeft && loadedTokens < reported.expectedTokens) {
      memory.windows.learnCut(lesson.modelKey, { tokens: loadedTokens, kind: 'total' }, parts.nowMs())
    }
  } else if (suspect(lesson, reported, judgement, parts) === 'refuted') {
    take(usage.promptTokens)
    return
  }
  calibration.pass(sent.calibrationName, sent.prompt, { textBytes, counted, promptTokens: null, answeredBy })
}

/** Whether it counted what it must have had in its cache: more than was added, and by what was added more than before. */
function hasCountedCached({ addedTokens, beginnings }: ReportedPrompt, promptTokens: number): boolean {
  const [nearest] = beginnings
  if (nearest === undefined || addedTokens.length === 0) return false
  const hasGrown = promptTokens - nearest.promptTokens >= nearest.addedTokensMin * GROWN_SHARE_MIN
  return hasGrown && promptTokens > Math.max(...addedTokens) * UNCACHED_FACTOR_MAX + UNCACHED_TOKENS_MIN
}

/** What is known of a prompt, beside what is said of it. */
function describeReport(
  { sent, expectedTokens }: SentLesson,
  usage: Usage,
  answeredBy: string | null,
  answered: readonly AnsweredBeginning[],
  habits: Habits,
): ReportedPrompt {
  const { counted, textBytes } = sent
  const [longest] = answered
  const known = answered.flatMap(({ answered: { promptTokens, ...each } }) =>
    promptTokens === null || each.answeredBy !== answeredBy ? [] : [{ ...each, promptTokens }],
  )
  const [nearest] = known
  const density = densityOf(counted, nearest ?? null, textBytes)
  const addedTokens = (since: number): number => Math.max(0, textBytes - since) * density.tokensPerByte
  return {
    promptTokens: usage.promptTokens,
    withCacheTokens: usage.alternativePromptTokens,
    expectedTokens:
      counted === null
        ? Math.ceil((nearest?.promptTokens ?? 0) + addedTokens(nearest?.textBytes ?? 0))
        : expectedTokens,
    ownTextTokens:
      counted === null ? null : Math.max(0, counted.ownTokens - counted.looseTokens - counted.toolsTokens),
    beginnings: known.map((each) => ({
      promptTokens: each.promptTokens,
      looseTokens: (each.counted?.looseTokens ?? 0) * (counted?.ratio ?? 1),
      addedTokensMin: addedTokens(each.textBytes) * density.shareMin,
    })),
    // A cache may hold the reply to the prompt before, too: then only what the client added is new to it.
    addedTokens:
      longest === undefined
        ? []
        : [0, sent.beginnings[longest.index]?.replyBytes ?? 0].map((replyBytes) =>
            addedTokens(longest.answered.textBytes + replyBytes),
          ),
    textBytes,
    habits,
  }
}

/** The provider's tokens for a byte of text, and how much less it may be. */
function densityOf(
  counted: SentPrompt['counted'],
  nearest: { readonly textBytes: number; readonly promptTokens: number } | null,
  textBytes: number,
): { readonly tokensPerByte: number; readonly shareMin: number } {
  if (counted !== null) {
    const { ownTokens, looseTokens, ratio, ratioMin } = counted
    const textShare = (ownTokens - looseTokens) / Math.max(1, ownTokens)
    return {
      tokensPerByte: (ownTokens * ratio) / Math.max(1, textBytes),
      shareMin: textShare * (ratioMin / ratio) * ADDED_SHARE_MIN,
    }
  }
  const tokensPerByte =
    nearest === null ? USUAL_TOKENS_PER_BYTE : nearest.promptTokens / Math.max(1, nearest.textBytes)
  return { tokensPerByte, shareMin: ADDED_SHARE_MIN }
}

/**
 * A prompt may have come out cut. What cannot be explained otherwise is believed, and what can be has to come
 * twice; then a server that can say what it has loaded makes it exact, or takes it back.
 */
function suspect(
  lesson: SentLesson,
  { promptTokens, expectedTokens, habits: { countsCached } }: ReportedPrompt,
  { kind, isFar, isSize, window }: Extract<ReportJudgement, { readonly window: StatedWindow }>,
  parts: LearnParts,
): 'refuted' | 'suspected' {
  const { modelKey, sent } = lesson
  const report = { promptTokens, expectedTokens, windowTokens: window.tokens, countsCached }
  const verdict = parts.suspicions.take(sent.calibrationName, report)
  // What grew with its prompt has no cap above it. Where most is missing all the same, the cap lies behind what is left.
  if (verdict === 'refuted' && !isFar) return 'refuted'
  // Bytes do not tell what of them are thoughts: the second sight is one that was counted.
  if (sent.counted === null) parts.calibration.askForCount(sent.calibrationName)
  const isConfirmed = verdict === 'refuted' || (verdict === 'confirmed' && isSize)
  if (kind === 'doubtful' && (!isConfirmed || sent.counted === null)) return 'suspected'
  if (!parts.memory.windows.learnCut(modelKey, window, parts.nowMs())) return 'suspected'
  parts.onCut(lesson.model, report)
  void parts.failures.around('observation', null, async () => {
    await askWhatIsLoaded(lesson, report, parts)
    return null
  })
  return 'suspected'
}

async function askWhatIsLoaded(
  { modelKey, question }: Lesson,
  { promptTokens, expectedTokens }: CutPrompt,
  { serverWindows, memory, nowMs }: LearnParts,
): Promise<void> {
  serverWindows.refresh(question)
  await serverWindows.settled(question, LOADED_WAIT_MS)
  const tokens = loadedOf(serverWindows, question)
  if (tokens === null || tokens < promptTokens) return
  memory.windows.forgetCut(modelKey)
  if (tokens < expectedTokens) memory.windows.learnCut(modelKey, { tokens, kind: 'total' }, nowMs())
}

function loadedOf(serverWindows: ServerWindows, question: WindowQuestion): number | null {
  const stated = serverWindows.lookup(question)
  return stated?.isLoaded === true ? stated.tokens : null
}

/** How long after a cut prompt the server's word is still taken for it, in milliseconds. */
const LOADED_WAIT_MS = 10_000

/** Longer names are no models; answers come from outside. */
const MODEL_CHARS_MAX = 256

/** A count grows with what is added, whatever the tokenizer makes of it. */
const GROWN_SHARE_MIN = 0.5

/** A report of the uncached part alone is no larger than this: our count may be off, and caches hold whole blocks. */
const UNCACHED_FACTOR_MAX = 1.3
const UNCACHED_TOKENS_MIN = 256

/** Of what we take for added, so much is there at the least, whatever the tokenizer makes of it. */
const ADDED_SHARE_MIN = 0.8

/** Prose and code as JSON; only for prompts of which nothing was ever counted. */
const USUAL_TOKENS_PER_BYTE = 0.25

/** A report raises a learnt window to this many times what was expected at most. */
const BELIEVED_FACTOR_MAX = 2
