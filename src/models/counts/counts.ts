import { LRUCache } from 'lru-cache'
import { nameOfModel, type ModelKey } from '../model-key.ts'
import type { Models } from '../models.ts'
import type { Rate } from './expected.ts'
import { grownBy, noGrowth, ratioFrom } from './growth.ts'
import { overheadIn, withSample } from './overheads.ts'
import type { Anchor, AnsweredPrompt } from './prompt.ts'

/** A model's count is learnt for each encoding that we count in. */
export type CountedModel = { readonly key: ModelKey; readonly encoding: string }

/** How the provider's count of a prompt follows from ours: what answers have taught of a model, and of single prompts. */
export type Counts = {
  readonly rateOf: (model: CountedModel, startingRatio: number, aroundTokens: number) => Rate
  /** The longest beginning of a prompt that both have counted; null where there is none. */
  readonly anchorAt: (model: CountedModel, beginnings: readonly Beginning[]) => Anchor | null
  /** Those of a prompt's beginnings that were answered, in their order. */
  readonly answeredAt: (model: CountedModel, prompts: readonly string[]) => readonly AnsweredBeginning[]
  /** Takes a prompt that the provider counted whole; false where what it says cannot be a count of it. */
  readonly observe: (model: CountedModel, prompt: string, answered: CountedAnswer) => boolean
  /** Takes a prompt that was answered without a count of it that can be used. */
  readonly pass: (model: CountedModel, prompt: string, answered: AnsweredPrompt) => void
  /** Forgets how a model counts, and all of its prompts. */
  readonly forget: (key: ModelKey) => void
}

/** A beginning of a prompt, as it was sent at a request point. */
export type Beginning = {
  readonly prompt: string
  /** Our count of the conversation up to there: one that was counted otherwise was another. */
  readonly conversationTokens: number
}

/** A beginning that was answered; `index` is that of its name. */
export type AnsweredBeginning = { readonly index: number; readonly answered: AnsweredPrompt }

export type CountedAnswer = AnsweredPrompt & {
  readonly promptTokens: number
  /** What it grew from, counted by the same model; null where that is not known. */
  readonly since: Anchor | null
}

/** Prompts live in memory: after a restart one answer of a conversation makes its next prompt exact again. */
export function createCounts(options: {
  readonly models: Pick<Models, 'get' | 'set' | 'forget'>
  readonly promptsMax: number
}): Counts {
  const { models } = options
  const prompts = new LRUCache<string, AnsweredPrompt>({ max: options.promptsMax })

  function pass(model: CountedModel, prompt: string, answered: AnsweredPrompt): void {
    const name = promptName(model, prompt)
    const known = prompts.get(name)
    if (known?.promptTokens != null && isSame(known, answered)) return
    prompts.set(name, { ...answered, promptTokens: null })
  }

  function growthOf({ key, encoding }: CountedModel) {
    const known = models.get(key, 'ratio')
    return known?.encoding === encoding ? known : noGrowth(encoding)
  }

  function surroundingsOf({ key, encoding }: CountedModel) {
    const known = models.get(key, 'overhead')
    return known?.encoding === encoding ? known : { encoding, samples: [] }
  }

  return {
    rateOf: (model, startingRatio, aroundTokens) => {
      const ratio = ratioFrom(growthOf(model), startingRatio)
      const overhead = overheadIn(surroundingsOf(model), aroundTokens, ratio)
      return {
        ratio,
        overheadTokens: overhead?.tokens ?? 0,
        overheadDoubtTokens: overhead?.doubtTokens ?? Infinity,
      }
    },
    anchorAt: (model, beginnings) => {
      for (const { prompt, conversationTokens } of beginnings) {
        const anchor = anchorOf(prompts.get(promptName(model, prompt)))
        if (anchor?.conversationTokens === conversationTokens) return anchor
      }
      return null
    },
    answeredAt: (model, beginnings) =>
      beginnings.flatMap((beginning, index) => {
        const answered = prompts.get(promptName(model, beginning))
        return answered === undefined ? [] : [{ index, answered }]
      }),
    observe: (model, prompt, { since, ...answered }) => {
      const anchor = anchorOf(answered)
      if (!isPlausible(anchor)) {
        pass(model, prompt, answered)
        return false
      }
      if (anchor !== null) {
        models.set(model.key, 'ratio', grownBy(growthOf(model), anchor, since), 'answer')
        models.set(model.key, 'overhead', withSample(surroundingsOf(model), anchor), 'answer')
      }
      prompts.set(promptName(model, prompt), answered)
      return true
    },
    pass,
    forget: (key) => {
      models.forget(key, 'ratio')
      models.forget(key, 'overhead')
      const beginning = nameOfModel(key)
      for (const name of prompts.keys()) if (name.startsWith(beginning)) prompts.delete(name)
    },
  }
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

function isSame(known: AnsweredPrompt, answered: AnsweredPrompt): boolean {
  return known.counted?.conversationTokens === answered.counted?.conversationTokens
}

function isPlausible(anchor: Anchor | null): boolean {
  if (anchor === null) return true
  const { ownTokens, looseTokens, promptTokens } = anchor
  if (promptTokens < (ownTokens - looseTokens) * countShareMin) return false
  return ownTokens < smallPromptTokens || promptTokens < ownTokens * countFactorMax
}

/** Begins with the model's name, so that all of a model are found. */
function promptName({ key, encoding }: CountedModel, prompt: string): string {
  return `${nameOfModel(key)} ${encoding} ${prompt}`
}
