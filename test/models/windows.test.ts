import { modelKeyOf } from '../../src/models/model-record.ts'
import { describe, expect, test } from 'vitest'
import { createWindows, type LearntWindow, type Refusal } from '../../src/models/windows.ts'
import { modelsOn } from '../support/models.ts'

const hourMs = 3_600_000
const key = modelKeyOf('default', 'c1', 'm', 'http://upstream')

function open() {
  let nowMs = 1_000_000
  const told: LearntWindow[] = []
  const models = modelsOn(undefined, () => nowMs)
  const windows = createWindows({ models, onLearnt: (lesson) => void told.push(lesson) })
  return {
    windows,
    told,
    states: (configuredTokens: number) => {
      const nothing = {
        maxTokens: null,
        learnt: null,
        suggestedTokens: null,
        answeredTokens: 0,
        server: null,
      }
      const sources = {
        ...nothing,
        configuredTokens,
        names: [],
        host: null,
        reserve: { tokens: 0, of: 'profile' as const },
      }
      models.noteWindow(key, 'default', sources)
    },
    pass: (milliseconds: number) => void (nowMs += milliseconds),
    learnt: (of = key) => models.get(of, 'window'),
    refused: (
      refusal: Partial<Refusal> & { window?: number | null; prompt?: number },
      conversation = 'a',
    ) => {
      const { window = 8192, prompt } = refusal
      windows.refused(key, conversation, {
        classification: {
          class: 'overflow',
          window: window === null ? null : { tokens: window, kind: 'total' },
          promptTokens: prompt === undefined ? null : { tokens: prompt, exact: true },
          remedy: 'compact',
        },
        expectedTokens: 9000,
        outputTokens: null,
        ...refusal,
      })
    },
  }
}

describe('a refusal with numbers', () => {
  test('is believed at once, for an hour, of this upstream, credential and model', () => {
    const { refused, learnt, pass, told } = open()
    refused({})
    expect(learnt()).toEqual({ tokens: 8192, kind: 'total' })
    for (const other of [
      modelKeyOf('v', 'c1', 'm', 'http://upstream'),
      modelKeyOf('default', 'c2', 'm', 'http://upstream'),
      modelKeyOf('default', 'c1', 'n', 'http://upstream'),
    ])
      expect(learnt(other)).toBeNull()
    refused({})
    expect(told).toHaveLength(1)
    pass(hourMs - 1)
    expect(learnt()).not.toBeNull()
    pass(1)
    expect(learnt()).toBeNull()
  })

  test('is replaced by a newer one, and raised by a prompt that was answered beyond it', () => {
    const { windows, refused, learnt } = open()
    refused({})
    refused({ window: 4096 })
    windows.answered(key, 4000, 0)
    expect(learnt()?.tokens).toBe(4096)
    windows.answered(key, 5000, 0)
    expect(learnt()?.tokens).toBe(5000)
  })

  test('that contradicts an answered prompt is believed when another conversation hears it, too', () => {
    const { windows, refused, learnt } = open()
    windows.answered(key, 7000, 0)
    for (const window of [4096, 2048, 2048]) {
      refused({ window })
      expect(learnt()).toBeNull()
    }
    refused({ window: 2048 }, 'b')
    expect(learnt()?.tokens).toBe(2048)
    // What was answered long ago contradicts nothing.
    const later = open()
    later.windows.answered(key, 7000, 0)
    later.pass(hourMs)
    later.refused({ window: 4096 })
    expect(later.learnt()?.tokens).toBe(4096)
  })

  // The story: `<400> InternalError.Algo.…` was read as a window of 400 tokens, and for an hour every conversation of that
  // model was cut to 180.
  test('that is far below what is stated is believed when two agree', () => {
    const { states, refused, learnt } = open()
    states(128_000)
    for (const window of [4096, 2048]) {
      refused({ window })
      expect(learnt()).toBeNull()
    }
    refused({ window: 2048 })
    expect(learnt()?.tokens).toBe(2048)
    const near = open()
    near.states(16_384)
    near.refused({ window: 2048 })
    expect(near.learnt()?.tokens).toBe(2048)
  })

  test.each([
    ['of more than the prompt has', { window: 16_000, expectedTokens: 300 }, undefined],
    ['of another prompt', { window: 100, prompt: 120, expectedTokens: 9000 }, undefined],
    ['that its output exceeded', { window: 8192, expectedTokens: 300, outputTokens: 9000 }, 8192],
  ])('that cannot be about this prompt is not believed: one %s', (_, refusal, tokens) => {
    const { refused, learnt } = open()
    refused(refusal)
    expect(learnt()?.tokens).toBe(tokens)
  })
})

describe('refusals without numbers', () => {
  test('suggest a window to their conversation once a smaller form was answered, and to all once two agree', () => {
    const { windows, learnt, told } = open()
    windows.recovered(key, 'a', 10_000)
    expect(windows.suggestedTokens(key, 'a')).toBe(9999)
    expect(windows.suggestedTokens(key, 'b')).toBeNull()
    windows.recovered(key, 'a', 9000)
    expect(learnt()).toBeNull()
    windows.recovered(key, 'b', 12_000)
    expect(learnt()).toEqual({ tokens: 11_999, kind: 'input' })
    expect(windows.suggestedTokens(key, 'a')).toBe(8999)
    const lessons = told.map(({ by, conversation }) => `${by} ${conversation}`)
    expect(lessons).toEqual(['unstated a', 'unstated a', 'unstated null'])
  })

  test('never suggest less than a prompt that was answered', () => {
    const { windows } = open()
    windows.answered(key, 9500, 0)
    windows.recovered(key, 'a', 9000)
    expect(windows.suggestedTokens(key, 'a')).toBeNull()
    windows.recovered(key, 'a', 12_000)
    windows.answered(key, 13_000, 0)
    expect(windows.suggestedTokens(key, 'a')).toBeNull()
  })

  test('do not take the place of one with numbers, which ends their suggestions', () => {
    const { windows, refused, learnt } = open()
    windows.recovered(key, 'a', 7000)
    refused({})
    expect(windows.suggestedTokens(key, 'a')).toBeNull()
    windows.recovered(key, 'a', 6000)
    windows.recovered(key, 'b', 6000)
    expect(learnt()?.tokens).toBe(8192)
  })
})

test('a server that refuses does not cut', () => {
  const { windows, refused, learnt } = open()
  windows.cut(key, { tokens: 4096, kind: 'total' })
  expect(learnt()?.tokens).toBe(4096)
  refused({})
  windows.cut(key, { tokens: 4096, kind: 'total' })
  expect(learnt()?.tokens).toBe(8192)
})
