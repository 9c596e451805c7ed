import { collectErrorFacts } from '../../overflow/error-text.ts'

/** What a refusal says of a request that asked for usage: the field by name, a field it does not know, or neither. */
export type UsageRefusal = 'named' | 'unknown-field' | 'opaque'

/** Reads the body of a refusal. */
export function usageRefusalIn(body: string): UsageRefusal {
  const { text, params } = collectErrorFacts(body)
  if (namesUsage.test(text) || [...params].some((param) => namesUsage.test(param))) return 'named'
  return unknownField.test(text) ? 'unknown-field' : 'opaque'
}

/**
 * Whether a host is known to refuse being asked: what was learnt of it the hard way by others need not be
 * learnt again.
 */
export function refusesUsage(hostname: string): boolean {
  return refusingHosts.some((host) => hostname === host || hostname.endsWith(`.${host}`))
}

// --- internal ---

/** All of them state the usage of a stream unasked. */
const refusingHosts = [
  // 422 `extra_forbidden` for `stream_options`, reported by many clients since 2024.
  'mistral.ai',
]

const namesUsage = /stream[_ ]?options|include[_ ]?usage/i

/** Servers that do not know a field, and do not always say which: those of pydantic keep that in a field of its own. */
const unknownField = new RegExp(
  [
    String.raw`\b(?:un(?:known|recogni[sz]ed|expected|supported)|extra(?:neous)?|additional)(?: \w+){0,2} (?:field|param(?:eter)?|argument|propert(?:y|ies)|input|key|name|option|attribute)`,
    String.raw`\b(?:field|param(?:eter)?|argument|property|option|attribute)s?\b.{0,60} (?:(?:is|are|was) )?(?:not (?:supported|permitted|allowed|recogni[sz]ed)|un(?:supported|known|recogni[sz]ed|expected)|should not exist)`,
  ].join('|'),
  'i',
)
