import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createFairShare, type FairShare, type Holder } from '../../src/scheduling/fair-share.ts'
import { forAll, weighed } from '../support/property-runs.ts'
import { times } from '../support/times.ts'

/** A request of a client, and whether it had to give way. */
type Asker = { readonly holder: Holder; readonly lease: ReturnType<FairShare['open']>; gaveWay: boolean }

function ask(share: FairShare, name: string, isAnswered = false): Asker {
  const holder: Holder = {
    name,
    isAnswered: () => isAnswered,
    giveWay: () => {
      asker.gaveWay = true
    },
  }
  const asker: Asker = { holder, lease: share.open(holder), gaveWay: false }
  return asker
}

/** Requests of one client that each took one. */
const takers = (share: FairShare, name: string, count: number, isAnswered = false): readonly Asker[] =>
  times(count, () => {
    const asker = ask(share, name, isAnswered)
    expect(asker.lease.take(1)).toBe('taken')
    return asker
  })

describe('of what there is', () => {
  test('one who is alone has all', () => {
    const share = createFairShare({ max: 4 })
    takers(share, 'ada', 4)
    expect(share.taken()).toBe(4)
    expect(ask(share, 'ada').lease.take(1)).toBe('full')
  })
})

describe('what was lent', () => {
  test('is called in where another misses it: the newest first, those with an answer last, and no more than is missing', () => {
    const share = createFairShare({ max: 8 })
    const answered = takers(share, 'ada', 2, true)
    const waiting = takers(share, 'ada', 4)
    const late = takers(share, 'ada', 2, true)
    const others = takers(share, 'ben', 3)
    expect(waiting.map(({ gaveWay }) => gaveWay)).toEqual([false, true, true, true])
    for (const { gaveWay } of [...answered, ...late, ...others]) expect(gaveWay).toBe(false)
    expect(share.taken()).toBe(8)
  })

  test('is not lent again while somebody waits, and is again when nobody does', () => {
    let nowMs = 0
    const share = createFairShare({ max: 4, nowMs: () => nowMs })
    const ada = takers(share, 'ada', 2)
    takers(share, 'ben', 2)
    expect(ask(share, 'cleo').lease.take(1)).toBe('full')
    ada[0]?.lease.release()
    expect(takers(share, 'ada', 1)).toHaveLength(1)
    ada[1]?.lease.release()
    expect(ask(share, 'ben').lease.take(1)).toBe('half')
    nowMs += 60_000
    expect(ask(share, 'ben').lease.take(1)).toBe('taken')
  })

  test('by one request that has more than half by itself is called in as a whole', () => {
    const share = createFairShare({ max: 10 })
    const large = ask(share, 'ada')
    expect(large.lease.take(9)).toBe('taken')
    expect(ask(share, 'ben').lease.take(4)).toBe('taken')
    expect(large.gaveWay).toBe(true)
    expect(large.lease.take(1)).toBe('full')
    expect(share.taken()).toBe(4)
  })
})

describe('whatever is taken and given back by whomever', () => {
  const names = ['ada', 'ben', 'cleo', 'dan']
  const step = fc.oneof(
    weighed(4, fc.record({ take: fc.constantFrom(...names), amount: fc.integer({ min: 1, max: 7 }) })),
    weighed(2, fc.record({ more: fc.nat(), amount: fc.integer({ min: 1, max: 7 }) })),
    weighed(2, fc.record({ release: fc.nat() })),
    weighed(1, fc.record({ passMs: fc.integer({ min: 1, max: 5_000 }) })),
  )

  test('nobody holds more than half while another waits for its own, nothing is beyond the whole, and nothing is lost', () => {
    forAll(500, fc.integer({ min: 1, max: 20 }), fc.array(step, { maxLength: 120 }), (max, steps) => {
      let nowMs = 0
      const share = createFairShare({ max, nowMs: () => nowMs })
      const half = Math.max(1, Math.floor(max / 2))
      /** Who was refused what it has a right to, and until when it waits before it asks again. */
      const waitsUntilMs = new Map<string, number>()
      const open: { readonly asker: Asker; amount: number }[] = []
      const heldBy = (name: string): number =>
        open
          .filter(({ asker }) => asker.holder.name === name && !asker.gaveWay)
          .reduce((sum, { amount }) => sum + amount, 0)

      function take(held: (typeof open)[number], amount: number): void {
        const { name } = held.asker.holder
        const own = heldBy(name) + amount
        const taking = held.asker.lease.take(amount)
        if (taking === 'taken') held.amount += amount
        else if (own <= half && !held.asker.gaveWay) waitsUntilMs.set(name, nowMs + 1_000)
      }

      for (const each of steps) {
        if ('take' in each) {
          const held = { asker: ask(share, each.take), amount: 0 }
          open.push(held)
          take(held, each.amount)
        } else if ('more' in each) {
          const held = open[each.more % Math.max(1, open.length)]
          if (held !== undefined) take(held, each.amount)
        } else if ('release' in each) {
          const [held] = open.splice(each.release % Math.max(1, open.length), 1)
          held?.asker.lease.release()
          held?.asker.lease.release()
        } else {
          nowMs += each.passMs
        }
        for (const [name, untilMs] of waitsUntilMs) {
          if (untilMs < nowMs) continue
          for (const other of names.filter((one) => one !== name))
            expect(heldBy(other)).toBeLessThanOrEqual(half)
        }
        const total = names.reduce((sum, name) => sum + heldBy(name), 0)
        expect(share.taken()).toBe(total)
        expect(total).toBeLessThanOrEqual(max)
        expect(names.filter((name) => heldBy(name) > half).length).toBeLessThanOrEqual(1)
      }
      for (const { asker } of open) asker.lease.release()
      expect(share.taken()).toBe(0)
    })
  })
})

test('it is crowded while so much is taken', () => {
  const share = createFairShare({ max: 100, crowdedFrom: 10 })
  const held = takers(share, 'ada', 20)
  expect(share.isCrowded()).toBe(true)
  for (const { lease } of held.slice(1)) lease.release()
  expect(share.isCrowded()).toBe(false)
  held[0]?.lease.release()
})
