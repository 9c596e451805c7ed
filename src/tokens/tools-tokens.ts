import { isJsonObject, type JsonObject } from '../conversation/json-value.ts'
import type { Steps } from '../conversation/source.ts'
import type { TokenCounter } from './bpe-counter.ts'
import { jsonText, pythonJson, type JsonSpelling } from './json-text.ts'
import { guessShare, toolRuleOf } from './tool-rules.ts'
import { functionsAsTypeScript, type FunctionTool } from './typescript-tools.ts'

/** The tokens of a request's `tools`, or of the legacy `functions`, as the model is shown them. 0 where there are none. */
export function* toolsTokens(tools: unknown, counter: TokenCounter, model: string): Steps<number> {
  if (tools === null || tools === undefined || (Array.isArray(tools) && tools.length === 0)) return 0
  const list = Array.isArray(tools) ? (tools as readonly unknown[]) : [tools]
  const { rendering, frameTokens, marginShare } = toolRuleOf(model)
  if (rendering === 'typescript') return frameTokens + (yield* typeScriptTokens(list, counter))
  const shown = rendering === 'function' ? list.map((tool) => functionIn(tool) ?? tool) : list
  return frameTokens + withMargin(yield* linesTokens(shown, counter), marginShare)
}

/**
 * What tools cost where they are put into the prompt as JSON, with room for a frame of any kind: as much as any gateway was seen
 * to take of a model whose own way is terser. For plans, until the provider has counted.
 */
export function* plainToolsTokens(tools: unknown, counter: TokenCounter): Steps<number> {
  if (tools === null || tools === undefined || (Array.isArray(tools) && tools.length === 0)) return 0
  const list = Array.isArray(tools) ? (tools as readonly unknown[]) : [tools]
  const frames = plainFrameTokens + plainToolTokens * list.length
  return withMargin(
    frames +
      (yield* linesTokens(
        list.map((tool) => functionIn(tool) ?? tool),
        counter,
      )),
    guessShare,
  )
}

/** The tokens of a `response_format` that carries a schema, which is put into the prompt; 0 for any other. */
export function* schemaTokens(responseFormat: unknown, counter: TokenCounter, model: string): Steps<number> {
  if (!isJsonObject(responseFormat) || responseFormat['type'] !== 'json_schema') return 0
  const format = responseFormat['json_schema']
  if (toolRuleOf(model).rendering === 'typescript' && isJsonObject(format)) {
    const described = textOr(format['description'], '')
    const head = `# Response Formats\n\n## ${textOr(format['name'], '')}\n\n${described === '' ? '' : `// ${described}\n`}`
    const schema = yield* jsonText(format['schema'], responseSpelling)
    return 1 + (yield* counter.countSteps(head + schema))
  }
  return yield* plainSchemaTokens(responseFormat, counter)
}

/** The same where the schema is put into the prompt as JSON. */
export function* plainSchemaTokens(responseFormat: unknown, counter: TokenCounter): Steps<number> {
  if (!isJsonObject(responseFormat) || responseFormat['type'] !== 'json_schema') return 0
  const schema = yield* linesTokens([responseFormat['json_schema']], counter)
  return withMargin(formatFrameTokens + schema, guessShare)
}

// --- internal ---

/** Two figures for gpt-4o are met to the token if the model is not told which properties are required and that no others may be. */
const responseSpelling: JsonSpelling = {
  comma: ',',
  colon: ':',
  without: new Set(['required', 'additionalProperties']),
}

// vscode-copilot-chat's figures, which hold for tools of very different sizes.
const plainFrameTokens = 16
const plainToolTokens = 8

/** Around a schema in the prompt of a model whose way is not known. */
const formatFrameTokens = 8

function* typeScriptTokens(tools: readonly unknown[], counter: TokenCounter): Steps<number> {
  const functions: FunctionTool[] = []
  const others: unknown[] = []
  for (const tool of tools) {
    const described = functionIn(tool)
    if (described === null) {
      others.push(tool)
      continue
    }
    const parameters = described['parameters'] ?? described['input_schema']
    functions.push({
      name: described.name,
      description: textOr(described['description'], ''),
      parameters,
    })
    if (isJsonObject(parameters)) others.push(parameters['$defs'], parameters['definitions'])
  }
  const text = functions.length === 0 ? '' : yield* functionsAsTypeScript(functions)
  return (yield* counter.countSteps(text)) + withMargin(yield* linesTokens(others, counter), guessShare)
}

/** A line of JSON for each value that is there. */
function* linesTokens(values: readonly unknown[], counter: TokenCounter): Steps<number> {
  const lines: string[] = []
  for (const value of values) {
    if (value !== undefined)
      lines.push(typeof value === 'string' ? value : yield* jsonText(value, pythonJson))
  }
  return yield* counter.countSteps(lines.join('\n'))
}

/** The described function: of a tool, of the Responses API's flat shape, or the legacy one itself. Null for any other kind of tool. */
function functionIn(tool: unknown): (JsonObject & { readonly name: string }) | null {
  if (!isJsonObject(tool)) return null
  const described = isJsonObject(tool['function']) ? tool['function'] : tool
  const isFunction = tool['type'] === undefined || tool['type'] === 'function'
  return isFunction && hasName(described) ? described : null
}

function hasName(value: JsonObject): value is JsonObject & { readonly name: string } {
  return typeof value['name'] === 'string'
}

function withMargin(tokens: number, share: number): number {
  return tokens + Math.ceil(tokens * share)
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise
}
