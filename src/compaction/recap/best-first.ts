import type { Steps } from '../../conversation/source.ts'

/**
 * The items in the order of their worth, the best first, as far as they are asked for; of equals the one that came first.
 * In steps: there may be tens of thousands, of which a recap takes a few hundred.
 */
export function* bestFirst<Item extends { readonly worth: number }>(
  items: Iterable<Item>,
): Steps<Iterable<Item>> {
  const runs: Item[][] = []
  let run: Item[] = []
  for (const item of items) {
    run.push(item)
    if (run.length < SORTED_PER_STEP) continue
    runs.push(run.sort(byWorth))
    run = []
    yield
  }
  return merged([...runs, run.sort(byWorth)])
}

// --- internal ---

/** Items sorted between two pauses: about a millisecond. */
const SORTED_PER_STEP = 1_000

function byWorth(one: { readonly worth: number }, other: { readonly worth: number }): number {
  return other.worth - one.worth
}

/** The items of sorted runs in one order. */
function* merged<Item extends { readonly worth: number }>(
  runs: readonly (readonly Item[])[],
): Generator<Item, void, void> {
  const taken = runs.map(() => 0)
  for (;;) {
    let best: Item | null = null
    let from = 0
    for (const [index, run] of runs.entries()) {
      const item = run[taken[index] ?? 0]
      if (item === undefined || (best !== null && item.worth <= best.worth)) continue
      best = item
      from = index
    }
    if (best === null) return
    taken[from] = (taken[from] ?? 0) + 1
    yield best
  }
}
