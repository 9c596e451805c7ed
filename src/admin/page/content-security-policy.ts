/**
 * What the pages may load and do: what this listener serves, and nothing inline. A text of a conversation that got into
 * a page as markup all the same would run nothing and send nothing.
 */
export const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')
