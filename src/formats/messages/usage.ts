import { countIn } from '../answer-json.ts'
import { isJsonObject, type JsonObject } from '../../json/json-value.ts'
import type { Usage } from '../answer-contract.ts'

/**
 * The token counts of an answer. A model that uses the server's own tools is sampled several times for one answer, and all of
 * its prompts are added up in the counts: the one that was sent is the first, as a stream states at its beginning.
 */
export function messageUsage(
  usage: unknown,
  isSampledOften: boolean,
  begun: Usage | null = null,
): Usage | null {
  if (!isJsonObject(usage)) return null
  const total = totalUsage(usage)
  const iterations: readonly unknown[] = Array.isArray(usage['iterations']) ? usage['iterations'] : []
  const sampled = iterations.find((each) => isJsonObject(each) && each['type'] === 'message')
  const first = isJsonObject(sampled) ? totalUsage(sampled) : isSampledOften ? begun : null
  if (total === null) return null
  if (first === null) return isSampledOften ? { ...total, isSum: true } : total
  return { ...first, completionTokens: total.completionTokens ?? first.completionTokens }
}

/** The same with all that was sampled added up. What was cached stands beside the other input; some servers leave it out. */
export function totalUsage(usage: JsonObject | null): Usage | null {
  if (usage === null) return null
  const input = inputFields.map((field) => countIn(usage[field]))
  if (input.every((tokens) => tokens === null)) return null
  return {
    promptTokens: input.reduce<number>((sum, tokens) => sum + (tokens ?? 0), 0),
    completionTokens: countIn(usage['output_tokens']),
    cachedTokens: countIn(usage['cache_read_input_tokens']),
    cacheWrittenTokens: countIn(usage['cache_creation_input_tokens']),
  }
}

/**
 * The usage of a stream, as its events state it one by one. The later ones state more: what they repeat is corrected. vLLM counts all input as new at the
 * beginning, and tells in the end what of it was cached. An input of nothing at all corrects none: some servers count it at the
 * beginning alone, and say zero in the end.
 */
export function createStreamedUsage() {
  const usage: Record<string, unknown> = {}
  let fields = 0
  let isStated = false
  return {
    add: (stated: unknown) => {
      if (!isJsonObject(stated)) return
      isStated = true
      const hasInput = (totalUsage(stated)?.promptTokens ?? 0) > 0
      for (const [key, value] of Object.entries(stated)) {
        const isKnown = Object.hasOwn(usage, key)
        const isNothing = value === null || (value === 0 && !hasInput && inputFields.includes(key))
        if (isKnown ? isNothing : fields === FIELDS_MAX) continue
        if (!isKnown) fields += 1
        usage[key] = value
      }
    },
    /** Null as long as none is stated. It grows. */
    value: () => (isStated ? usage : null),
  }
}

// --- internal ---

/** A usage has a dozen fields. Others are copied by whatever adds usages up. */
const FIELDS_MAX = 64

const inputFields = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens']
