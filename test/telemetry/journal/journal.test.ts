import { EventEmitter } from 'node:events'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { totalsSchema } from '../../../src/telemetry/conversations/totals.ts'
import { createJournal, type Signals, type StoredEvent } from '../../../src/telemetry/journal/journal.ts'
import type { StoreGuard } from '../../../src/storage/store-guard.ts'
import type { JournalName, NewJournalRow, Store } from '../../../src/storage/store.ts'
import { memoryStore, patientGuard, storeGuard } from '../../admin/memory.ts'
import { atSecond, idOf, journalEvent, usageRow } from '../rows.ts'

type Append = (journal: JournalName, rows: readonly NewJournalRow[]) => Promise<void>

afterEach(() => void vi.useRealTimers())

/** A journal on a store of its own. `append`: what the store does in the place of adding rows. */
function journalOn(
  append?: (add: Append) => Append,
  options: Partial<Parameters<typeof createJournal>[0]> = {},
) {
  const store = memoryStore()
  const signals: Signals = new EventEmitter()
  const writes: { journal: JournalName; texts: readonly string[] }[] = []
  const appendRows: Append = async (name, rows) => {
    await store.appendRows(name, rows)
    writes.push({ journal: name, texts: rows.map(({ text }) => text) })
  }
  const journal = createJournal({
    store: { ...store, appendRows: append?.(appendRows) ?? appendRows },
    guarded: patientGuard,
    signals,
    // Long enough that only a test decides when rows are written.
    delayMs: 60_000,
    ...options,
  })
  onTestFinished(() => journal.close())
  return { store, journal, writes, signals }
}

type On = ReturnType<typeof journalOn>

function writeModels({ journal }: On, ...models: readonly string[]): void {
  for (const model of models) journal.write('events', journalEvent({ model }))
}

const modelsOf = (events: readonly StoredEvent[]): readonly (string | null)[] =>
  events.map(({ model }) => model)

const modelsIn = async ({ journal }: On): Promise<readonly (string | null)[]> =>
  modelsOf((await journal.eventsAfter(null)).events)

const totals = totalsSchema.parse({ process: 'here', since: atSecond(1) })

const all = { limit: 1_000, before: null, conversation: null, type: null } as const

/** A store that takes no rows, of these journals, until it is back. */
function awayStore(away: readonly JournalName[] = ['events', 'usage', 'totals']) {
  const state = { isAway: true }
  const append =
    (add: Append): Append =>
    async (name, rows) => {
      if (state.isAway && away.includes(name)) throw new Error('away')
      await add(name, rows)
    }
  return { append, comeBack: () => void (state.isAway = false) }
}

describe('rows are written behind', () => {
  test('many are one write, in their order, which is signalled and nobody waits for', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const at = journalOn()
    let told = 0
    at.signals.on('written', () => (told += 1))
    writeModels(at, 'a', 'b', 'c')
    at.journal.write('usage', usageRow())
    at.journal.write('totals', totals)
    await vi.advanceTimersByTimeAsync(59_999)
    expect(at.writes).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    await vi.waitFor(() => expect(told).toBe(1))
    const written = at.writes.map(({ journal, texts }) => `${journal} ${texts.length}`)
    expect(written).toEqual(['events 3', 'usage 1', 'totals 1'])
    expect(await modelsIn(at)).toEqual(['a', 'b', 'c'])
  })

  test('a long queue is written in pieces, between which others are served', async () => {
    const at = journalOn()
    for (let number = 0; number < 450; number += 1) writeModels(at, `${number}`)
    let turns = 0
    let counting: NodeJS.Immediate
    const count = (): void => {
      turns += 1
      counting = setImmediate(count)
    }
    counting = setImmediate(count)
    await at.journal.flush()
    clearImmediate(counting)
    expect(at.writes.map(({ texts }) => texts.length)).toEqual([200, 200, 50])
    expect((await at.journal.events(all)).length).toBe(450)
    expect(turns).toBeGreaterThan(0)
  })
})

