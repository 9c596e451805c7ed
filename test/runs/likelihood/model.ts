/**
 * A small model in this process: how likely it finds a continuation. What it has read of a prompt stays in its cache, so
 * that only what follows the common beginning of two prompts is read anew.
 */
export type Model = {
  /** Without anything in front. */
  readonly tokenize: (text: string) => readonly number[]
  /** The text of each token: characters of several tokens count for one of them. */
  readonly textsOf: (tokens: readonly number[]) => readonly string[]
  /** What stands before every prompt. */
  readonly opening: readonly number[]
  /** The natural logarithm of each token's probability, after the prompt and the tokens before it. */
  readonly logProbabilities: (
    prompt: readonly number[],
    continuation: readonly number[],
  ) => Promise<readonly number[]>
  readonly close: () => Promise<void>
}

/** `contextTokens` is what a prompt may have, with its continuation; null for a model that only cuts text into tokens. */
export async function openModel(path: string, contextTokens: number | null): Promise<Model> {
  // Named by a variable: it is no dependency, and is not there before the command has installed it.
  const library: Library = await import(LIBRARY)
  const llama = await library.getLlama({ gpu: false, build: 'never', logLevel: 'error', maxThreads: 1 })
  const model = await llama.loadModel({ modelPath: path, vocabOnly: contextTokens === null })
  const context =
    contextTokens === null
      ? null
      : // With a cache of the whole window, models with sliding attention can go back to a common beginning, too.
        await model.createContext({
          contextSize: contextTokens,
          threads: 1,
          sequences: 1,
          swaFullCache: true,
        })
  const sequence = context?.getSequence()
  const { bos, shouldPrependBosToken } = model.tokens

  return {
    tokenize: (text) => model.tokenize(text, false),
    textsOf: (tokens) => {
      const beginnings = tokens.map((_, index) => model.detokenize(tokens.slice(0, index + 1)))
      return beginnings.map((text, index) => text.slice(beginnings[index - 1]?.length ?? 0))
    },
    opening: shouldPrependBosToken && bos !== null ? [bos] : [],
    logProbabilities: async (prompt, continuation) => {
      if (sequence === undefined) throw new Error('this model was opened to cut text into tokens')
      const last = prompt.length - 1
      let common = 0
      while (common < last && sequence.contextTokens[common] === prompt[common]) common += 1
      await eraseFrom(sequence, common)
      if (common < last) await sequence.controlledEvaluate(prompt.slice(common, last))
      const read = [...prompt.slice(last), ...continuation.slice(0, -1)]
      return scored(sequence, read, continuation)
    },
    close: () => llama.dispose(),
  }

  /**
   * The probabilities of the whole vocabulary would take a tenth of a second a token to come out of the library. Instead
   * the tokens are read twice: once for the probability of the likeliest one, and once for the ratio of the wanted one's
   * to it, of which both are lifted above all others. The result is the same to five digits.
   */
  async function scored(
    reading: Sequence,
    read: readonly number[],
    wanted: readonly number[],
  ): Promise<readonly number[]> {
    const start = reading.nextTokenIndex
    const likeliest = await reading.controlledEvaluate(
      read.map((token) => [token, { generateNext: { token: true, confidence: true } }]),
    )
    await eraseFrom(reading, start)
    const pairs = await reading.controlledEvaluate(
      read.map((token, index) => {
        const tokenBias = new library.TokenBias(model.tokenizer)
        for (const each of [wanted[index], likeliest[index]?.next.token])
          if (each != null) tokenBias.set(each, { logit: LIFT })
        const options = { temperature: 1, topK: 2, topP: 1, minP: 0, tokenBias }
        return [token, { generateNext: { probabilities: true, options } }]
      }),
    )
    return wanted.map((token, index) => {
      const { token: best = null, confidence = 0 } = likeliest[index]?.next ?? {}
      if (best === token || best === null) return Math.log(confidence)
      const pair = pairs[index]?.next.probabilities
      return Math.log(confidence) + Math.log(pair?.get(token) ?? 0) - Math.log(pair?.get(best) ?? 1)
    })
  }
}

async function eraseFrom(sequence: Sequence, start: number): Promise<void> {
  if (start < sequence.nextTokenIndex)
    await sequence.eraseContextTokenRanges([{ start, end: sequence.nextTokenIndex }])
}

const LIBRARY = 'node-llama-cpp'

/** What a logit is raised by: more than lies between any two, and no more than single precision bears. */
const LIFT = 40

/** What is used of the library, whose types are there only after it was installed. */
type Library = {
  readonly getLlama: (options: object) => Promise<Llama>
  readonly TokenBias: new (tokenizer: unknown) => { set: (token: number, bias: { logit: number }) => unknown }
}

type Llama = {
  readonly loadModel: (options: object) => Promise<LoadedModel>
  readonly dispose: () => Promise<void>
}

type LoadedModel = {
  readonly tokens: { readonly bos: number | null; readonly shouldPrependBosToken: boolean }
  readonly tokenizer: unknown
  readonly tokenize: (text: string, specialTokens: boolean) => readonly number[]
  readonly detokenize: (tokens: readonly number[]) => string
  readonly createContext: (options: object) => Promise<{ readonly getSequence: () => Sequence }>
}

type Sequence = {
  readonly contextTokens: readonly number[]
  readonly nextTokenIndex: number
  readonly eraseContextTokenRanges: (ranges: readonly { start: number; end: number }[]) => Promise<void>
  readonly controlledEvaluate: (
    tokens: readonly (number | readonly [token: number, options: object])[],
  ) => Promise<readonly (Evaluated | undefined)[]>
}

type Evaluated = {
  readonly next: {
    readonly token?: number | null
    readonly confidence?: number
    readonly probabilities?: ReadonlyMap<number, number>
  }
}
