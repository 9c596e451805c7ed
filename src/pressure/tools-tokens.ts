import type { Steps } from '../conversation/source.ts'
import type { TokenCounter } from './bpe-counter.ts'

/**
 * The tokens of a request's `tools`, or of the legacy `functions`: 16, and for each 8 with its name, description and parameters
 * as JSON, with a tenth on top, as providers render them in their own ways. 0 where there are none.
 */
export function* toolsTokens(tools: unknown, counter: TokenCounter): Steps<number> {
  if (tools === null || tools === undefined || (Array.isArray(tools) && tools.length === 0)) return 0
  let tokens = toolsFrameTokens
  for (const tool of Array.isArray(tools) ? (tools as readonly unknown[]) : [tools]) {
    tokens += toolFrameTokens
    for (const text of toolTexts(tool)) tokens += yield* counter.countSteps(text)
  }
  return withMargin(tokens)
}

/** The tokens of a `response_format` that carries a schema, which is put into the prompt; 0 for any other. */
export function* schemaTokens(responseFormat: unknown, counter: TokenCounter): Steps<number> {
  if (!isRecord(responseFormat) || responseFormat['type'] !== 'json_schema') return 0
  return withMargin(toolFrameTokens + (yield* counter.countSteps(jsonText(responseFormat['json_schema']))))
}

// --- internal ---

// vscode-copilot-chat's figures, which hold for tools of very different sizes.
const toolsFrameTokens = 16
const toolFrameTokens = 8
const marginShare = 0.1

function withMargin(tokens: number): number {
  return tokens + Math.ceil(tokens * marginShare)
}

/** A function's own texts; for a shape that is not known, all of it. */
function toolTexts(tool: unknown): readonly string[] {
  const described = isRecord(tool) && isRecord(tool['function']) ? tool['function'] : tool
  if (!isRecord(described) || typeof described['name'] !== 'string') return [jsonText(tool)]
  return [described['name'], jsonText(described['description']), jsonText(described['parameters'])]
}

function jsonText(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return value
  try {
    return JSON.stringify(value)
  } catch {
    // Nested deeper than the engine can write, some thousand levels: no provider takes it, so its weight decides nothing.
    return ''
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
