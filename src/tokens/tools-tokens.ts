import { isJsonObject, stringOr, type JsonObject } from '../json/json-value.ts'
import type { Pausable } from '../json/source.ts'
import type { TokenCounter } from './bpe-counter.ts'
import { familyFinder } from './tokenizer-families.ts'
import rows from './model-families.json' with { type: 'json' }

/** The tokens of a request's `tools`, or of the legacy `functions`, as the model is shown them. 0 where there are none. */
export function* toolsTokens(tools: unknown, counter: TokenCounter, model: string): Pausable<number> {
  const list = listOf(tools)
  if (list.length === 0) return 0
  const { typescript, functionLines, toolLines = 0, marginShare } = familyOf(model) ?? unknown
  if (typescript !== undefined) return typescript + (yield* typeScriptTokens(list, counter))
  const shown = functionLines === undefined ? list : list.map((tool) => functionIn(tool) ?? tool)
  return (functionLines ?? toolLines) + withMargin(yield* linesTokens(shown, counter), marginShare)
}

/**
 * What tools cost where they are put into the prompt as JSON, with room for a frame of any kind: as much as any gateway was seen
 * to take of a model whose own way is terser. For plans, until the provider has counted.
 */
export function* plainToolsTokens(tools: unknown, counter: TokenCounter): Pausable<number> {
  const list = listOf(tools)
  if (list.length === 0) return 0
  const shown = list.map((tool) => functionIn(tool) ?? tool)
  const frames = plainFrameTokens + plainToolTokens * list.length
  return withMargin(frames + (yield* linesTokens(shown, counter)))
}

/**
 * The tokens of a `response_format` that carries a schema, which is put into the prompt; 0 for any other. The Responses API's
 * form of it is flat.
 */
export function* schemaTokens(
  responseFormat: unknown,
  counter: TokenCounter,
  model: string,
): Pausable<number> {
  const format = formatIn(responseFormat)
  if (familyOf(model)?.typescript === undefined || !isJsonObject(format))
    return yield* plainSchemaTokens(responseFormat, counter)
  const head = `# Response Formats\n\n## ${stringOr(format['name'], '')}\n\n`
  const described = comment(format['description'], '')
  return 1 + (yield* counter.countSteps(head + described + plainJson(format['schema'], shownValue)))
}

/** The same where the schema is put into the prompt as JSON. */
export function* plainSchemaTokens(responseFormat: unknown, counter: TokenCounter): Pausable<number> {
  const format = formatIn(responseFormat)
  if (format === undefined) return 0
  return withMargin(formatFrameTokens + (yield* linesTokens([format], counter)))
}

// --- internal ---

/**
 * Two figures for gpt-4o are met to the token if the model is not told which properties are required and that no others may
 * be.
 */
function shownValue(key: string, value: unknown): unknown {
  const isHidden =
    (key === 'additionalProperties' && typeof value === 'boolean') ||
    (key === 'required' && Array.isArray(value))
  return isHidden ? undefined : value
}

// vscode-copilot-chat's figures, which hold for tools of very different sizes.
const plainFrameTokens = 16
const plainToolTokens = 8

/** Around a schema in the prompt of a model whose way is not known. */
const formatFrameTokens = 8

/** The schema with its name; undefined where the format is no schema. */
function formatIn(responseFormat: unknown): unknown {
  if (!isJsonObject(responseFormat) || responseFormat['type'] !== 'json_schema') return undefined
  return responseFormat['json_schema'] ?? responseFormat
}

function listOf(tools: unknown): readonly unknown[] {
  if (tools === null || tools === undefined) return []
  return Array.isArray(tools) ? tools : [tools]
}

function* typeScriptTokens(tools: readonly unknown[], counter: TokenCounter): Pausable<number> {
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
    types += functionAsType(described, parameters)
    if (isJsonObject(parameters)) others.push(parameters['$defs'], parameters['definitions'])
  }
  const text = types === '' ? '' : `namespace functions {\n\n${types}} // namespace functions`
  return (yield* counter.countSteps(text)) + withMargin(yield* linesTokens(others, counter))
}

/** A line of JSON for each value that is there. */
function* linesTokens(values: readonly unknown[], counter: TokenCounter): Pausable<number> {
  const lines: string[] = []
  for (const value of values) {
    if (value !== undefined) lines.push(typeof value === 'string' ? value : pythonJson(value))
    yield
  }
  return yield* counter.countSteps(lines.join('\n'))
}

/** The described function: of a tool, of the Responses API's flat shape, or the legacy one itself. Null for any other kind of tool. */
function functionIn(tool: unknown): JsonObject | null {
  if (!isJsonObject(tool)) return null
  const described = isJsonObject(tool['function']) ? tool['function'] : tool
  const isFunction = tool['type'] === undefined || tool['type'] === 'function'
  return isFunction && typeof described['name'] === 'string' ? described : null
}

/** Where the rendering is a guess. */
function withMargin(tokens: number, share = guessShare): number {
  return tokens + Math.ceil(tokens * share)
}

