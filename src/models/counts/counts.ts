import { lruCache } from '../../caches.ts'
import type { ModelKey } from '../model-record.ts'
import type { Models } from '../models.ts'
import { grownBy, overheadIn, ratioFrom, withSample } from './learnt-rate.ts'
import type { Anchor, AnsweredPrompt, Rate } from './counted-prompt.ts'

/** A model's count is learnt for each encoding that we count in. */
export type CountedModel = { readonly key: ModelKey; readonly encoding: string }

/** A beginning of a prompt, as it was sent at a request point. */
export type Beginning = {
  readonly prompt: string
  /** Our count of the conversation up to there: one that was counted otherwise was another. */
  readonly conversationTokens: number
}

export type Counts = ReturnType<typeof createCounts>

/**
 * How the provider's count of a prompt follows from ours: what answers have taught of a model, and of single prompts. Those live
 * in memory: after a restart one answer of a conversation makes its next prompt exact again.
 */
export function createCounts({
  models,
  promptsMax,
}: {
  readonly models: Pick<Models, 'get' | 'set' | 'forget'>
  readonly promptsMax: number
}) {
  const prompts = lruCache<AnsweredPrompt>(promptsMax)

  /** Takes a prompt that was answered, without the count of it, which is of no use. */
  function pass(model: CountedModel, prompt: string, answered: AnsweredPrompt): void {
    const name = promptName(model, prompt)
    const known = prompts.get(name)
    const isSame = known?.counted?.conversationTokens === answered.counted?.conversationTokens
    if (known?.promptTokens == null || !isSame) prompts.set(name, { ...answered, promptTokens: null })
  }

  /** What is believed of how a model counts, where it was learnt in this encoding. */
  function learnt<Name extends 'ratio' | 'overhead'>({ key, encoding }: CountedModel, name: Name) {
    const known = models.get(key, name)
    return known?.encoding === encoding ? known : null
  }

  return {
    pass,
    rateOf: (model: CountedModel, startingRatio: number, aroundTokens: number): Rate => {
      const ratio = ratioFrom(learnt(model, 'ratio'), startingRatio)
      const overhead = overheadIn(learnt(model, 'overhead'), aroundTokens, ratio)
      return {
        ratio,
        overheadTokens: overhead?.tokens ?? 0,
        overheadDoubtTokens: overhead?.doubtTokens ?? Infinity,
      }
    },
    /** The longest beginning of a prompt that both have counted; null where there is none. */
    anchorAt: (model: CountedModel, beginnings: readonly Beginning[]): Anchor | null => {
      for (const { prompt, conversationTokens } of beginnings) {
        const anchor = anchorOf(prompts.get(promptName(model, prompt)))
        if (anchor?.conversationTokens === conversationTokens) return anchor
      }
      return null
    },
    /** What was taken of a prompt that was answered, or of a beginning of one; undefined where nothing was. */
    answered: (model: CountedModel, prompt: string): AnsweredPrompt | undefined =>
      prompts.get(promptName(model, prompt)),
    /**
     * Takes a prompt that the provider counted whole; false where what it says cannot be a count of it. `since`: what it grew
     * from, counted by the same model; null where that is not known.
     */
    observe: (
      model: CountedModel,
      prompt: string,
      answered: AnsweredPrompt,
      since: Anchor | null,
    ): boolean => {
      const anchor = anchorOf(answered)
      if (anchor !== null) {
        if (!isPlausible(anchor)) {
          pass(model, prompt, answered)
          return false
        }
        const { key, encoding } = model
        models.set(key, 'ratio', grownBy(learnt(model, 'ratio'), encoding, anchor, since), 'answer')
        models.set(key, 'overhead', withSample(learnt(model, 'overhead'), encoding, anchor), 'answer')
      }
      prompts.set(promptName(model, prompt), answered)
      return true
    },
    /** Forgets how a model counts, and all of its prompts. */
    forget: (key: ModelKey): void => {
      models.forget(key, 'ratio')
      models.forget(key, 'overhead')
      for (const name of prompts.keys()) if (name.startsWith(key.name)) prompts.delete(name)
    },
  }
}

/** What is counted for nobody: a model's family tells all that there is to know. */
export const nothingCounted: Pick<Counts, 'rateOf' | 'anchorAt'> = {
  rateOf: (_model, ratio) => ({ ratio, overheadTokens: 0, overheadDoubtTokens: Infinity }),
  anchorAt: () => null,
}

// --- internal ---

/** A count above this many times ours, or below this share of our texts, is no count of this prompt. */
const countFactorMax = 8
const countShareMin = 0.5
/** Below this, hidden parts may well exceed the visible ones many times. */
const smallPromptTokens = 1000

function anchorOf(prompt: AnsweredPrompt | undefined): Anchor | null {
  if (prompt === undefined || prompt.counted === null || prompt.promptTokens === null) return null
  return { ...prompt.counted, promptTokens: prompt.promptTokens, answeredBy: prompt.answeredBy }
}

function isPlausible({ ownTokens, looseTokens, aroundTokens, promptTokens }: Anchor): boolean {
  // Of what surrounds the messages much may be left out: tools that are not loaded yet.
  if (promptTokens < (ownTokens - looseTokens - aroundTokens) * countShareMin) return false
  return ownTokens < smallPromptTokens || promptTokens < ownTokens * countFactorMax
}

/** Begins with the model's name, so that all of a model are found. */
function promptName({ key, encoding }: CountedModel, prompt: string): string {
  return `${key.name} ${encoding} ${prompt}`
}
