import { isJsonObject, type JsonObject } from '../json/json-value.ts'

/** A function that the model may call, as the request describes it. */
export type FunctionTool = {
  readonly name: string
  readonly description: string
  /** A JSON Schema of an object; undefined where there is none. */
  readonly parameters: unknown
}

/**
 * A function as OpenAI's models see it: a TypeScript type. What its schema says of a property beside its type, its
 * description, its default and whether it has to be there is not shown to the model. Never throws.
 */
export function functionAsType({ name, description, parameters }: FunctionTool): string {
  const fields = fieldsOf(parameters, '', 0)
  const type =
    fields === '' ? `type ${name} = () => any;\n\n` : `type ${name} = (_: {\n${fields}}) => any;\n\n`
  return comment(description, '') + type
}

/** A parsed value as Python writes JSON: with a space behind commas and colons. Never throws. */
export function pythonJson(value: unknown): string {
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
export function plainJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? ''
  } catch {
    return ''
  }
}

// --- internal ---

/** Levels written as types; what is deeper is written as JSON. It bounds the indentation, too. */
const depthMax = 16

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
  if (depth === depthMax || typeof schema['$ref'] === 'string') return pythonJson(schema)
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