describe('a store that fails', () => {
  // What had come during a write that failed stood before the rows of that write: a page showed effects before causes.
  test('costs no row, and none changes its place', async () => {
    let failures = 2
    let during: readonly string[] = []
    const at: On = journalOn((add) => async (name, rows) => {
      writeModels(at, ...during)
      if (failures > 0) {
        failures -= 1
        throw new Error('disk I/O error')
      }
      await add(name, rows)
    })
    writeModels(at, 'a', 'b')
    for (during of [['c'], ['d'], []]) await at.journal.flush()
    expect(await modelsIn(at)).toEqual(['a', 'b', 'c', 'd'])
  })

  test.each<[string, readonly JournalName[]]>([
    ['', ['events', 'usage']],
    [' for one journal, too, where another could be written', ['events']],
  ])('is tried again by itself%s', async (_, away) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { append, comeBack } = awayStore(away)
    const at = journalOn(append)
    writeModels(at, 'a')
    at.journal.write('usage', usageRow())
    await at.journal.flush()
    comeBack()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(await modelsIn(at)).toEqual(['a'])
  })

  // The new rows went instead, and the oldest ten thousand stayed.
  test('has so many rows wait for it, and costs the oldest', async () => {
    const { append, comeBack } = awayStore()
    const at = journalOn(append)
    for (let number = 0; number < 10_005; number += 1) {
      writeModels(at, `${number}`)
      if (number === 9_999) await at.journal.flush()
    }
    await at.journal.flush()
    writeModels(at, 'last')
    comeBack()
    await at.journal.flush()
    const texts = at.writes.flatMap((write) => write.texts)
    expect(texts).toHaveLength(10_000)
    expect(texts[0]).toContain('"model":"6"')
    expect(texts.at(-1)).toContain('"model":"last"')
  })

  // A Redis that stood still for two seconds took a write that had been given up, and it was written once more.
  test('and has taken rows all the same, later than they were waited for, gets them once', async () => {
    const released = Promise.withResolvers<void>()
    let isHung = true
    const guarded: StoreGuard = (instead, work) =>
      isHung ? Promise.race([work(), Promise.resolve(instead)]) : patientGuard(instead, work)
    const at = journalOn(
      (add) => async (name, rows) => {
        if (isHung) await released.promise
        await add(name, rows)
      },
      { guarded },
    )
    writeModels(at, 'a', 'b')
    await at.journal.flush()
    writeModels(at, 'c')
    isHung = false
    released.resolve()
    await expect.poll(() => at.writes.length).toBe(1)
    await at.journal.flush()
    expect(await modelsIn(at)).toEqual(['a', 'b', 'c'])
  })

  test('and never answers holds up neither a write nor the end for longer than one look takes', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const at = journalOn(() => () => new Promise(() => {}), { guarded: storeGuard() })
    writeModels(at, 'a')
    at.journal.write('totals', totals)
    const closed = at.journal.close()
    await vi.advanceTimersByTimeAsync(1_000)
    await expect(closed).resolves.toBeUndefined()
  })

  // The timer for the next try kept the process from ending, with a store that was closed already.
  test('is not tried again after the end', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const at = journalOn(() => () => Promise.reject(new Error('away')))
    writeModels(at, 'a')
    expect(vi.getTimerCount()).toBe(1)
    await at.journal.close()
    writeModels(at, 'b')
    expect(vi.getTimerCount()).toBe(0)
  })

  test('answers no events, and fails nobody who asks', async () => {
    const store = memoryStore()
    let isAway = true
    const readRows: Store['readRows'] = async (name, page) => {
      if (isAway) throw new Error('away')
      return store.readRows(name, page)
    }
    const options = { store: { ...store, readRows }, guarded: patientGuard, signals: new EventEmitter() }
    const journal = createJournal(options)
    expect(await journal.events(all)).toEqual([])
    expect(await journal.eventsAfter('7')).toEqual({ events: [], upTo: '7', isMore: false })
    expect(await journal.lastId()).toBeNull()
    isAway = false
    journal.write('events', journalEvent())
    await journal.flush()
    expect(await journal.events(all)).toHaveLength(1)
  })
})

describe('a conversation that is forgotten', () => {
  // Events were on their way to the store while the conversation was deleted there; its rows of usage came after them.
  test.each([
    ['stood behind a write that was on its way', false],
    ['a store refused that was on its way', true],
  ])('has nothing written any more that %s', async (_, refuses) => {
    let isFirst = true
    const at = journalOn((add) => async (name, rows) => {
      if (!isFirst) return add(name, rows)
      isFirst = false
      at.journal.forget(idOf(1))
      if (refuses) throw new Error('away')
      return add(name, rows)
    })
    at.journal.write('events', journalEvent({ conversation: idOf(refuses ? 1 : 2) }))
    at.journal.write('usage', usageRow({ conversation: idOf(1) }))
    await at.journal.flush()
    await at.journal.flush()
    expect(at.writes.map(({ journal }) => journal)).toEqual(refuses ? [] : ['events'])
  })
})

describe('rows of another version', () => {
  test('with fewer keys are read, and say nothing where they have nothing', async () => {
    const { store, journal } = journalOn()
    // Of an empty journal nothing is.
    const none = await journal.eventsAfter(await journal.lastId())
    expect(none).toEqual({ events: [], upTo: null, isMore: false })
    const text = JSON.stringify({ time: '2025-01-01T00:00:00.000Z', process: 'old', type: 'compaction' })
    await store.appendRows('events', [{ text }])
    const [event] = await journal.events(all)
    const nothing = { model: null, passes: [], ranges: [], tokens_before: null, details: {} }
    expect(event).toMatchObject({ type: 'compaction', ...nothing })
  })

  // A replica of the next version wrote events of a kind of its own. Whoever listened to one of this version heard
  // nothing any more: the same page of them was read again and again.
  test('in a form that is not known are passed over, however many they are', async () => {
    const { store, journal } = journalOn()
    const unknown = JSON.stringify({ ...journalEvent(), type: 'of-tomorrow' })
    await store.appendRows('events', [
      ...Array.from({ length: 700 }, () => ({ text: unknown })),
      { text: 'no JSON' },
      { text: JSON.stringify(journalEvent({ model: 'known' })) },
    ])
    expect(modelsOf(await journal.events(all))).toEqual(['known'])
    let next = await journal.eventsAfter(null)
    for (; next.events.length === 0; next = await journal.eventsAfter(next.upTo))
      expect(next.isMore).toBe(true)
    expect([modelsOf(next.events), next.isMore]).toEqual([['known'], false])
  })
})
