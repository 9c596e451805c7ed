import { isJsonObject, type JsonObject } from '../../json/json-value.ts'

/** Where the server's own work says what came of it: in its content, which is a text, a part or parts with texts. */
export const foundTextKeys: ReadonlySet<string> = new Set(['text', 'stdout', 'stderr'])

/** What the server's own work came out as: what was printed, answered and read. */
export function foundTexts({ content }: JsonObject): readonly string[] {
  if (typeof content === 'string') return [content]
  const parts: readonly unknown[] = Array.isArray(content) ? content : [content]
  return parts
    .filter(isJsonObject)
    .flatMap((part) => [...foundTextKeys].map((key) => part[key]))
    .filter((text) => typeof text === 'string')
}

/** The same block without these texts. */
export function withoutFound(block: JsonObject): JsonObject {
  const { content } = block
  if (typeof content === 'string') return { ...block, content: '' }
  return { ...block, content: Array.isArray(content) ? content.map(bare) : bare(content) }
}

/** Characters of what a search has found, and of what code has printed, that only the server can read. */
export function encryptedCharacters({ content }: JsonObject): number {
  const parts: readonly unknown[] = Array.isArray(content) ? content : [content]
  let characters = 0
  for (const part of parts) {
    const encrypted = isJsonObject(part) ? part['encrypted_content'] : null
    if (typeof encrypted === 'string') characters += encrypted.length
  }
  return characters
}

// --- internal ---

function bare(part: unknown): unknown {
  if (!isJsonObject(part)) return part
  return Object.fromEntries(Object.entries(part).filter(([key]) => !foundTextKeys.has(key)))
}
