/** What is to be known of the name of a header wherever it is passed on. */
export type HeaderName = {
  readonly lower: string
  /** Whether anybody could send it on: a token (RFC 9110 section 5.1). */
  readonly isToken: boolean
  /** Whether it belongs to the connection, to a proxy on the way or to Foldgate, and stays here whatever it says. */
  readonly stays: boolean
}

/** The same few names come with each request: of each is found out once what it is. */
export function headerNameOf(name: string): HeaderName {
  const known = names.get(name)
  if (known !== undefined) return known
  const lower = name.toLowerCase()
  const stays = hopByHop.has(lower) || lower.startsWith('proxy-') || lower.startsWith(ownPrefix)
  const made = { lower, isToken: token.test(name), stays }
  if (name.length > NAME_CHARS_MAX) return made
  if (names.size >= NAMES_MAX) names.clear()
  names.set(name, made)
  return made
}

// --- internal ---

const names = new Map<string, HeaderName>()

/** Then they are gathered anew: clients and servers name headers as they like. */
const NAMES_MAX = 1_000
const NAME_CHARS_MAX = 64

const ownPrefix = 'x-foldgate-'

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

const hopByHop: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
])
