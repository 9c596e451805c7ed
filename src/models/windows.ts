import { LRUCache } from 'lru-cache'
import type { Classification, StatedWindow } from '../overflow/classification.ts'
import { nameOfModel, type ModelKey } from './model-key.ts'
import type { Held, Models } from './models.ts'

/** What answers say of a model's window. All counts are the provider's tokens. */
export type Windows = {
  /** A prompt was refused. Numbers that the refusal states of it are believed; without numbers it teaches nothing yet. */
  readonly refused: (key: ModelKey, conversation: string, refusal: Refusal) => void
  /** Whether a larger prompt than this was answered of late: then a refusal's number is not to be gone by. */
  readonly isContradicted: (key: ModelKey, tokens: number) => boolean
  /** A smaller form was answered after refusals without numbers: the window lies below `refusedTokens`. */
  readonly recovered: (key: ModelKey, conversation: string, refusedTokens: number) => void
  /** A server that is known to cut prompts has cut one. */
  readonly cut: (key: ModelKey, window: StatedWindow) => void
  /** A prompt of this size was answered. */
  readonly answered: (key: ModelKey, promptTokens: number) => void
  readonly learnt: (key: ModelKey) => Held<StatedWindow> | null
  /** What this conversation's own refusals without numbers suggest; null where nothing does. */
  readonly suggestedTokens: (key: ModelKey, conversation: string) => number | null
  /** Forgets what is kept of a model beside its record. */
  readonly forget: (key: ModelKey) => void
}

export type Refusal = {
  readonly classification: Pick<Classification, 'class' | 'window' | 'promptTokens'>
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

export function createWindows(options: {
  readonly models: Pick<Models, 'get' | 'set' | 'forget' | 'belief'>
  /** Called when a window was learnt that was not known. Must not throw. */
  readonly onLearnt: (lesson: LearntWindow) => void
}): Windows {
  const { models, onLearnt } = options
  /** By model and conversation, the smallest prompt that was refused without numbers. */
  const guesses = new LRUCache<string, Map<string, number>>({ max: MODELS_MAX, ttl: GUESS_LIFETIME_MS })
  /** Numbers that contradict a prompt which was answered, by model: said to another conversation, too, they are believed. */
  const doubted = new LRUCache<string, { readonly tokens: number; readonly conversation: string }>({
    max: MODELS_MAX,
    ttl: GUESS_LIFETIME_MS,
  })

  function isContradicted(key: ModelKey, tokens: number): boolean {
    return (models.get(key, 'answered') ?? 0) > tokens
  }

  function believe(key: ModelKey, window: StatedWindow, by: LearntWindow['by']): void {
    const known = models.belief(key, 'window')
    models.set(key, 'window', { tokens: window.tokens, kind: window.kind }, by)
    const isKnown =
      known?.from === by && known.value.tokens === window.tokens && known.value.kind === window.kind
    if (!isKnown) onLearnt({ key, window, by, conversation: null })
  }

  return {
    isContradicted,
    refused: (key, conversation, refusal) => {
      const { window } = refusal.classification
      if (window === null || !isAboutThisPrompt(window, refusal)) return
      const name = nameOfModel(key)
      if (isContradicted(key, window.tokens)) {
        const before = doubted.get(name)
        const isConfirmed = before?.tokens === window.tokens && before.conversation !== conversation
        if (!isConfirmed) {
          doubted.set(name, { tokens: window.tokens, conversation })
          return
        }
        models.forget(key, 'answered')
      }
      guesses.delete(name)
      believe(key, window, 'refusal')
    },
    recovered: (key, conversation, refusedTokens) => {
      if (refusedTokens <= (models.get(key, 'answered') ?? 1)) return
      const name = nameOfModel(key)
      const sizes = guesses.get(name) ?? new Map<string, number>()
      const before = sizes.get(conversation)
      if (before !== undefined && before <= refusedTokens) return
      sizes.set(conversation, refusedTokens)
      for (const oldest of sizes.keys()) {
        if (sizes.size <= CONVERSATIONS_MAX) break
        sizes.delete(oldest)
      }
      guesses.set(name, sizes)
      // Two conversations bear the larger of their sizes out.
      const confirmed = [...sizes.values()].toSorted((one, other) => one - other)[1]
      if (confirmed === undefined) {
        onLearnt({ key, window: below(refusedTokens), by: 'unstated', conversation })
      } else if (models.belief(key, 'window')?.from !== 'refusal') {
        believe(key, below(confirmed), 'unstated')
      }
    },
    cut: (key, window) => {
      // A server that refuses does not cut.
      if (models.belief(key, 'window')?.from !== 'refusal') believe(key, window, 'cut')
    },
    answered: (key, promptTokens) => {
      if (promptTokens > (models.get(key, 'answered') ?? 0)) {
        models.set(key, 'answered', promptTokens, 'answer')
      }
      if (promptTokens > (doubted.get(nameOfModel(key))?.tokens ?? Infinity)) doubted.delete(nameOfModel(key))
      const sizes = guesses.get(nameOfModel(key))
      for (const [conversation, tokens] of sizes ?? [])
        if (tokens <= promptTokens) sizes?.delete(conversation)
      const window = models.belief(key, 'window')
      if (window !== null && promptTokens > window.value.tokens) {
        models.set(key, 'window', { ...window.value, tokens: promptTokens }, window.from)
      }
    },
    learnt: (key) => models.belief(key, 'window'),
    suggestedTokens: (key, conversation) => {
      const refusedTokens = guesses.get(nameOfModel(key))?.get(conversation)
      return refusedTokens === undefined ? null : below(refusedTokens).tokens
    },
    forget: (key) => {
      guesses.delete(nameOfModel(key))
      doubted.delete(nameOfModel(key))
    },
  }
}

// --- internal ---

const MODELS_MAX = 1_000

/** Conversations remembered of one model; two are enough to confirm each other. */
const CONVERSATIONS_MAX = 64

const GUESS_LIFETIME_MS = 3_600_000

/** Our count may be off by this factor, and numbers beyond it are about something else. */
const COUNT_FACTOR_MAX = 4
/** What a gateway may add to a small prompt. */
const HIDDEN_TOKENS_MAX = 2_048

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
