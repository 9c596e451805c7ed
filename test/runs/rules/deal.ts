import { openDice, seedOf, type Dice } from '../../../src/demo/dice.ts'

/**
 * Which of a half's phrasings the chat of this number is made with: one to four, none twice until all have been dealt.
 * A further chat changes nothing of those before it.
 */
export function deal<Phrasing>(
  list: readonly Phrasing[],
  seed: string,
  chatNumber: number,
): readonly Phrasing[] {
  const dice = openDice(seedOf(`${seed} deal`))
  let deck: Phrasing[] = []
  let hand: readonly Phrasing[] = []
  for (let chat = 0; chat <= chatNumber; chat += 1) {
    const size = 1 + dice.below(HAND_MOST)
    // What is left of a deck that is too small stays undealt in this round, so that no chat has a phrasing twice.
    if (deck.length < size) deck = shuffled(list, dice)
    hand = deck.splice(0, size)
  }
  return hand
}

// --- internal ---

const HAND_MOST = 4

function shuffled<Item>(items: readonly Item[], dice: Dice): Item[] {
  const left = [...items]
  return items.flatMap(() => left.splice(dice.below(left.length), 1))
}
