import type { Classification, Remedy, StatedWindow } from '../overflow/classification.ts'
import type { ModelKey } from './model-record.ts'
import type { Models } from './models.ts'
import { noteOf } from './suspicions.ts'

type LimitRefusal = Pick<Classification, 'window' | 'promptTokens' | 'completionTokens' | 'remedy'>

export type Refusal = {
  readonly classification: Pick<Classification, 'class' | 'window' | 'promptTokens' | 'remedy'>
  /** The prompt's size as the provider counts, as far as we know. */
  readonly expectedTokens: number
  /** The output that the request asked for; null where it sets no limit. */
  readonly outputTokens: number | null
}

/** A window that was just learnt: of which model, how, and of which conversation where it holds for that one alone. */
export type LearntWindow = {
  readonly key: ModelKey
  readonly window: StatedWindow
  /** `refusal`: an error stated it; `cut`: a cut prompt gave it away; `unstated`: prompts were refused without numbers. */
  readonly by: 'refusal' | 'cut' | 'unstated'
  readonly conversation: string | null
}

/** What answers say of a model's window. All counts are the provider's tokens. */
export type Windows = ReturnType<typeof createWindows>

/** `onLearnt` is called when a window was learnt that was not known. It must not throw. */
export function createWindows({
  models,
  onLearnt,
}: {
  readonly models: Pick<Models, 'get' | 'set' | 'forget' | 'belief' | 'suspected' | 'statedWindow'>
  readonly onLearnt: (lesson: LearntWindow) => void
}) {
  /** Whether a larger prompt than this was answered of late: then a refusal's number is not to be gone by. */
  function isContradicted(key: ModelKey, tokens: number): boolean {
    return (models.get(key, 'answered') ?? 0) > tokens
  }

  function believe(key: ModelKey, { tokens, kind }: StatedWindow, by: LearntWindow['by']): void {
    const known = models.belief(key, 'window')
    // A server that refuses with numbers is inferred nothing of.
    if (by !== 'refusal' && known?.from === 'refusal') return
    models.set(key, 'window', { tokens, kind }, by)
    const isKnown = known?.from === by && known.value.tokens === tokens && known.value.kind === kind
    if (!isKnown) onLearnt({ key, window: { tokens, kind }, by, conversation: null })
  }

  return {
    isContradicted,
    /** A prompt was refused. Numbers that the refusal states of it are believed; without numbers it teaches nothing yet. */
    refused: (key: ModelKey, conversation: string, refusal: Refusal): void => {
      const { window } = refusal.classification
      if (window === null || !isAboutThisPrompt(window, refusal)) return
      const suspected = models.suspected(key)
      const isOdd = window.tokens < (models.statedWindow(key)?.tokens ?? 0) * STATED_SHARE_MIN
      const isBelowAnswered = isContradicted(key, window.tokens)
      if (isOdd || isBelowAnswered) {
        const before = suspected.contradicted
        const isAgreed = before?.tokens === window.tokens
        if (!isAgreed || (isBelowAnswered && before.conversation === conversation)) {
          suspected.contradicted = { tokens: window.tokens, conversation }
          return
        }
        if (isBelowAnswered) models.forget(key, 'answered')
      }
      suspected.refusedTokens.clear()
      believe(key, window, 'refusal')
    },
    /** A prompt was refused with these numbers, which may hold its output limit against the window. */
    limitRefused: (key: ModelKey, classification: LimitRefusal): void => {
      if (!isOfLimit(classification)) return
      Object.assign(models.suspected(key), { togetherTokens: 0, isLimitHeld: true })
    },
    /** A smaller form was answered after refusals without numbers: the window lies below `refusedTokens`. */
    recovered: (key: ModelKey, conversation: string, refusedTokens: number): void => {
      if (refusedTokens <= (models.get(key, 'answered') ?? 1)) return
      const sizes = models.suspected(key).refusedTokens
      if (refusedTokens >= (sizes.get(conversation) ?? Infinity)) return
      noteOf(sizes, conversation, refusedTokens)
      // Two conversations bear the larger of their sizes out.
      const confirmed = [...sizes.values()].toSorted((one, other) => one - other)[1]
      if (confirmed !== undefined) believe(key, below(confirmed), 'unstated')
      else onLearnt({ key, window: below(refusedTokens), by: 'unstated', conversation })
    },
    /** A prompt of this size was too long, whatever window is known. */
    exceeded: (key: ModelKey, promptTokens: number): void => {
      const suspected = models.suspected(key)
      suspected.exceededTokens = Math.min(promptTokens, suspected.exceededTokens ?? Infinity)
    },
    /** Whether a prompt of this size may be too long, although it is far below the window that is known. */
    isDoubted: (key: ModelKey, promptTokens: number): boolean => {
      const { exceededTokens } = models.suspected(key)
      return exceededTokens !== null && promptTokens > exceededTokens * DOUBTED_SHARE
    },
    /** A server that is known to cut prompts has cut one. */
    cut: (key: ModelKey, window: StatedWindow): void => believe(key, window, 'cut'),
    /** Whether the server has refused a prompt as that and its output limit together were more than its window of this size. */
    holdsLimit: (key: ModelKey, windowTokens: number): boolean => {
      const { isLimitHeld, togetherTokens } = models.suspected(key)
      return isLimitHeld && togetherTokens <= windowTokens
    },
    /** A prompt of this size was answered, with this output limit; 0 if it had none. */
    answered: (key: ModelKey, promptTokens: number, limitTokens: number): void => {
      if (promptTokens > (models.get(key, 'answered') ?? 0))
        models.set(key, 'answered', promptTokens, 'answer')
      const suspected = models.suspected(key)
      suspected.togetherTokens = Math.max(suspected.togetherTokens, promptTokens + limitTokens)
      if (promptTokens > (suspected.contradicted?.tokens ?? Infinity)) suspected.contradicted = null
      for (const [conversation, tokens] of suspected.refusedTokens)
        if (tokens <= promptTokens) suspected.refusedTokens.delete(conversation)
      const window = models.belief(key, 'window')
      if (window !== null && promptTokens > window.value.tokens)
        models.set(key, 'window', { ...window.value, tokens: promptTokens }, window.from)
    },
    /** What this conversation's own refusals without numbers suggest; null where nothing does. */
    suggestedTokens: (key: ModelKey, conversation: string): number | null => {
      const refusedTokens = models.suspected(key).refusedTokens.get(conversation)
      return refusedTokens === undefined ? null : below(refusedTokens).tokens
    },
  }
}

