import type { DataRow } from './read-package.ts'
import type { Figure } from './figures.ts'

/** What the row of a model says, put right: the first correction that is for it, else the data's figure as a total. */
export function figureOf(row: DataRow, name: string): Figure {
  const correction = corrections.find(({ isFor }) => isFor(row, name))
  return correction?.figure(row, name) ?? { tokens: row.windowTokens, kind: 'total' }
}

/**
 * What makers serve under names of their own and the data leaves out. It is the maker's word, and so it is believed of the
 * name everywhere but at hosts that list it themselves.
 */
export const additions: readonly {
  readonly provider: string
  readonly name: string
  readonly figure: Figure
}[] = [
  // Aliases of the current model, for gateways hand the name on to its maker. OpenRouter calls a version of 2024 so, and
  // keeps its own figure.
  { provider: 'deepseek', name: 'deepseek-chat', figure: { tokens: 1_000_000, kind: 'total' } },
  { provider: 'deepseek', name: 'deepseek-reasoner', figure: { tokens: 1_000_000, kind: 'total' } },
]

/**
 * What open weights take without being stretched, where the data's hosts stretch them or serve less, and so would mislead
 * whoever runs them elsewhere. Those hosts keep their own figures.
 */
export const weights: readonly { readonly name: string; readonly figure: Figure }[] = [
  { name: 'deepseek-r1', figure: { tokens: 128_000, kind: 'total' } },
  { name: 'deepseek-v3', figure: { tokens: 128_000, kind: 'total' } },
  { name: 'mistral-7b-instruct-v0-3', figure: { tokens: 32_768, kind: 'total' } },
  { name: 'qwen2-5-coder-32b-instruct', figure: { tokens: 32_768, kind: 'total' } },
  { name: 'qwen3-32b', figure: { tokens: 40_960, kind: 'total' } },
]

// --- internal ---

/** Tokens that OpenAI keeps for the reply in the windows of its models from GPT-5 on, whatever a request asks for. */
const openaiReplyTokens = 128_000

/** Tokens of prompt that GPT-5 to 5.3 take at most, and above which later ones cost more. */
const openaiPromptTokens = 272_000

/** GPT-5 and later, with the aliases of the current ones: `gpt-luna-latest`. */
const isOpenaiFive = (name: string): boolean => /^(?:gpt-(?!oss|audio|[1-4])|chat-latest)/.test(name)

const corrections: readonly {
  readonly isFor: (row: DataRow, name: string) => boolean
  readonly figure: (row: DataRow, name: string) => Figure
}[] = [
  // The data set stays below 272,000 where prompts above it cost more. That is a matter of money (`window.max`); the
  // window is 1,050,000.
  {
    isFor: (row, name) =>
      ['openai', 'opencode'].includes(row.provider) &&
      isOpenaiFive(name) &&
      row.windowTokens === openaiPromptTokens,
    figure: () => ({ tokens: 1_050_000 - openaiReplyTokens, kind: 'input' }),
  },
  // OpenAI limits the prompt, wherever the model is reached: 400,000 are 272,000 and a reply. Smaller figures are the
  // provider's own, or those of the chat variants, which are true totals.
  {
    isFor: (row, name) => isOpenaiFive(name) && row.windowTokens >= openaiPromptTokens + openaiReplyTokens,
    figure: (row, name) => ({
      tokens: Math.min(
        row.windowTokens - openaiReplyTokens,
        /^gpt-5(?:-[1-3])?(?!-?\d)/.test(name) ? openaiPromptTokens : Infinity,
      ),
      kind: 'input',
    }),
  },
  // Copilot refuses a prompt that leaves no room for the longest reply.
  {
    isFor: (row) => row.provider === 'github-copilot',
    figure: (row) => ({ tokens: row.windowTokens - row.outputTokens, kind: 'input' }),
  },
  // Google states and enforces how much goes in; the reply has a limit of its own.
  {
    isFor: (row, name) => row.provider.startsWith('google') || name.startsWith('gemini-'),
    figure: (row) => ({ tokens: row.windowTokens, kind: 'input' }),
  },
  // xAI's refusals speak of the prompt's length alone.
  {
    isFor: (row) => row.provider === 'xai',
    figure: (row) => ({ tokens: row.windowTokens, kind: 'input' }),
  },
  // DashScope's window of 1,000,000 takes 983,616 in; thinking and reply have the rest.
  {
    isFor: (row, name) =>
      row.provider.startsWith('qwen-token-plan') && name.startsWith('qwen') && row.windowTokens === 1_000_000,
    figure: () => ({ tokens: 983_616, kind: 'input' }),
  },
]
