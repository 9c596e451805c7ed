import { countBelow } from '../../conversation/structure.ts'
import { keptIn } from '../../conversation/keep-tags.ts'
import type { Pausable } from '../../json/source.ts'
import { remembering } from '../../caches.ts'
import { readMessage } from './read-message.ts'
import type { KeptPassages, History } from './history.ts'

/**
 * The messages in which something is to be kept, by their indexes, ascending. Leading system messages stay by themselves, and
 * a passage that was kept before weighs nothing more.
 */
export function* keptPassages(
  history: Pick<History, 'dialect' | 'source' | 'messages' | 'structure' | 'countSteps'>,
): Pausable<ReadonlyMap<number, KeptPassages>> {
  const { messages, structure } = history
  const found = new Map<number, KeptPassages>()
  const seen = new Set<string>()
  let tokensUntil = 0
  for (let index = structure.systemCount; index < messages.length; index += 1) {
    const message = messages[index]
    if (message?.facts.keeps !== true) continue
    const texts = keptIn((yield* readMessage(history, message)).text)
    for (const text of texts) {
      if (!seen.has(text)) tokensUntil += yield* history.countSteps(`\n- ${text}`)
      seen.add(text)
    }
    found.set(index, { texts, tokensUntil })
  }
  return found
}

/** What is kept of these messages within so many tokens, the newest that fits first to be chosen; of equal passages the newest. */
export function* passagesWithin(
  history: Pick<History, 'kept' | 'countSteps'>,
  indexes: readonly number[],
  tokensMax: number,
): Pausable<readonly string[]> {
  const texts = indexes.flatMap((index) => history.kept.get(index)?.texts ?? [])
  const chosen = new Set<string>()
  let left = tokensMax
  for (const text of new Set(texts.toReversed())) {
    if (left <= 0) break
    const tokens = yield* history.countSteps(`\n- ${text}`)
    if (tokens > left) continue
    left -= tokens
    chosen.add(text)
  }
  return [...chosen].toReversed()
}

/** What the passages before a frontier take, with their heading, in tokens; 0 where there are none. */
export function keptTokens({ kept }: Pick<History, 'kept'>, frontier: number): number {
  if (kept.size === 0) return 0
  const indexes = indexesOf(kept)
  const last = indexes[countBelow(indexes, frontier) - 1]
  return last === undefined ? 0 : (kept.get(last)?.tokensUntil ?? 0) + HEADING_TOKENS
}

// --- internal ---

const HEADING_TOKENS = 16

/** Asked for at each frontier that is looked at. */
const indexesOf = remembering(
  (kept: History['kept']) => kept,
  (kept) => [...kept.keys()],
)
