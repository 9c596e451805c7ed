/** The parsed text; null if it is no JSON (or is `null`): both say nothing. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return null
  }
}
