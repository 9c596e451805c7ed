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
          batchSize: BATCH_TOKENS,
          contextSize: contextTokens,
          threads: 1,
          sequences: 1,
          swaFullCache: true,
          // Two and a half times as fast at 7,000 tokens on a processor.
          flashAttention: true,
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
      // How a quantised model rounds depends on where its reading is cut: a message's cost moved from 75.3 to 74.0 nats. Cut
      // where a first reading is, the result is the view's alone, whatever was read before.
      common -= common % BATCH_TOKENS
      await eraseFrom(sequence, common)
      if (common < last) await sequence.controlledEvaluate(prompt.slice(common, last))
      const read = [...prompt.slice(last), ...continuation.slice(0, -1)]
      return scored(sequence, read, continuation)
    },
    close: () => llama.dispose(),
  }

  /**
   * The probabilities of a whole vocabulary would take a tenth of a second a token to come out of the library. It gives the
   * likeliest ones, among which the wanted one is lifted; what remains is less than a thousandth of all. (Gemma 3 270M, 100
   * tokens: 0.0003 nats of 4.5.)
   */
  async function scored(
    reading: Sequence,
    read: readonly number[],
    wanted: readonly number[],
  ): Promise<readonly number[]> {
    const found: number[] = []
    for (let start = 0; start < read.length; start += AT_ONCE) {
      const outputs = await reading.controlledEvaluate(
        read.slice(start, start + AT_ONCE).map((token, index) => {
          const tokenBias = new library.TokenBias(model.tokenizer)
          tokenBias.set(wanted[start + index] ?? 0, { logit: LIFT })
          const options = { temperature: 1, topK: LIKELIEST, topP: 1, minP: 0, tokenBias }
          return [token, { generateNext: { probabilities: true, options } }]
        }),
      )
      for (const [index, output] of outputs.entries()) {
        const token = wanted[start + index] ?? 0
        found.push(logProbabilityOf(token, output?.next.probabilities ?? new Map<number, number>()))
      }
    }
    return found
  }
}

/** Of a token that was lifted among these. */
function logProbabilityOf(token: number, probabilities: ReadonlyMap<number, number>): number {
  const own = (probabilities.get(token) ?? 0) * Math.exp(-LIFT)
  let all = own
  for (const [other, probability] of probabilities) if (other !== token) all += probability
  return Math.log(own / all)
}

async function eraseFrom(sequence: Sequence, start: number): Promise<void> {
  if (start < sequence.nextTokenIndex)
    await sequence.eraseContextTokenRanges([{ start, end: sequence.nextTokenIndex }])
}

const BATCH_TOKENS = 512

const LIBRARY = 'node-llama-cpp'

/** What a logit is raised by: the wanted token is then among the likeliest, and the others are still told apart. */
const LIFT = 30

const LIKELIEST = 20_000

/** Of tokens whose probabilities are in memory together. */
const AT_ONCE = 32

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
    readonly probabilities?: ReadonlyMap<number, number>
  }
}
