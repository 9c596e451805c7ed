import { modelName } from './families.ts'

/** How a family of models is shown its tools. */
export type ToolRule = {
  readonly family: string
  readonly pattern: RegExp
  /** A name that this rule is for; the tests hold it against the whole table. */
  readonly sample: string
  /** `typescript`: a namespace of types; `tool`: a line of JSON for each as it was sent; `function`: the same of its function alone. */
  readonly rendering: 'typescript' | 'tool' | 'function'
  /** What stands around the list: instructions, a system message of its own. In tokens. */
  readonly frameTokens: number
  /** On top of what was rendered, where the rendering is a guess. */
  readonly marginShare: number
}

/** The rule for a model; for one that is not known, a line of JSON in the longest of the open templates. */
export function toolRuleOf(model: string): ToolRule {
  const name = modelName(model)
  return toolRules.find((rule) => rule.pattern.test(name)) ?? unknownRule
}

/** Most chat templates: Python's JSON between instructions. */
function lines(frameTokens: number, marginShare = guessShare) {
  return { rendering: 'tool', frameTokens, marginShare } as const
}

function functionLines(frameTokens: number) {
  return { rendering: 'function', frameTokens, marginShare: guessShare } as const
}

/** OpenAI's own, to the token where there is no message from the system; where there is one, 4 less. */
function types(frameTokens: number) {
  return { rendering: 'typescript', frameTokens, marginShare: 0 } as const
}

/** Covered vscode-copilot-chat's tools of very different sizes. */
const guessShare = 0.1

/**
 * Most specific first. Frames of the open families are their published templates' instructions, counted in o200k_base.
 *
 * @internal exported for tests
 */
export const toolRules: readonly ToolRule[] = [
  // A system message with a header that says where calls go, and the namespace.
  { family: 'gpt-oss', pattern: /\bgpt-oss/, sample: 'openai/gpt-oss-120b', ...types(30) },
  { family: 'OpenAI', pattern: /\bgpt-?[34]|\bchatgpt/, sample: 'gpt-4o-2024-08-06', ...types(9) },
  // Measured with gpt-5-mini: 80 more than gpt-4o, whatever the function. The o-series is taken to be like it.
  {
    family: 'OpenAI, reasoning',
    pattern: /\bgpt-(?:[5-9]|\d\d)|\bo[1-9]\b|\bcodex|\bcomputer-use/,
    sample: 'gpt-5-mini',
    ...types(89),
  },
  // Anthropic's page on tool use, 2026, for a free choice of tools; a forced one costs up to 129 more.
  {
    family: 'Claude 4.5, 4.6',
    pattern: /claude-(?:[a-z]+-)?4[-.][56](?!\d)/,
    sample: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
    ...functionLines(497),
  },
  {
    family: 'Claude 4.7',
    pattern: /claude-(?:[a-z]+-)?4[-.]7(?!\d)/,
    sample: 'claude-opus-4-7',
    ...functionLines(675),
  },
  // 290 to 354 from 4.8 on, 313 to 346 for 4.1 and before.
  { family: 'Claude', pattern: /claude/, sample: 'claude-opus-5', ...functionLines(354) },
  { family: 'Gemini', pattern: /gemini/, sample: 'gemini-2.5-flash', ...functionLines(0) },
  { family: 'Qwen Coder', pattern: /qwen.*coder/, sample: 'qwen3-coder-480b-a35b-instruct', ...lines(192) },
  { family: 'Qwen, Hermes', pattern: /qwen|qwq|hermes/, sample: 'qwen2.5-72b-instruct', ...lines(87) },
  { family: 'GLM', pattern: /\bglm/, sample: 'glm-4.6', ...lines(115) },
  { family: 'DeepSeek', pattern: /deepseek/, sample: 'deepseek-chat', ...functionLines(136) },
  // Its JSON stands in lines indented by four, which is up to a third more.
  { family: 'Llama', pattern: /llama/, sample: 'llama-3.3-70b-instruct', ...lines(56, 0.3) },
  {
    family: 'Mistral',
    pattern: /mistral|mixtral|ministral|devstral|codestral|magistral|pixtral/,
    sample: 'mistral-large-2512',
    ...lines(10),
  },
  { family: 'Kimi', pattern: /kimi|moonshot/, sample: 'kimi-k2-thinking', ...lines(10) },
]

// --- internal ---

const unknownRule: ToolRule = { family: 'unknown', pattern: /^/, sample: '', ...lines(192) }
