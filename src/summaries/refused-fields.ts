import { lruCache } from '../caches.ts'
import { collectErrorFacts } from '../overflow/error-text.ts'

/**
 * What models do not take: fields, by their names, and the ways of asking below. Kept by a key that says upstream and
 * model; no content, no credential.
 */
export type Rejections = ReturnType<typeof createRejections>

/** The instructions go into the user's message. */
export const SYSTEM_ROLE = '(system role)'

/** The room for thoughts is more output than the model may give. */
export const REASONING_TOKENS = '(reasoning tokens)'

/** The model is not asked at the end of the conversation itself. */
export const CACHED_PROMPT = '(cached prompt)'

export function createRejections() {
  const known = lruCache<ReadonlySet<string>>(MODELS_MAX)
  const of = (key: string): ReadonlySet<string> => known.get(key) ?? new Set()
  return {
    of,
    add: (key: string, rejected: string) => known.set(key, new Set([...of(key), rejected])),
  }
}

/** Which of the optional `fields` that were sent a refusal rejects, or whether the system role; null if it names nothing. */
export function rejectionIn(body: string, fields: readonly string[], hasSystemRole: boolean): string | null {
  const { text, params, fields: located } = collectErrorFacts(body)
  return (
    fields.find((name) => params.has(name.toLowerCase())) ??
    fields.find((name) => located.has(name)) ??
    firstNamed(text, fields) ??
    (hasSystemRole && namesSystemRole.test(text) ? SYSTEM_ROLE : null)
  )
}

// --- internal ---

const MODELS_MAX = 512

const namesSystemRole =
  /\bsystem['"`]? (?:role|messages?|prompts?|instructions?)\b|\broles?\b.{0,40}\bsystem\b|developer instruction|only .{0,30}user and (?:assistant|model) roles|roles must alternate/i

/** The field that stands first in the text: the one to be used instead stands behind it. */
function firstNamed(text: string, names: readonly string[]): string | undefined {
  return names
    .map((name) => ({
      name,
      at: text.search(new RegExp(String.raw`(?<![\w-])${escaped(name)}(?![\w-])`, 'i')),
    }))
    .filter(({ at }) => at !== -1)
    .sort((one, other) => one.at - other.at)[0]?.name
}

function escaped(name: string): string {
  return name.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
}