/**
 * How a family of models is shown its tools, with the tokens of what stands around the list (instructions, a system message of
 * its own): those of the open families are their published templates', in o200k_base.
 */
type Row = {
  readonly pattern: string
  /** A namespace of types. To the token where there is no message from the system; where there is one, 4 less. */
  readonly typescript?: number
  /** A line of JSON for each function. */
  readonly functionLines?: number
  /** A line of JSON for each tool as it was sent. */
  readonly toolLines?: number
  /** On top of what was rendered, where not `guessShare`. */
  readonly marginShare?: number
}

const familyOf = familyFinder<Row>(rows.tools)

/** The longest of the open templates. */
const unknown: Row = { pattern: '', toolLines: 192 }

/** Covered vscode-copilot-chat's tools of very different sizes. */
const guessShare = 0.1

/**
 * A function as OpenAI's models see it: a TypeScript type. What its schema says of a property beside its type, its
 * description, its default and whether it has to be there is not shown to the model. Never throws.
 */
function functionAsType({ name, description }: JsonObject, parameters: unknown): string {
  const fields = fieldsOf(parameters, '', 0)
  const given = fields === '' ? '' : `_: {\n${fields}}`
  return `${comment(description, '')}type ${stringOr(name, '')} = (${given}) => any;\n\n`
}

/** A parsed value as Python writes JSON: with a space behind commas and colons. Never throws. */
function pythonJson(value: unknown): string {
  const json = plainJson(value)
  const pieces: string[] = []
  let start = 0
  let isString = false
  // A regular expression takes ten times as long for a text that is full of escapes.
  for (let at = 0; at < json.length; at += 1) {
    const character = json[at]
    if (character === '"') isString = !isString
    else if (character === '\\') at += 1
    else if (!isString && (character === ',' || character === ':')) {
      pieces.push(json.slice(start, at + 1))
      start = at + 1
    }
  }
  pieces.push(json.slice(start))
  return pieces.join(' ')
}

/** A parsed value as JSON without blanks; empty where it is nested some thousand levels deep, which no provider takes. */
function plainJson(value: unknown, shown?: typeof shownValue): string {
  try {
    return JSON.stringify(value, shown) ?? ''
  } catch {
    return ''
  }
}

/** Levels written as types; what is deeper is written as JSON. It bounds the indentation, too. */
const DEPTH_MAX = 16

/** The lines of an object's properties, each ended by a line break. */
function fieldsOf(schema: unknown, indent: string, depth: number): string {
  if (!isJsonObject(schema) || !isJsonObject(schema['properties'])) return ''
  const required: ReadonlySet<unknown> = new Set(Array.isArray(schema['required']) ? schema['required'] : [])
  let text = ''
  for (const [name, field] of Object.entries(schema['properties'])) {
    const described = isJsonObject(field) ? field : {}
    const start = described['default'] === undefined ? '' : ` // default: ${pythonJson(described['default'])}`
    text += comment(described['description'], indent)
    text += `${indent}${name}${required.has(name) ? '' : '?'}: ${typeOf(field, indent, depth)},${start}\n`
  }
  return text
}

function typeOf(schema: unknown, indent: string, depth: number): string {
  if (!isJsonObject(schema)) return 'any'
  if (depth === DEPTH_MAX || typeof schema['$ref'] === 'string') return pythonJson(schema)
  if (schema['const'] !== undefined) return pythonJson(schema['const'])
  if (Array.isArray(schema['enum'])) return schema['enum'].map(pythonJson).join(' | ')
  const alternatives = alternativesOf(schema)
  if (alternatives !== null)
    return alternatives.map((choice) => typeOf(choice, indent, depth + 1)).join(' | ')
  const { type } = schema
  if (type === 'array') {
    const items = schema['items'] === undefined ? 'any' : typeOf(schema['items'], indent, depth + 1)
    return items.includes(' | ') && !items.startsWith('{') ? `(${items})[]` : `${items}[]`
  }
  if (type === 'object' || isJsonObject(schema['properties'])) {
    const fields = fieldsOf(schema, `${indent}  `, depth + 1)
    return fields === '' ? 'object' : `{\n${fields}${indent}}`
  }
  if (Array.isArray(schema['allOf'])) return pythonJson(schema)
  if (type === 'integer') return 'number'
  return typeof type === 'string' ? type : 'any'
}

/** The schemas of which a value may follow any; null where there is only this one. */
function alternativesOf(schema: JsonObject): readonly unknown[] | null {
  const alternatives = schema['anyOf'] ?? schema['oneOf']
  if (Array.isArray(alternatives)) return alternatives
  const { type } = schema
  return Array.isArray(type) ? type.map((one: unknown) => ({ ...schema, type: one })) : null
}

function comment(description: unknown, indent: string): string {
  if (typeof description !== 'string' || description === '') return ''
  const lines = description.trimEnd().split('\n')
  return lines.map((line) => `${indent}//${line === '' ? '' : ' '}${line}\n`).join('')
}
