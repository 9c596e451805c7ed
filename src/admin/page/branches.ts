import type { ConversationCard } from '../../activity/conversations/conversation-list.ts'

/** A conversation with those that branched off it, or off one of its branches. */
export type ConversationTree = {
  readonly root: ConversationCard
  readonly branches: readonly ConversationCard[]
}

/** Conversations with their branches under them, that first which was used last; so the branches of each. */
export function treesOf(cards: readonly ConversationCard[]): readonly ConversationTree[] {
  const byId = new Map(cards.map((card) => [card.id, card]))
  const latestFirst = cards.toSorted((one, other) => other.last_seen.localeCompare(one.last_seen))
  const trees = Map.groupBy(latestFirst, (card) => rootOf(card, byId))
  return Array.from(trees, ([root, members]) => ({
    root,
    branches: members.filter((member) => member !== root),
  }))
}

// --- internal ---

/** The oldest ancestor that is there. One that is no longer kept leaves its branches to themselves. */
function rootOf(card: ConversationCard, byId: ReadonlyMap<string, ConversationCard>): ConversationCard {
  const passed = new Set<ConversationCard>()
  let at = card
  // What another process wrote may go in a circle.
  while (!passed.has(at)) {
    passed.add(at)
    const parent = at.parent === null ? undefined : byId.get(at.parent)
    if (parent === undefined) return at
    at = parent
  }
  return card
}
