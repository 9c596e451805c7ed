import { asksForBeta, isSubscriptionToken } from './anthropic.ts'
import { headerValue } from './credential.ts'

/**
 * Whether a request to Anthropic is paid by a subscription: it carries a token of OAuth and no key of the API
 * (Claude Code, signed in with a Pro or Max plan).
 */
export function isOfSubscription(rawHeaders: readonly string[]): boolean {
  if ((headerValue(rawHeaders, 'x-api-key') ?? '') !== '') return false
  const token = /^Bearer\s+(.+)$/i.exec(headerValue(rawHeaders, 'authorization') ?? '')?.[1]
  if (token === undefined) return false
  return isSubscriptionToken(token) || asksForOAuth(rawHeaders)
}

/** The flag of the beta that lets such a token in. */
export const subscriptionBeta = 'oauth-2025-04-20'

// --- internal ---

function asksForOAuth(rawHeaders: readonly string[]): boolean {
  return asksForBeta(rawHeaders, /(?:^|,)\s*oauth-\d{4}-/)
}
