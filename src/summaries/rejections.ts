import { lruCache } from '../lru-cache.ts'
import type { ModelKey } from '../models/model-record.ts'
import { collectErrorFacts } from '../overflow/error-text.ts'
import type { HeldKeyMark } from '../upstream/credential.ts'

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
  const { text, params } = collectErrorFacts(body)
  const located = locations(body)
  return (
    fields.find((name) => params.has(name.toLowerCase())) ??
    fields.find((name) => located.has(name)) ??
    firstNamed(text, fields) ??
    (hasSystemRole && namesSystemRole.test(text) ? SYSTEM_ROLE : null)
  )
}

/** Which upstreams take no more of a credential for now. */
export function createRateLimits(heldKeyMark: HeldKeyMark) {
  const limited = lruCache<true>(PAYERS_MAX)
  // Limits are a key's: another one has its own.
  const nameOf = ({ upstream, credential }: Payer): string =>
    JSON.stringify([upstream, credential, heldKeyMark(upstream)])
  return {
    /** `retryAfterMs` is null if the upstream did not say. */
    note: (key: Payer, retryAfterMs: number | null) => {
      const ttl = Math.min(Math.max(1, retryAfterMs ?? USUAL_MS), LONGEST_MS)
      limited.set(nameOf(key), true, { ttl })
    },
    isLimited: (key: Payer) => limited.has(nameOf(key)),
  }
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

/** Servers of pydantic name a field in the path to it: `"loc":["body","reasoning_effort"]`. */
function locations(body: string): ReadonlySet<string> {
  const paths = body.slice(0, LOOKED_AT_CHARS).matchAll(/"loc"\s{0,4}:\s{0,4}\[([^\]]{0,400})\]/g)
  return new Set(
    [...paths].flatMap(([, path = '']) =>
      [...path.matchAll(/"([^"]{1,100})"/g)].map(([, name = '']) => name),
    ),
  )
}

const LOOKED_AT_CHARS = 65_536

/** An upstream, and the credential that it limits. */
type Payer = Pick<ModelKey, 'upstream' | 'credential'>

const PAYERS_MAX = 4096

/** Most limits are by the minute. */
const USUAL_MS = 30_000

/** Even if an upstream asks for longer: a quota by the day is refused again, and that costs nothing. */
const LONGEST_MS = 600_000
