import type { Steps } from '../conversation/source.ts'

/** How a template spells JSON: Python's way has a space behind commas and colons, a browser's has none. */
export type JsonSpelling = {
  readonly comma: string
  readonly colon: string
  /** Keywords of JSON Schema that the model is not shown; properties of these names stay. */
  readonly without?: ReadonlySet<string>
}

export const pythonJson: JsonSpelling = { comma: ', ', colon: ': ' }

/** A parsed JSON value as text in the given spelling. Pauses as it goes. Never throws. */
export function jsonText(value: unknown, spelling: JsonSpelling): Steps<string> {
  return write(value, spelling, 0, false)
}

// --- internal ---

/** Levels written one by one. Real schemas have a dozen; what is deeper is written by the engine, in its own spelling. */
const depthMax = 64

/** Numbers, words and the like written between two pauses. */
const ELEMENTS_PER_STEP = 1_024

/** Keywords whose own keys are names that the client chose. */
const nameKeys: ReadonlySet<string> = new Set(['properties', 'patternProperties', '$defs', 'definitions'])

function* write(value: unknown, spelling: JsonSpelling, depth: number, areNames: boolean): Steps<string> {
  if (typeof value !== 'object' || value === null || depth === depthMax) return plainJson(value)
  yield
  const pieces: string[] = []
  if (Array.isArray(value)) {
    for (const element of value as readonly unknown[]) {
      pieces.push(yield* write(element, spelling, depth + 1, false))
      if (pieces.length % ELEMENTS_PER_STEP === 0) yield
    }
    return `[${pieces.join(spelling.comma)}]`
  }
  for (const [key, inner] of Object.entries(value)) {
    if (!areNames && spelling.without?.has(key) === true) continue
    const text = yield* write(inner, spelling, depth + 1, !areNames && nameKeys.has(key))
    pieces.push(`${JSON.stringify(key)}${spelling.colon}${text}`)
    if (pieces.length % ELEMENTS_PER_STEP === 0) yield
  }
  return `{${pieces.join(spelling.comma)}}`
}

function plainJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? ''
  } catch {
    // Nested deeper than the engine can write, some thousand levels: no provider takes it, so its weight decides nothing.
    return ''
  }
}
