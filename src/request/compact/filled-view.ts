/** A view by its own count. */
type Sized = { readonly sentTokens: number }

/**
 * The largest view found within a budget. A compaction leaves room below its budget, for the rounds to come and because
 * recaps come out shorter than they were planned; so it is planned with more until what comes out fills the budget. Null
 * where nothing can be taken away.
 */
export async function filledView<View extends Sized>(
  budgetTokens: number,
  viewWithin: (plannedTokens: number) => Promise<View | null>,
): Promise<View | null> {
  let largest = await viewWithin(budgetTokens)
  let plannedTokens = budgetTokens
  let moreTokens = Number.POSITIVE_INFINITY
  for (let plans = 1; largest !== null && plans < PLANS_MAX; plans += 1) {
    const spareTokens = budgetTokens - largest.sentTokens
    moreTokens = Math.min(moreTokens, spareTokens)
    if (moreTokens < budgetTokens * SPARE_SHARE_MIN) break
    const view = await viewWithin(plannedTokens + moreTokens)
    if (view === null || view.sentTokens > budgetTokens) {
      moreTokens = Math.floor(moreTokens / 2)
      continue
    }
    plannedTokens += moreTokens
    moreTokens = Number.POSITIVE_INFINITY
    if (view.sentTokens > largest.sentTokens) largest = view
  }
  return largest
}

// --- internal ---

/** Each takes as long as a compaction. */
const PLANS_MAX = 5

/** Less than this of the budget is not worth another plan. */
const SPARE_SHARE_MIN = 0.03
