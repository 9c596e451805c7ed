/** Whether a host is Anthropic's own. */
export function isAnthropic(hostname: string): boolean {
  return /(?:^|\.)anthropic\.com\.?$/i.test(hostname)
}

/** Whether a key is a token of OAuth, which a subscription has instead of a key of the API. */
export function isSubscriptionToken(key: string): boolean {
  return key.startsWith('sk-ant-oat')
}

/** Whether a request asks for a beta of Anthropic's. The flag may stand in any of several headers of the name. */
export function asksForBeta(rawHeaders: readonly string[], flag: RegExp): boolean {
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.toLowerCase() === 'anthropic-beta' && flag.test(rawHeaders[at + 1] ?? '')) return true
  return false
}
