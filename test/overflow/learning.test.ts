import { describe, expect, test } from 'vitest'
import { plainClassification, type Classification } from '../../src/overflow/classification.ts'
import { createWindowLearner } from '../../src/overflow/learning.ts'

const hourMs = 3_600_000
const key = { upstream: 'http://u/v1', credential: 'c1', model: 'm' }
const open = (entriesMax = 100) => createWindowLearner({ entriesMax, lifetimeMs: hourMs })
const total = (tokens: number) => ({ tokens, kind: 'total' as const })

const overflow: Classification = plainClassification('overflow', 'compact')

const taughtBy = (classification: Classification) => {
  const learner = open()
  learner.learnFrom(key, { classification, conversation: 'a', sentTokens: 9000 }, 0)
  return { own: learner.lookup(key, 'a', 1), others: learner.lookup(key, 'b', 1) }
}

const keyed = (model: string) => ({ ...key, model })

describe('a stated window', () => {
  test('holds for every conversation of the same upstream, credential and model, and for no other', () => {
    const learner = open()
    learner.learn(key, { tokens: 8192, kind: 'input' }, 0)

    expect(learner.lookup(key, 'a', 1)).toEqual({ tokens: 8192, kind: 'input' })
    expect(learner.lookup(key, 'b', 1)).toEqual({ tokens: 8192, kind: 'input' })
    for (const other of [{ upstream: 'http://v/v1' }, { credential: 'c2' }, { model: 'n' }]) {
      expect(learner.lookup({ ...key, ...other }, 'a', 1)).toBeNull()
    }
  })

  test('expires, which is the probe upwards', () => {
    const learner = open()
    learner.learn(key, total(8192), 0)
    expect(learner.lookup(key, 'a', hourMs - 1)).toEqual(total(8192))
    expect(learner.lookup(key, 'a', hourMs)).toBeNull()
  })

  // The clock was a day ahead until it was corrected, and a window that had been learnt by then lasted for that day.
  test('that was learnt before the clock went back expires in time all the same', () => {
    const learner = open()
    learner.learn(key, total(8192), 24 * hourMs)
    learner.learnUnstated(keyed('n'), 'a', 9000, 24 * hourMs)
    expect(learner.lookup(key, 'a', 0)).toEqual(total(8192))
    expect(learner.lookup(keyed('n'), 'a', 0)).not.toBeNull()
    expect(learner.lookup(key, 'a', hourMs)).toBeNull()
    expect(learner.lookup(keyed('n'), 'a', hourMs)).toBeNull()
  })

  test('is replaced by a newer one, raised by a success that disproves it, and forgotten on demand', () => {
    const learner = open()
    learner.learn(key, total(8192), 0)
    learner.learn(key, total(4096), 0)
    learner.succeeded(key, 4000)
    expect(learner.lookup(key, 'a', 1)).toEqual(total(4096))
    learner.succeeded(key, 5000)
    expect(learner.lookup(key, 'a', 1)).toEqual(total(5000))
    learner.forget(key)
    expect(learner.lookup(key, 'a', 1)).toBeNull()
  })
})

describe('a refusal without numbers', () => {
  test('holds for its own conversation until a second one confirms it', () => {
    const learner = open()
    learner.learnUnstated(key, 'a', 10_000, 0)
    expect(learner.lookup(key, 'a', 1)).toEqual({ tokens: 9999, kind: 'input' })
    expect(learner.lookup(key, 'b', 1)).toBeNull()

    learner.learnUnstated(key, 'a', 9000, 0)
    expect(learner.lookup(key, 'b', 1)).toBeNull()

    learner.learnUnstated(key, 'b', 12_000, 0)
    expect(learner.lookup(key, 'c', 1)).toEqual({ tokens: 11_999, kind: 'input' })
    expect(learner.lookup(key, 'a', 1)).toEqual({ tokens: 8999, kind: 'input' })
  })

  test('is dropped when a larger prompt is answered', () => {
    const learner = open()
    learner.learnUnstated(key, 'a', 10_000, 0)
    learner.succeeded(key, 9000)
    expect(learner.lookup(key, 'a', 1)).not.toBeNull()
    learner.succeeded(key, 10_000)
    expect(learner.lookup(key, 'a', 1)).toBeNull()
  })

  test('tightens a stated window, and gives way to a newer one', () => {
    const learner = open()
    learner.learn(key, total(8192), 0)
    learner.learnUnstated(key, 'a', 6000, 0)
    expect(learner.lookup(key, 'a', 1)).toEqual({ tokens: 5999, kind: 'input' })
    expect(learner.lookup(key, 'b', 1)).toEqual(total(8192))
    learner.learn(key, total(8192), 0)
    expect(learner.lookup(key, 'a', 1)).toEqual(total(8192))
  })
})

describe('a classified answer teaches', () => {
  test('its window, where it states one, and never a prompt size', () => {
    const bound = { ...overflow, window: total(8192), promptTokens: { tokens: 4097, exact: false } }
    expect(taughtBy(bound)).toEqual({ own: total(8192), others: total(8192) })
    expect(taughtBy({ ...bound, class: 'output_too_large' }).own).toEqual(total(8192))
  })

  test('what was sent, where it states none', () => {
    const bound = { ...overflow, promptTokens: { tokens: 50, exact: false } }
    expect(taughtBy(bound)).toEqual({ own: { tokens: 8999, kind: 'input' }, others: null })
  })

  test.each(['payload_too_large', 'output_too_large', 'rate', 'order', 'denied', 'other'] as const)(
    'nothing, if it is of class %s and states no window',
    (answerClass) => {
      expect(taughtBy(plainClassification(answerClass))).toEqual({ own: null, others: null })
    },
  )
})

test('the keys unused for longest are forgotten first', () => {
  const learner = open(2)
  learner.learn(keyed('a'), total(1000), 0)
  learner.learn(keyed('b'), total(1000), 0)
  learner.lookup(keyed('a'), 'x', 1)
  learner.learn(keyed('c'), total(1000), 0)
  expect(['a', 'b', 'c'].map((model) => learner.lookup(keyed(model), 'x', 1) !== null)).toEqual([
    true,
    false,
    true,
  ])
})
