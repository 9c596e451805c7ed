import { expect, test } from 'vitest'
import { createTail } from '../../../src/activity/journal/tail.ts'
import type { Store } from '../../../src/stores/store.ts'
import { memoryStore, patientGuard } from '../../admin/memory.ts'
import { usageRow } from '../rows.ts'

/** A tail on a store, and what it has told. */
function tailOn(
  store: Pick<Store, 'readRows'> & { readonly appendRows: Store['appendRows'] } = memoryStore(),
) {
  const models: string[] = []
  const totals: string[] = []
  const tail = createTail({
    store,
    guarded: patientGuard,
    process: 'here',
    onUsage: ({ model }) => models.push(model),
    onTotals: (text) => totals.push(text),
  })
  const add = (process: string, ...names: readonly string[]) =>
    store.appendRows(
      'usage',
      names.map((model) => ({ text: JSON.stringify(usageRow({ process, model })) })),
    )
  return { store, tail, models, totals, add }
}

test('tells what others have written, each row once and in its order, and says whether there was any', async () => {
  const { tail, models, add } = tailOn()
  expect(await tail.catchUp()).toBe(false)
  await add('there', 'a', 'b')
  expect(await tail.catchUp()).toBe(true)
  expect(await tail.catchUp()).toBe(false)
  await add('elsewhere', 'c')
  expect(await tail.catchUp()).toBe(true)
  expect(models).toEqual(['a', 'b', 'c'])
})

test('passes over what this process has written itself', async () => {
  const { tail, models, add } = tailOn()
  await add('here', 'mine')
  expect(await tail.catchUp()).toBe(false)
  await add('there', 'theirs')
  await add('here', 'mine')
  expect(await tail.catchUp()).toBe(true)
  expect(models).toEqual(['theirs'])
})

test('tells totals as they were written', async () => {
  const { store, tail, totals } = tailOn()
  await store.appendRows('totals', [{ text: 'one' }, { text: 'two' }])
  expect(await tail.catchUp()).toBe(true)
  expect(await tail.catchUp()).toBe(false)
  expect(totals).toEqual(['one', 'two'])
})

test('passes over rows of a form that it does not know, and reads those of an older version', async () => {
  const { store, tail, models } = tailOn()
  const { time, process, model, upstream, action, outcome, streamed, attempts } = usageRow({ process: 'old' })
  const bare = { time, process, model, upstream, action, outcome, streamed, attempts }
  await store.appendRows('usage', [
    { text: 'no JSON' },
    { text: JSON.stringify({ ...usageRow({ process: 'next' }), outcome: 'of-tomorrow' }) },
    {
      text: JSON.stringify({ ...bare, tokens_are_bounds: false, summary: 'none', added_ms: 1, total_ms: 2 }),
    },
  ])
  expect(await tail.catchUp()).toBe(true)
  expect(models).toEqual(['test-model'])
})

test('two that look at once take each row once', async () => {
  const { tail, models, add } = tailOn()
  await add('there', 'a')
  expect(await Promise.all([tail.catchUp(), tail.catchUp()])).toEqual([true, true])
  expect(models).toEqual(['a'])
})

test('a store that fails in the middle costs nothing: it is read on from there', async () => {
  const inner = memoryStore()
  let reads = 0
  const { tail, models, add } = tailOn({
    ...inner,
    readRows: async (journal, page) => {
      reads += 1
      // The first is for totals; two pages of usage go well.
      if (reads === 4) throw new Error('away')
      return inner.readRows(journal, page)
    },
  })
  const names = Array.from({ length: 650 }, (_, index) => `${index}`)
  await add('there', ...names)
  expect(await tail.catchUp()).toBe(true)
  expect(models).toHaveLength(400)
  await tail.catchUp()
  expect(models).toEqual(names)
})

// Twenty thousand rows of a week were read at the first look at the page, and no request was served meanwhile.
test('others are served while much is read', async () => {
  const { tail, models, add } = tailOn()
  await add('there', ...Array.from({ length: 2_000 }, (_, index) => `${index}`))
  let turns = 0
  const counting = setInterval(() => (turns += 1), 0)
  await tail.catchUp()
  clearInterval(counting)
  expect(models).toHaveLength(2_000)
  expect(turns).toBeGreaterThan(2)
})
