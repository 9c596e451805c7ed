import type { Message } from '../../conversation/message.ts'
import { remembering } from '../../lru-cache.ts'
import type { Rounds } from './history.ts'

/**
 * What stands before the server's own compaction, which has all that goes on from it: its clients may leave that out, by
 * OpenAI's own word. What the operator says there and what holds for all that follows is no part of it.
 */
export const pastOf = remembering(({ structure }: Rounds) => structure, findPast)

/** Of what its user said, the oldest messages that have to go for the rest to take `tokensMax` at most. */
export function oldestSaid(said: readonly number[], sizes: readonly number[], tokensMax: number): number[] {
  let tokens = 0
  return said.toReversed().filter((index) => {
    tokens += sizes[index] ?? 0
    return tokens > tokensMax
  })
}

// --- internal ---

function findPast({ messages, structure }: Rounds) {
  const { unkeyedCount, systemCount } = structure
  const start = systemCount - 1
  /** What its user said, ascending: a server may well go on showing that. */
  const said: number[] = []
  /** All else. */
  const spent = new Set<number>()
  // A call that is answered behind it goes on.
  if (systemCount === unkeyedCount || !structure.isFrontier(systemCount)) return { said, spent }
  const isSetting = (index: number): boolean => messages[index]?.facts.survives === 'last'
  const settings: number[] = []
  for (let index = 0; index < start; index += 1) if (isSetting(index)) settings.push(index)
  const inForce = settings.at(-1)
  // Two settings that meet are refused: of those in the past the last stays, and one that leads the conversation always does.
  if (settings.some((index) => index < unkeyedCount) && inForce !== undefined && inForce >= unkeyedCount)
    return { said, spent }
  for (let index = unkeyedCount; index < start; index += 1) {
    const facts = messages[index]?.facts
    if (facts?.role === 'user') said.push(index)
    else if (isSetting(index) ? index !== inForce : !isLasting(facts)) spent.add(index)
  }
  return { said, spent }
}

function isLasting(facts: Message['facts'] | undefined): boolean {
  return facts?.survives === 'each' || facts?.role === 'system' || facts?.role === 'developer'
}
