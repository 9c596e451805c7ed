/** Whether a host is Anthropic's own. */
export function isAnthropic(hostname: string): boolean {
  return /(?:^|\.)anthropic\.com\.?$/i.test(hostname)
}

/** Whether a key is a token of OAuth, which a subscription has instead of a key of the API. */
export function isSubscriptionToken(key: string): boolean {
  return key.startsWith('sk-ant-oat')
}
