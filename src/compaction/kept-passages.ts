import { keptIn } from '../conversation/keep-marks.ts'
import type { Steps } from '../conversation/source.ts'
import { readMessage } from './read-message.ts'
import type { KeptPassages, Subject } from './subject.ts'

/** The messages in which something is to be kept, by their indexes, ascending. */
export function* keptPassages(
  subject: Pick<Subject, 'dialect' | 'source' | 'messages' | 'countSteps'>,
): Steps<ReadonlyMap<number, KeptPassages>> {
  const found = new Map<number, KeptPassages>()
  for (const [index, message] of subject.messages.entries()) {
    if (message.facts.keeps !== true) continue
    const texts = keptIn((yield* readMessage(subject, message)).text)
    found.set(index, {
      texts,
      tokens: yield* subject.countSteps(texts.map((text) => `\n- ${text}`).join('')),
    })
  }
  return found
}

/** What is kept of these messages within so many tokens, the newest first to be chosen; of equal passages the newest. */
export function* passagesWithin(
  subject: Pick<Subject, 'kept' | 'countSteps'>,
  indexes: readonly number[],
  tokensMax: number,
): Steps<readonly string[]> {
  const texts = indexes.flatMap((index) => subject.kept.get(index)?.texts ?? [])
  const chosen = new Set<string>()
  let left = tokensMax
  for (const text of new Set(texts.toReversed())) {
    left -= yield* subject.countSteps(`\n- ${text}`)
    if (left < 0) break
    chosen.add(text)
  }
  return [...chosen].toReversed()
}

/** What the passages before a frontier take, with their heading, in tokens; 0 where there are none. */
export function keptTokens({ kept }: Pick<Subject, 'kept'>, frontier: number): number {
  let tokens = 0
  for (const [index, passages] of kept) if (index < frontier) tokens += passages.tokens
  return tokens === 0 ? 0 : tokens + HEADING_TOKENS
}

// --- internal ---

const HEADING_TOKENS = 16
