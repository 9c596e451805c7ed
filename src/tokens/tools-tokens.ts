import { isJsonObject, type JsonObject } from '../json/json-value.ts'
import type { Steps } from '../json/source.ts'
import type { TokenCounter } from './bpe-counter.ts'
import { functionAsType, plainJson, pythonJson } from './typescript-tools.ts'
import { familyFinder } from './families.ts'
import rows from './model-families.json' with { type: 'json' }

/** The tokens of a request's `tools`, or of the legacy `functions`, as the model is shown them. 0 where there are none. */
export function* toolsTokens(tools: unknown, counter: TokenCounter, model: string): Steps<number> {
  const list = listOf(tools)
  if (list.length === 0) return 0
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
  const list = listOf(tools)
  if (list.length === 0) return 0
  const shown = list.map((tool) => functionIn(tool) ?? tool)
  const frames = plainFrameTokens + plainToolTokens * list.length
  return withMargin(frames + (yield* linesTokens(shown, counter)), guessShare)
}

/**
 * The tokens of a `response_format` that carries a schema, which is put into the prompt; 0 for any other. The Responses API's
 * form of it is flat.
 */
export function* schemaTokens(responseFormat: unknown, counter: TokenCounter, model: string): Steps<number> {
  if (!isJsonObject(responseFormat) || responseFormat['type'] !== 'json_schema') return 0
  const format = formatIn(responseFormat)
  if (toolRuleOf(model).rendering === 'typescript' && isJsonObject(format)) {
    const described = textOr(format['description'], '')
    const head = `# Response Formats\n\n## ${textOr(format['name'], '')}\n\n${described === '' ? '' : `// ${described}\n`}`
    return 1 + (yield* counter.countSteps(head + plainJson(shownSchema(format['schema'], false, 0))))
  }
  return yield* plainSchemaTokens(responseFormat, counter)
}

/** The same where the schema is put into the prompt as JSON. */
export function* plainSchemaTokens(responseFormat: unknown, counter: TokenCounter): Steps<number> {
  if (!isJsonObject(responseFormat) || responseFormat['type'] !== 'json_schema') return 0
  const schema = yield* linesTokens([formatIn(responseFormat)], counter)
  return withMargin(formatFrameTokens + schema, guessShare)
}

/** How a family of models is shown its tools. */
type ToolRule = {
  /** `typescript`: a namespace of types; `tool`: a line of JSON for each as it was sent; `function`: the same of its function alone. */
  readonly rendering: 'typescript' | 'tool' | 'function'
  /** What stands around the list: instructions, a system message of its own. In tokens. */
  readonly frameTokens: number
  /** On top of what was rendered, where the rendering is a guess. */
  readonly marginShare: number
}

/**
 * The rule for a model; for one that is not known, a line of JSON in the longest of the open templates.
 *
 * @internal exported for tests
 */
export function toolRuleOf(model: string): ToolRule {
  const { typescript, functionLines, toolLines = 0, marginShare = guessShare } = familyOf(model) ?? unknown
  // To the token where there is no message from the system; where there is one, 4 less.
  if (typescript !== undefined) return { rendering: 'typescript', frameTokens: typescript, marginShare: 0 }
  if (functionLines !== undefined) return { rendering: 'function', frameTokens: functionLines, marginShare }
  return { rendering: 'tool', frameTokens: toolLines, marginShare }
}

/** Covered vscode-copilot-chat's tools of very different sizes. */
const guessShare = 0.1

// --- internal ---

/**
 * Two figures for gpt-4o are met to the token if the model is not told which properties are required and that no others may
 * be.
 */
const hiddenKeywords: ReadonlySet<string> = new Set(['required', 'additionalProperties'])

/** Keywords whose own keys are names that the client chose. */
const nameKeywords: ReadonlySet<string> = new Set(['properties', 'patternProperties', '$defs', 'definitions'])

/** Levels that are looked through. Real schemas have a dozen. */
const depthMax = 64

// vscode-copilot-chat's figures, which hold for tools of very different sizes.
const plainFrameTokens = 16
const plainToolTokens = 8

/** Around a schema in the prompt of a model whose way is not known. */
const formatFrameTokens = 8

function formatIn(responseFormat: JsonObject): unknown {
  return responseFormat['json_schema'] ?? responseFormat
}

function listOf(tools: unknown): readonly unknown[] {
  if (tools === null || tools === undefined) return []
  return Array.isArray(tools) ? tools : [tools]
}

function* typeScriptTokens(tools: readonly unknown[], counter: TokenCounter): Steps<number> {
  let types = ''
  // For what is no function, or refers to definitions elsewhere: nobody knows how it is shown.
  const others: unknown[] = []
  for (const tool of tools) {
    yield
    const described = functionIn(tool)
    if (described === null) {
      others.push(tool)
      continue
    }
    const parameters = described['parameters'] ?? described['input_schema']
    const description = textOr(described['description'], '')
    types += functionAsType({ name: described.name, description, parameters })
    if (isJsonObject(parameters)) others.push(parameters['$defs'], parameters['definitions'])
  }
  const text = types === '' ? '' : `namespace functions {\n\n${types}} // namespace functions`
  return (yield* counter.countSteps(text)) + withMargin(yield* linesTokens(others, counter), guessShare)
}

/** A line of JSON for each value that is there. */
function* linesTokens(values: readonly unknown[], counter: TokenCounter): Steps<number> {
  const lines: string[] = []
  for (const value of values) {
    if (value !== undefined) lines.push(typeof value === 'string' ? value : pythonJson(value))
    yield
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

/** A schema without the keywords that the model is not shown; properties of these names stay. */
function shownSchema(value: unknown, areNames: boolean, depth: number): unknown {
  if (depth === depthMax) return value
  if (Array.isArray(value)) return value.map((each: unknown) => shownSchema(each, false, depth + 1))
  if (!isJsonObject(value)) return value
  const shown = Object.entries(value).filter(([key]) => areNames || !hiddenKeywords.has(key))
  return Object.fromEntries(
    shown.map(([key, inner]) => [key, shownSchema(inner, !areNames && nameKeywords.has(key), depth + 1)]),
  )
}

function withMargin(tokens: number, share: number): number {
  return tokens + Math.ceil(tokens * share)
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise
}

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
