import { familyFinder } from './families.ts'
import rows from './model-families.json' with { type: 'json' }

/** How a family of models is shown its tools. */
export type ToolRule = {
  /** `typescript`: a namespace of types; `tool`: a line of JSON for each as it was sent; `function`: the same of its function alone. */
  readonly rendering: 'typescript' | 'tool' | 'function'
  /** What stands around the list: instructions, a system message of its own. In tokens. */
  readonly frameTokens: number
  /** On top of what was rendered, where the rendering is a guess. */
  readonly marginShare: number
}

/** The rule for a model; for one that is not known, a line of JSON in the longest of the open templates. */
export function toolRuleOf(model: string): ToolRule {
  const { typescript, functionLines, toolLines = 0, marginShare = guessShare } = familyOf(model) ?? unknown
  // To the token where there is no message from the system; where there is one, 4 less.
  if (typescript !== undefined) return { rendering: 'typescript', frameTokens: typescript, marginShare: 0 }
  if (functionLines !== undefined) return { rendering: 'function', frameTokens: functionLines, marginShare }
  return { rendering: 'tool', frameTokens: toolLines, marginShare }
}

/** Covered vscode-copilot-chat's tools of very different sizes. */
export const guessShare = 0.1

// --- internal ---

/** By rendering, the tokens of its frame: those of the open families are their published templates' instructions, in o200k_base. */
type Row = {
  readonly pattern: string
  readonly typescript?: number
  readonly functionLines?: number
  readonly toolLines?: number
  readonly marginShare?: number
}

const familyOf = familyFinder<Row>(rows.tools)

const unknown: Row = { pattern: '', toolLines: 192 }
