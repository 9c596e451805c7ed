import { expect, test } from 'vitest'
import { createFailures } from '../../../src/activity/failures.ts'
import { createCompactedPlaces, type CompactedPlaces } from '../../../src/request/records/compacted-places.ts'
import { openMemoryStore } from '../../../src/stores/memory-store.ts'
import { createStoreGuard } from '../../../src/stores/store-guard.ts'
import type { Store } from '../../../src/stores/store.ts'
import { eventually } from '../../support/eventually.ts'

const newStore = (): Store => openMemoryStore({ bytesMax: 16_000_000, lifetimeMs: 0 })
const place = { scope: 'scope', profile: 'default', model: 'model' }

const HOUR_MS = 3_600_000
const BEGUN_MS = 1_000 * HOUR_MS

const placesOn = (store: Store, nowMs: () => number = () => BEGUN_MS, lifetimeMs = 0): CompactedPlaces =>
  createCompactedPlaces({
    store,
    guarded: createStoreGuard(createFailures(() => {})),
    lifetimeMs,
    nowMs,
  })

/** What is known once it was looked up. */
const known = (places: CompactedPlaces, of = place): Promise<number> =>
  eventually(() => places.fewestBytes(of) ?? expect.fail('not looked up yet'), { interval: 1 })

/** Notes a compaction of messages that have so many bytes beside those of a reply, which may come back without its thoughts. */
function note(places: CompactedPlaces, bytes: number): void {
  const half = { facts: { bytes: bytes / 2, opensReply: false } }
  places.note(place, [half, { facts: { bytes: 1_000_000, opensReply: true } }, half])
}

const failing = async () => Promise.reject(new Error('the store is broken'))

test('of a place nothing is known before it was looked up, and in a fresh store nothing was compacted', async () => {
  const places = placesOn(newStore())
  expect(places.fewestBytes(place)).toBeNull()
  expect(await known(places)).toBe(Infinity)
})

test('the smallest of them counts, in its own place, whichever was noted last', async () => {
  const store = newStore()
  const places = placesOn(store)
  await known(places)
  note(places, 80_000)
  const first = places.fewestBytes(place) ?? 0
  expect(first).toBeGreaterThan(0)
  // The same messages may be spelled in fewer bytes.
  expect(first).toBeLessThan(80_000 / 5)
  note(places, 8_000)
  expect(places.fewestBytes(place)).toBe(first / 10)
  note(places, 40_000)
  expect(places.fewestBytes(place)).toBe(first / 10)
  expect(await known(places, { ...place, model: 'another' })).toBe(Infinity)
})

// Two that were noted at a time were each written over what had been read before the other: after a restart a small conversation
// left its compaction.
test('of those that are noted at a time the smallest is what a new process finds', async () => {
  const store = newStore()
  const places = placesOn(store)
  await known(places)
  note(places, 8_000)
  note(places, 80_000)
  const smallest = places.fewestBytes(place)
  await eventually(async () => expect(await known(placesOn(store))).toBe(smallest), { interval: 1 })
})

test('what another process has compacted is known once it was looked up again', async () => {
  const store = newStore()
  let nowMs = BEGUN_MS
  const [one, other] = [placesOn(store), placesOn(store, () => nowMs)]
  expect(await known(other)).toBe(Infinity)
  await known(one)
  note(one, 8_000)
  await eventually(async () => expect(await known(placesOn(store))).toBe(one.fewestBytes(place)), {
    interval: 1,
  })
  nowMs += 9_999
  expect(other.fewestBytes(place)).toBe(Infinity)
  nowMs += 1
  await eventually(() => expect(other.fewestBytes(place)).toBe(one.fewestBytes(place)), { interval: 1 })
})

test('a store in which others wrote before any was noted says nothing: no request is small enough', async () => {
  const store = newStore()
  await store.appendRows('usage', [{ text: '{}' }])
  expect(await known(placesOn(store))).toBe(0)
  expect(await known(placesOn(store))).toBe(0)
})

// It ended for good where a row was older than the word that all was noted, which was never written again.
test('what was not noted is gone when its time is up, and the word that all is noted is kept longer than that', async () => {
  let nowMs = BEGUN_MS
  const old = newStore()
  await old.appendRows('usage', [{ text: '{}' }])
  const places = () => placesOn(old, () => nowMs, 24 * HOUR_MS)
  expect(await known(places())).toBe(0)
  nowMs += 24 * HOUR_MS - 1
  expect(await known(places())).toBe(0)
  nowMs += 1
  expect(await known(places())).toBe(Infinity)

  const written: number[] = []
  const store = newStore()
  const counting: Store = {
    ...store,
    put: (entries) => {
      if (entries.some(({ key }) => key === 'compactions-noted-since')) written.push(nowMs)
      return store.put(entries)
    },
  }
  const fresh = placesOn(counting, () => nowMs, 24 * HOUR_MS)
  await known(fresh)
  const startedMs = nowMs
  await store.appendRows('usage', [{ text: '{}' }])
  nowMs += HOUR_MS
  await eventually(
    () => expect([fresh.fewestBytes(place), written]).toEqual([Infinity, [startedMs, nowMs]]),
    {
      interval: 1,
    },
  )
})

test('however often it is asked for, a place is looked up once at a time', async () => {
  const store = newStore()
  let lookedUp = 0
  const slow: Store = {
    ...store,
    getFirst: async (keys) => {
      if (keys[0]?.startsWith('compacted:') === true) lookedUp += 1
      await new Promise((resolve) => setTimeout(resolve, 20))
      return store.getFirst(keys)
    },
  }
  const places = placesOn(slow)
  for (let time = 0; time < 100; time += 1) places.fewestBytes(place)
  await known(places)
  expect(lookedUp).toBe(1)
})

test('what stands in the store and is no number lets none pass', async () => {
  const store = newStore()
  const places = placesOn(store)
  await known(places)
  await store.put([{ key: 'compacted:scope:default:model', value: 'damaged' }])
  expect(await known(placesOn(store))).toBe(0)
})

test('of a store that fails nothing is known', async () => {
  const places = placesOn({ ...newStore(), getFirst: failing, put: failing, readRows: failing })
  for (let round = 0; round < 5; round += 1) {
    expect(places.fewestBytes(place)).toBeNull()
    await new Promise(setImmediate)
  }
})
