import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createWindowLearner, type WindowLearner } from '../../src/overflow/learning.ts'

const hourMs = 3_600_000
const key = { upstream: 'default', credential: 'c1', model: 'm' }
const open = () => createWindowLearner({ entriesMax: 10, lifetimeMs: hourMs })
const total = (tokens: number) => ({ tokens, kind: 'total' as const })

function taught(teach: (learner: WindowLearner) => void): WindowLearner {
  const learner = open()
  teach(learner)
  return learner
}

/** What a learner knows at a time, as it comes out of a store. */
const stored = (learner: WindowLearner, nowMs: number): unknown =>
  JSON.parse(JSON.stringify(learner.snapshot(key, nowMs)))

function joined(known: WindowLearner, other: WindowLearner, nowMs = 1000): WindowLearner {
  known.restore(key, stored(other, nowMs), 'beside', nowMs)
  return known
}

const refused = (tokens: number, nowMs: number) =>
  taught((learner) => learner.learn(key, total(tokens), nowMs))
const cut = (tokens: number, nowMs: number) =>
  taught((learner) => learner.learnCut(key, total(tokens), nowMs))
const unstated = (conversation: string, tokens: number, nowMs: number) =>
  taught((learner) => learner.learnUnstated(key, conversation, tokens, nowMs))

describe('what was learnt of windows, carried over', () => {
  test('is what it was, and ends when it would have ended', () => {
    const before = open()
    before.learn(key, total(8192), 0)
    before.learnUnstated(key, 'a', 6000, 1000)
    const after = open()
    after.restore(key, stored(before, 2000), 'instead', 2000)
    expect(after.lookup(key, 'a', 2000)).toEqual({ tokens: 5999, kind: 'input' })
    expect(after.lookup(key, 'b', 2000)).toEqual(total(8192))
    expect(after.lookup(key, 'b', hourMs)).toBeNull()
    expect(after.lookup(key, 'a', hourMs)).toEqual({ tokens: 5999, kind: 'input' })
    expect(after.lookup(key, 'a', hourMs + 1000)).toBeNull()
  })

  test('is nothing once it has ended', () => {
    expect(refused(8192, 0).snapshot(key, hourMs)).toBeNull()
    expect(unstated('a', 8192, 0).snapshot(key, hourMs)).toBeNull()
    expect(open().snapshot(key, 0)).toBeNull()
  })

  test('is known of its own key only (P9)', () => {
    const learner = open()
    learner.restore(key, stored(refused(8192, 0), 0), 'instead', 0)
    expect(learner.lookup({ ...key, credential: 'c2' }, 'a', 1)).toBeNull()
  })

  test('takes the place of all that was known, where it is to', () => {
    const learner = refused(8192, 500)
    learner.restore(key, stored(unstated('a', 6000, 0), 0), 'instead', 0)
    expect(learner.lookup(key, 'b', 1)).toBeNull()
    learner.restore(key, null, 'instead', 0)
    expect(learner.lookup(key, 'a', 1)).toBeNull()
  })

  test('does not last longer because another clock is ahead', () => {
    const learner = open()
    learner.restore(key, stored(refused(8192, 5 * hourMs), 0), 'instead', 0)
    expect(learner.lookup(key, 'a', hourMs)).toBeNull()
  })
})

describe('of two lessons', () => {
  test('the newer one stands', () => {
    expect(joined(refused(8192, 0), refused(4096, 1)).lookup(key, 'a', 1000)).toEqual(total(4096))
    expect(joined(refused(4096, 1), refused(8192, 0)).lookup(key, 'a', 1000)).toEqual(total(4096))
  })

  test('a refusal stands before a cut prompt, however new that is', () => {
    expect(joined(cut(4096, 1), refused(8192, 0)).lookup(key, 'a', 1000)).toEqual(total(8192))
    expect(joined(refused(8192, 0), cut(4096, 1)).lookup(key, 'a', 1000)).toEqual(total(8192))
  })

  test('the one that an answered prompt has raised stands', () => {
    const raised = refused(4096, 0)
    raised.succeeded(key, 5000)
    expect(joined(refused(4096, 0), raised).lookup(key, 'a', 1000)).toEqual(total(5000))
  })

  test('refusals without numbers confirm each other, and end where a window was stated since', () => {
    const both = joined(unstated('a', 9000, 0), unstated('b', 12_000, 0))
    expect(both.lookup(key, 'c', 1000)).toEqual({ tokens: 11_999, kind: 'input' })
    expect(joined(both, refused(16_384, 1)).lookup(key, 'a', 1000)).toEqual(total(16_384))
  })
})

describe('a snapshot that is damaged changes nothing', () => {
  const damaged: readonly unknown[] = [
    undefined,
    'text',
    [],
    {},
    { stated: null },
    { stated: { tokens: '8192', kind: 'total', by: 'refusal', untilMs: 1 }, unstated: [] },
    { stated: { tokens: 8192, kind: 'both', by: 'refusal', untilMs: 1 }, unstated: [] },
    { stated: { tokens: -1, kind: 'total', by: 'refusal', untilMs: 1 }, unstated: [] },
    { stated: null, unstated: [['a', 1]] },
    { stated: null, unstated: [['a', 100, null]] },
    { stated: null, unstated: Array.from({ length: 1000 }, (_, index) => [`c${index}`, 100, hourMs]) },
  ]
  test.each(damaged)('%j', (snapshot) => {
    for (const how of ['instead', 'beside'] as const) {
      const learner = refused(8192, 0)
      learner.restore(key, snapshot, how, 0)
      expect(learner.lookup(key, 'a', 1)).toEqual(total(8192))
    }
  })

  test('whatever it is, windows are looked up', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (snapshot) => {
        const learner = open()
        learner.restore(key, snapshot, 'beside', 0)
        expect(() => learner.lookup(key, 'a', 1)).not.toThrow()
      }),
    )
  })
})

test('a snapshot stays small, however many conversations were refused', () => {
  const learner = open()
  for (let index = 0; index < 500; index += 1) {
    learner.learnUnstated(key, `conversation-${index}`, 100_000 + index, 1_800_000_000_000)
  }
  expect(JSON.stringify(learner.snapshot(key, 1_800_000_000_000)).length).toBeLessThan(4096)
})
