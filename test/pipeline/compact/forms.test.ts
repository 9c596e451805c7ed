import { expect, test } from 'vitest'
import { filledView } from '../../../src/pipeline/compact/forms.ts'

/** Plans views that come out at a share of what they were planned with, and notes each. */
const planner =
  (share: number, plans: number[] = []) =>
  async (plannedTokens: number) => {
    plans.push(plannedTokens)
    return { sentTokens: Math.floor(plannedTokens * share) }
  }

test.each([1, 0.9, 0.7, 0.5])('a view that comes out at %s of its plan fills the budget', async (share) => {
  const view = await filledView(10_000, planner(share))
  expect(view?.sentTokens).toBeLessThanOrEqual(10_000)
  expect(view?.sentTokens).toBeGreaterThan(9_500)
})

test('one that fills it at once is planned once, and none more than five times', async () => {
  const plans: number[] = []
  await filledView(10_000, planner(0.99, plans))
  expect(plans).toEqual([10_000])
  plans.length = 0
  await filledView(10_000, planner(0.1, plans))
  expect(plans).toHaveLength(5)
})

test('what would be beyond the budget is not taken', async () => {
  // Messages are as large as they are: the next view is far larger.
  const view = await filledView(10_000, async (planned) => ({
    sentTokens: planned < 12_000 ? 6_000 : 11_000,
  }))
  expect(view).toEqual({ sentTokens: 6_000 })
})

test('where nothing can be taken away with more, what there is stays; where nothing can at all, there is none', async () => {
  const once = { sentTokens: 5_000 }
  expect(await filledView(10_000, async (planned) => (planned === 10_000 ? once : null))).toBe(once)
  expect(await filledView(10_000, async () => null)).toBeNull()
})

test('a smallest form that exceeds the budget is what there is', async () => {
  const view = { sentTokens: 12_000 }
  expect(await filledView(10_000, async () => view)).toBe(view)
})
