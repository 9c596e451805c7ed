import { setTimeout } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import {
  type JournalName,
  journalNames,
  type JournalPage,
  journalRowsMax,
  type Store,
  type StoreLimits,
} from '../../src/storage/store.ts'
import { putValue } from '../support/put-value.ts'

/** How time passes for a store, and how long what is to be outlived is kept. */
export type StoreClock = {
  readonly lifeMs: number
  readonly pass: (milliseconds: number) => Promise<void>
}

/** What every store owes of journals. `opened` gives an empty one, which is closed when the test is over. */
export function journalContract(
  name: string,
  opened: (limits?: Partial<StoreLimits>) => Promise<Store>,
  clock: StoreClock,
): void {
  describe(`${name} keeps journals`, () => {
    test('has no rows that were never written', async () => {
      const store = await opened()
      for (const journal of journalNames) {
        expect(await store.readRows(journal, fromOldest)).toEqual([])
        expect(await store.readRows(journal, fromNewest)).toEqual([])
      }
      await store.appendRows('events', [])
      expect(await store.readRows('events', fromOldest)).toEqual([])
    })

    test('gives rows in the order they were written in, or the other way round, each with an id of its own', async () => {
      const store = await opened()
      await store.appendRows('events', rowsOf('a', 'b', 'c'))
      await store.appendRows('events', rowsOf('d'))
      const rows = await store.readRows('events', fromOldest)
      expect(rows.map(({ text }) => text)).toEqual(['a', 'b', 'c', 'd'])
      expect(new Set(rows.map(({ id }) => id)).size).toBe(4)
      expect(await store.readRows('events', fromNewest)).toEqual(rows.toReversed())
    })

    test('keeps the rows of each journal apart', async () => {
      const store = await opened()
      for (const journal of journalNames) await store.appendRows(journal, rowsOf(`of ${journal}`))
      for (const journal of journalNames) expect(await texts(store, journal)).toEqual([`of ${journal}`])
    })

    test('are no values, nor are values rows', async () => {
      const store = await opened()
      await putValue(store, 'journal:events', 'value')
      await store.appendRows('events', rowsOf('row'))
      expect((await store.getFirst(['events', 'journal:events']))?.value).toBe('value')
      expect(await texts(store, 'events')).toEqual(['row'])
    })

    test('forgets rows that have outlived their time, and no others', async () => {
      const { lifeMs, pass } = clock
      const store = await opened({ lifetimeMs: lifeMs })
      await store.appendRows('events', rowsOf('old', 'old too'))
      await pass(lifeMs / 2)
      await store.appendRows('events', rowsOf('newer'))
      expect(await texts(store, 'events')).toEqual(['old', 'old too', 'newer'])
      await pass(lifeMs * 0.6)
      expect(await texts(store, 'events')).toEqual(['newer'])
      await pass(lifeMs)
      expect(await texts(store, 'events')).toEqual([])
      await store.appendRows('events', rowsOf('new'))
      expect(await texts(store, 'events')).toEqual(['new'])
    })
  })

  describe(`${name} reads journals by pages`, () => {
    test.each(['oldest', 'newest'] as const)('from the %s, without a gap or a row twice', async (from) => {
      const store = await opened()
      const told = Array.from({ length: 1_250 }, (_, index) => `row ${index}`)
      await store.appendRows('events', rowsOf(...told))
      const inOrder = from === 'oldest' ? told : told.toReversed()
      expect(await texts(store, 'events', { from, beyond: null, limit: 5_000 })).toEqual(inOrder)
      for (const limit of [7, 600]) {
        const read: string[] = []
        for (let beyond: string | null = null; ;) {
          const page = await store.readRows('events', { from, beyond, limit })
          read.push(...page.map(({ text }) => text))
          if (page.length < limit) break
          beyond = page.at(-1)?.id ?? null
        }
        expect(read).toEqual(inOrder)
      }
    })

    test('tells who comes back what was written since', async () => {
      const store = await opened()
      await store.appendRows('events', rowsOf('a', 'b'))
      const last = (await store.readRows('events', fromOldest)).at(-1)?.id ?? ''
      expect(await store.readRows('events', { ...fromOldest, beyond: last })).toEqual([])
      await store.appendRows('events', rowsOf('c', 'd', 'e'))
      expect(await texts(store, 'events', { from: 'oldest', beyond: last, limit: 2 })).toEqual(['c', 'd'])
      expect(await texts(store, 'events', { ...fromNewest, beyond: last })).toEqual(['a'])
    })

    test('goes on from a row that is gone, and no id comes back after everything was deleted', async () => {
      const store = await opened()
      await store.appendRows('events', [{ text: 'a' }, { text: 'b', group: 'one' }, { text: 'c' }])
      const [, gone] = await store.readRows('events', fromOldest)
      const beyond = gone?.id ?? ''
      await store.deleteGroup('one')
      expect(await texts(store, 'events', { ...fromOldest, beyond })).toEqual(['c'])
      expect(await texts(store, 'events', { ...fromNewest, beyond })).toEqual(['a'])
      await store.purge()
      // Redis tells rows apart by the millisecond first.
      await setTimeout(5)
      await store.appendRows('events', rowsOf('d'))
      expect(await texts(store, 'events', { ...fromOldest, beyond })).toEqual(['d'])
    })

    test('begins at the end where what it is to go on from is no id of its rows', async () => {
      const store = await opened()
      for (const beyond of noIds) {
        await store.appendRows('events', rowsOf('a', 'b', 'c'))
        const [first, last] = [
          await texts(store, 'events', { from: 'oldest', beyond, limit: 2 }),
          await texts(store, 'events', { from: 'newest', beyond, limit: 2 }),
        ]
        expect([beyond, first, last]).toEqual([beyond, ['a', 'b'], ['c', 'b']])
        await store.appendRows('events', rowsOf('d'))
        expect(await texts(store, 'events')).toEqual(['a', 'b', 'c', 'd'])
        await store.purge()
      }
    })

    test('never fails where it is an id of another store, perhaps', async () => {
      const store = await opened()
      await store.appendRows('events', rowsOf('a', 'b', 'c'))
      for (const beyond of ['0', '1', '3', '0-0', '0-1', '1-0', '1-1']) {
        for (const from of ['oldest', 'newest'] as const) {
          const found = await texts(store, 'events', { from, beyond, limit: 10 })
          expect(['a', 'b', 'c']).toEqual(expect.arrayContaining([...found]))
        }
      }
    })
  })

  describe(`${name} holds no more rows than it may`, () => {
    test('the oldest of a journal go, and those of others stay', async () => {
      const store = await opened({ bytesMax: MEGABYTE })
      const rowsMax = journalRowsMax(MEGABYTE)
      const told = Array.from({ length: 3 * rowsMax + 5 }, (_, index) => `row ${index}`)
      await store.appendRows('totals', rowsOf('other'))
      for (let start = 0; start < told.length; start += 7) {
        await store.appendRows('events', rowsOf(...told.slice(start, start + 7)))
        const kept = told.slice(Math.max(0, Math.min(told.length, start + 7) - rowsMax), start + 7)
        expect(await texts(store, 'events')).toEqual(kept)
      }
      expect(await texts(store, 'totals')).toEqual(['other'])
      expect(await store.purge()).toBe(rowsMax + 1)
    })

    test('of more rows at once than a journal may hold the last are kept', async () => {
      const store = await opened({ bytesMax: MEGABYTE })
      const rowsMax = journalRowsMax(MEGABYTE)
      const told = Array.from({ length: 2 * rowsMax + 1 }, (_, index) => `row ${index}`)
      await store.appendRows('events', rowsOf('before'))
      await store.appendRows('events', rowsOf(...told))
      expect(await texts(store, 'events')).toEqual(told.slice(-rowsMax))
    })

    test('what was deleted of a journal does not bring back what was beyond its bound', async () => {
      const store = await opened({ bytesMax: MEGABYTE })
      const rowsMax = journalRowsMax(MEGABYTE)
      for (let row = 0; row < rowsMax + 10; row += 1) {
        await store.appendRows('events', [
          { text: `row ${row}`, ...(row % 2 === 0 ? { group: 'even' } : {}) },
        ])
      }
      expect(await store.deleteGroup('even')).toBe(rowsMax / 2)
      const kept = await texts(store, 'events')
      expect(kept).toHaveLength(rowsMax / 2)
      expect(kept[0]).toBe('row 11')
    })

    test('full journals leave most of a small store to its values', async () => {
      const store = await opened({ bytesMax: MEGABYTE })
      const rows = Array.from({ length: 200 }, () => ({ text: 'x'.repeat(600), group: 'conversation' }))
      for (const journal of journalNames) await store.appendRows(journal, rows)
      for (let value = 0; value < 200; value += 1) {
        await store.putIfAbsent(`key ${value}`, 'x'.repeat(10_000))
      }
      let kept = 0
      for (let value = 0; value < 200; value += 1) {
        if ((await store.getFirst([`key ${value}`])) !== null) kept += 1
      }
      expect(kept * 10_000).toBeGreaterThan(MEGABYTE / 2)
    })
  })

  describe(`${name} knows which conversation a row belongs to`, () => {
    test('deletes the rows of a group from all journals, counts them with its values, and leaves all others', async () => {
      const store = await opened()
      await putValue(store, 'a', '1', 'one')
      await putValue(store, 'b', '2', 'two')
      for (const journal of journalNames) {
        await store.appendRows(journal, [
          { text: 'of one', group: 'one' },
          { text: 'of two', group: 'two' },
          { text: 'of none' },
          { text: 'of one, too', group: 'one' },
        ])
      }
      expect(await store.deleteGroup('one')).toBe(1 + 2 * journalNames.length)
      for (const journal of journalNames) {
        expect(await texts(store, journal)).toEqual(['of two', 'of none'])
      }
      expect(await store.getFirst(['b'])).not.toBeNull()
      expect(await store.deleteGroup('one')).toBe(0)
      for (const other of ['tw', 'two ', 'Two', '*', '']) expect(await store.deleteGroup(other)).toBe(0)
    })

    test('a conversation of thousands of rows among those of others goes as a whole', async () => {
      const store = await opened()
      const rows = Array.from({ length: 2_500 }, (_, row) => ({
        text: `row ${row}`,
        group: row % 5 === 0 ? 'other' : 'long',
      }))
      await store.appendRows('events', rows)
      expect(await store.deleteGroup('long')).toBe(2_000)
      expect(await texts(store, 'events')).toHaveLength(500)
    })

    test('rows that have outlived their time are in no group, and are not counted', async () => {
      const store = await opened({ lifetimeMs: clock.lifeMs })
      await store.appendRows('events', [{ text: 'row', group: 'one' }])
      await clock.pass(clock.lifeMs + 1)
      expect(await store.deleteGroup('one')).toBe(0)
      expect(await store.purge()).toBe(0)
    })
  })

  describe(`${name} can be emptied of its journals`, () => {
    test('which are counted with its values, and written to again', async () => {
      const store = await opened()
      await putValue(store, 'a', '1')
      for (const journal of journalNames) await store.appendRows(journal, rowsOf('a', 'b'))
      expect(await store.purge()).toBe(1 + 2 * journalNames.length)
      for (const journal of journalNames) expect(await texts(store, journal)).toEqual([])
      expect(await store.purge()).toBe(0)
      await store.appendRows('events', rowsOf('c'))
      expect(await texts(store, 'events')).toEqual(['c'])
    })
  })
}

