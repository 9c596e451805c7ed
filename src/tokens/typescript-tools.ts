import { isJsonObject, type JsonObject } from '../conversation/json-value.ts'
import type { Steps } from '../conversation/source.ts'
import { jsonText, pythonJson } from './json-text.ts'

/** A function that the model may call, as the request describes it. */
export type FunctionTool = {
  readonly name: string
  readonly description: string
  /** A JSON Schema of an object; undefined where there is none. */
  readonly parameters: unknown
}

/**
 * Functions as OpenAI's models see them: a namespace of TypeScript types. What the types say of a property beside its type,
 * its description, its default and whether it has to be there is not shown to the model. Pauses as it goes. Never throws.
 */
export function* functionsAsTypeScript(functions: readonly FunctionTool[]): Steps<string> {
  let text = 'namespace functions {\n\n'
  for (const { name, description, parameters } of functions) {
    const fields = yield* fieldsOf(parameters, '', 0)
    text += comment(description, '')
    text += fields === '' ? `type ${name} = () => any;\n\n` : `type ${name} = (_: {\n${fields}}) => any;\n\n`
    yield
  }
  return `${text}} // namespace functions`
}

// --- internal ---

/** Levels written as types; what is deeper is written as JSON. It bounds the indentation, too. */
const depthMax = 16

/** The lines of an object's properties, each ended by a line break. */
function* fieldsOf(schema: unknown, indent: string, depth: number): Steps<string> {
  if (!isJsonObject(schema) || !isJsonObject(schema['properties'])) return ''
  const required: ReadonlySet<unknown> = new Set(Array.isArray(schema['required']) ? schema['required'] : [])
  let text = ''
  for (const [name, field] of Object.entries(schema['properties'])) {
    yield
    const type = yield* typeOf(field, indent, depth)
    const described = isJsonObject(field) ? field : {}
    text += comment(described['description'], indent)
    text += `${indent}${name}${required.has(name) ? '' : '?'}: ${type},${yield* defaultOf(described)}\n`
  }
  return text
}

function* typeOf(schema: unknown, indent: string, depth: number): Steps<string> {
  if (!isJsonObject(schema)) return 'any'
  if (depth === depthMax || typeof schema['$ref'] === 'string') return yield* jsonText(schema, pythonJson)
  if (schema['const'] !== undefined) return yield* jsonText(schema['const'], pythonJson)
  if (Array.isArray(schema['enum'])) return yield* literals(schema['enum'])
  const choices = schema['anyOf'] ?? schema['oneOf']
  if (Array.isArray(choices)) return yield* unionOf(choices, indent, depth)
  const { type } = schema
  if (Array.isArray(type)) {
    return yield* unionOf(
      type.map((one: unknown) => ({ ...schema, type: one })),
      indent,
      depth,
    )
  }
  if (type === 'array') return yield* arrayOf(schema['items'], indent, depth)
  if (type === 'object' || isJsonObject(schema['properties'])) {
    const fields = yield* fieldsOf(schema, `${indent}  `, depth + 1)
    return fields === '' ? 'object' : `{\n${fields}${indent}}`
  }
  if (Array.isArray(schema['allOf'])) return yield* jsonText(schema, pythonJson)
  if (type === 'integer') return 'number'
  return typeof type === 'string' ? type : 'any'
}

function* literals(values: readonly unknown[]): Steps<string> {
  const texts: string[] = []
  for (const value of values) texts.push(yield* jsonText(value, pythonJson))
  return texts.join(' | ')
}

function* unionOf(choices: readonly unknown[], indent: string, depth: number): Steps<string> {
  const types: string[] = []
  for (const choice of choices) types.push(yield* typeOf(choice, indent, depth + 1))
  return types.join(' | ')
}

function* arrayOf(items: unknown, indent: string, depth: number): Steps<string> {
  if (items === undefined) return 'any[]'
  const type = yield* typeOf(items, indent, depth + 1)
  return type.includes(' | ') && !type.startsWith('{') ? `(${type})[]` : `${type}[]`
}

function* defaultOf(schema: JsonObject): Steps<string> {
  return schema['default'] === undefined
    ? ''
    : ` // default: ${yield* jsonText(schema['default'], pythonJson)}`
}

function comment(description: unknown, indent: string): string {
  if (typeof description !== 'string' || description === '') return ''
  const lines = description.trimEnd().split('\n')
  return lines.map((line) => `${indent}//${line === '' ? '' : ' '}${line}\n`).join('')
}
