import type { Steps } from '../../../conversation/source.ts'

/**
 * Which of a user's messages a program wrote: agents without a tool role send what their tools printed as the user's
 * words. They begin with a known mark, or a run of them begins or ends in the same way. `texts` in their order.
 */
export function* machineWritten(texts: readonly string[]): Steps<boolean[]> {
  const edges: (readonly string[])[] = []
  const times = new Map<string, number>()
  for (const text of texts) {
    const own = [openingOf(text), closingOf(text)].filter((edge) => edge !== '')
    for (const edge of own) times.set(edge, (times.get(edge) ?? 0) + 1)
    edges.push(own)
    yield
  }
  return texts.map((text, place) => {
    const isCommon = edges[place]?.some((edge) => (times.get(edge) ?? 0) >= TIMES_MIN) ?? false
    return isCommon || knownMark.test(text.slice(0, EDGE_CHARS))
  })
}

// --- internal ---

/** Nobody begins so many messages with the same label by hand. */
const TIMES_MIN = 3

const EDGE_CHARS = 48

/** What agents are known to put before what a tool printed. */
const knownMark =
  /^\s*[<[(*#`]{0,3}\s?(?:observations?|(?:tool|execution|command|function|code|terminal|bash|shell)[ _-]?(?:results?|outputs?|responses?|stdout|stderr|calls?)|returncode|stdout|stderr|exit[ _]code|system-reminder|environment_details|environment_context)\b/i

/** A label that a text begins with: a tag, a word in brackets, words before a colon; '' where there is none. */
function openingOf(text: string): string {
  const line = text.slice(0, EDGE_CHARS).trimStart().split('\n', 1)[0] ?? ''
  return /^(?:<[\w-]+|\[[^\]]{2,30}\]|[^:：.!?,]{2,24}[:：])/u.exec(line)?.[0] ?? ''
}

/** The last line of a text where it is a prompt or a closing tag and no sentence; else ''. */
function closingOf(text: string): string {
  const line = text.slice(-EDGE_CHARS).trimEnd().split('\n').at(-1) ?? ''
  return /^(?:<\/[\w-]{1,30}>|\S{0,40}[$#>%])$/.test(line) ? `end ${line}` : ''
}