/** What two stores owe that share what they hold, each by an opening of its own. */
export function sharedJournalContract(
  name: string,
  openTwo: () => Promise<{ readonly one: Store; readonly other: Store }>,
): void {
  test(`${name} see each other’s rows, and delete them`, async () => {
    const { one, other } = await openTwo()
    await one.appendRows('events', [{ text: 'of one', group: 'conversation' }])
    await other.appendRows('events', [{ text: 'of the other', group: 'conversation' }])
    await one.appendRows('events', rowsOf('of one again'))
    const rows = await one.readRows('events', fromOldest)
    expect(rows.map(({ text }) => text)).toEqual(['of one', 'of the other', 'of one again'])
    expect(await other.readRows('events', fromOldest)).toEqual(rows)
    const beyond = rows[1]?.id ?? ''
    expect(await texts(other, 'events', { ...fromOldest, beyond })).toEqual(['of one again'])
    expect(await other.deleteGroup('conversation')).toBe(2)
    expect(await texts(one, 'events')).toEqual(['of one again'])
  })
}

const MEGABYTE = 1024 * 1024

/** `beyond` is what a client says that it has seen: it may come from another store, or from anywhere. */
const noIds = '- + $ * (1-1 -1 1.5 1e3 0x10 NaN 1-1-1 １'
  .split(' ')
  .concat(['', '1 OR 1=1', "1'; DROP TABLE journal_events; --", ' 1', '1\n', '\u0000', '\ud83d'])
  .concat(['9'.repeat(40), `${'9'.repeat(40)}-${'9'.repeat(40)}`, 'x'.repeat(100_000)])
  // Of another store, whose rows were more, or on another clock: they lay ahead of all that is ever written here.
  .concat(['999999999999999', '999999999999999-1'])

const fromOldest = { from: 'oldest', beyond: null, limit: 1_000 } as const
const fromNewest = { from: 'newest', beyond: null, limit: 1_000 } as const

const rowsOf = (...rows: readonly string[]): readonly { readonly text: string }[] =>
  rows.map((text) => ({ text }))

const texts = async (
  store: Store,
  journal: JournalName,
  page: JournalPage = fromOldest,
): Promise<readonly string[]> => (await store.readRows(journal, page)).map(({ text }) => text)