// --- internal ---

/** Below this share of what settings, server or table state, two refusals have to agree on a window. */
const STATED_SHARE_MIN = 1 / 8

/** Our count may be off by this factor, and numbers beyond it are about something else. */
const COUNT_FACTOR_MAX = 4
/** What a gateway may add to a small prompt. */
const HIDDEN_TOKENS_MAX = 2_048

/** From this share of a prompt that was too long: nobody knows by how much it was. */
const DOUBTED_SHARE = 0.5

/** Remedies of refusals that hold the output limit against the window. */
const lessOutput: ReadonlySet<Remedy> = new Set(['clamp', 'clamp-or-compact', 'less-output'])

/** Whether a refusal holds the output limit against the window: by its remedy, or since its own count of the prompt alone would fit. */
function isOfLimit({ window, promptTokens, completionTokens, remedy }: LimitRefusal): boolean {
  if (window === null) return false
  if (lessOutput.has(remedy)) return true
  const isPromptFitting = promptTokens?.exact === true && promptTokens.tokens < window.tokens
  return window.kind === 'total' && (completionTokens ?? 0) > 0 && isPromptFitting
}

/** What was refused was a prompt, and the next smaller one may fit. */
function below(refusedTokens: number): StatedWindow {
  return { tokens: refusedTokens - 1, kind: 'input' }
}

/** Whether a refusal's numbers can be about the prompt that was sent: one that fits many times over is refused for another reason. */
function isAboutThisPrompt(
  window: StatedWindow,
  { classification, expectedTokens, outputTokens }: Refusal,
): boolean {
  const { promptTokens } = classification
  const stated = promptTokens?.exact === true ? promptTokens.tokens : null
  if (stated !== null && stated * COUNT_FACTOR_MAX < expectedTokens) return false
  const askedTokens = Math.max(expectedTokens, stated ?? 0) + (outputTokens ?? 0)
  return window.tokens <= askedTokens * COUNT_FACTOR_MAX + HIDDEN_TOKENS_MAX
}
