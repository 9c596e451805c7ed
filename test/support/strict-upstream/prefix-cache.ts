import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { lruCache } from '../../../src/caches.ts'

/** One piece of a prompt: the tools, or a message. */
export type PromptPart = {
  /** Equal for pieces of equal raw text. */
  readonly hash: string
  readonly tokens: number
  /** What two unequal pieces may still have in common: the same frame and the beginning of the text. */
  readonly text: { readonly frame: string; readonly frameTokens: number; readonly content: string } | null
}

export type PrefixCacheOptions = {
  /** No hit below this many tokens. Default 1,024, as OpenAI's. */
  readonly minimumTokens?: number
  /** Hits grow from the minimum in steps of this many tokens. Default 128. */
  readonly stepTokens?: number
  /** Counts the text that two pieces have in common. */
  readonly count: (text: string) => number
}

export type PrefixCache = {
  /**
   * How many tokens of the prompt an exact-prefix cache would have served from earlier prompts of the same
   * owner; this prompt is remembered for the next ones.
   */
  serve(owner: string, parts: readonly PromptPart[]): number
}

// A prefix is some 200 bytes here. 50,000 of them hold the prompts of a few hundred long conversations.
const PREFIXES_MAX = 50_000
// Of what followed a prefix, the newest few are compared with a piece that differs: one is the common case.
const FOLLOWERS_MAX = 4
// Texts are only kept for such comparisons.
const TEXT_CHARACTERS_MAX = 16_000_000

/**
 * The model of a prompt cache. Prompts are kept as chains of hashes, one link a piece, so that looking up costs
 * one step a piece however many prompts came before.
 */
export function openPrefixCache(options: PrefixCacheOptions): PrefixCache {
  const { minimumTokens = 1024, stepTokens = 128, count } = options
  const followers = lruCache<readonly string[]>(PREFIXES_MAX)
  const texts = new LRUCache<string, NonNullable<PromptPart['text']>>({
    maxSize: TEXT_CHARACTERS_MAX,
    sizeCalculation: (text) => text.content.length + text.frame.length + 1,
  })

  function commonTokens(links: readonly string[], parts: readonly PromptPart[]): number {
    let tokens = 0
    for (const [index, part] of parts.entries()) {
      const known = followers.get(links[index] ?? '')
      if (known === undefined) return tokens
      if (!followers.has(links[index + 1] ?? '')) {
        return (
          tokens + Math.max(0, ...known.map((follower) => commonTextTokens(part, texts.get(follower), count)))
        )
      }
      tokens += part.tokens
    }
    return tokens
  }

  return {
    serve(owner, parts) {
      const links = linksOf(owner, parts)
      const common = commonTokens(links, parts)
      // From the end to the start: the shortest prefixes are the ones used last, and so forgotten last.
      for (let index = parts.length; index >= 0; index -= 1) {
        const link = links[index] ?? ''
        const known = followers.get(link) ?? []
        const part = parts[index]
        followers.set(link, part === undefined ? known : withNewest(known, part.hash))
        if (part?.text) texts.set(part.hash, part.text)
      }
      if (common < minimumTokens) return 0
      return minimumTokens + Math.floor((common - minimumTokens) / stepTokens) * stepTokens
    },
  }
}

/** The hash of every prefix of the prompt, from the empty one on. */
function linksOf(owner: string, parts: readonly PromptPart[]): readonly string[] {
  let link = hash('sha1', owner)
  return [link, ...parts.map((part) => (link = hash('sha1', `${link} ${part.hash}`)))]
}

function withNewest(known: readonly string[], newest: string): readonly string[] {
  if (known[0] === newest) return known
  return [newest, ...known.filter((follower) => follower !== newest)].slice(0, FOLLOWERS_MAX)
}

function commonTextTokens(
  part: PromptPart,
  earlier: PromptPart['text'] | undefined,
  count: (text: string) => number,
): number {
  if (!part.text || !earlier || part.text.frame !== earlier.frame) return 0
  const text = part.text.content
  let end = 0
  while (end < text.length && text.charCodeAt(end) === earlier.content.charCodeAt(end)) end += 1
  return part.text.frameTokens + count(text.slice(0, end))
}
