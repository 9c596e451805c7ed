import { expect, test } from 'vitest'
import { judgeHonest, judgeOllama } from './judge.ts'
import type { Scenario } from './orders.ts'
import type { Seen, Told } from './walk-talk.ts'

const silent: Told = { windows: [], warnings: [], failures: [] }

const seen = (given: Partial<Seen>): Seen => ({
  status: 200,
  windowTokens: 16_000,
  source: 'config',
  pressure: null,
  trueTokens: 5000,
  outputTokens: 1024,
  isRewritten: false,
  isCut: false,
  leastTokens: 0,
  ...given,
})

const scenario = (given: Partial<Scenario>): Scenario => ({
  family: 'honest',
  kind: 'openai',
  windowTokens: 16_000,
  configuredTokens: 16_000,
  ...given,
})

test('a window that is learnt over the one from settings is a miss, seen in an answer or an event', () => {
  const learnt = seen({ windowTokens: 6072, source: 'learnt', isRewritten: true })
  const event = { reason: 'cut', windowTokens: 6072 }
  const byHeader = judgeHonest(scenario({}), [seen({}), learnt], silent)
  expect(byHeader).toMatchObject({ windowsLearnt: 1, cutsConcluded: 0, falseWindows: 1, foldedEarly: 1 })
  const byBoth = judgeHonest(scenario({}), [seen({}), learnt], { ...silent, windows: [event] })
  expect(byBoth).toMatchObject({ windowsLearnt: 0, cutsConcluded: 1 })
  expect(byBoth.misses).not.toEqual([])
})

test('what a refusal stated may be learnt, and is then in force for good', () => {
  const auto = scenario({ configuredTokens: null })
  const assumed = seen({ windowTokens: 128_000, source: 'table' })
  const learnt = seen({ source: 'learnt' })
  const told = { ...silent, windows: [{ reason: 'refusal', windowTokens: 16_000 }] }
  expect(judgeHonest(auto, [assumed, learnt, learnt], told).misses).toEqual([])
  expect(judgeHonest(auto, [assumed, learnt, assumed], told).falseWindows).toBe(1)
})

const ollama = scenario({ family: 'ollama', kind: 'ollama-v1', windowTokens: 6000, configuredTokens: null })
const cut = seen({ windowTokens: 40_960, source: 'table', isCut: true, leastTokens: 500 })
const known = seen({ windowTokens: 5700, source: 'learnt' })

test('three requests may come out cut before the window is known, and no fourth', () => {
  expect(judgeOllama(ollama, [cut, cut, cut, known], silent).misses).toEqual([])
  expect(judgeOllama(ollama, [cut, cut, cut, cut, known], silent).misses).not.toEqual([])
  expect(
    judgeOllama(ollama, [cut, cut, cut, seen({ ...known, windowTokens: 4096 })], silent).misses,
  ).not.toEqual([])
})

test('where the server cannot be recognised nothing is concluded', () => {
  const hidden = { ...ollama, kind: 'ollama-gateway' }
  expect(judgeOllama(hidden, [cut, cut, cut, cut], silent).misses).toEqual([])
  expect(judgeOllama(hidden, [cut, known], silent).misses).not.toEqual([])
})

test('where the settings name more than it has, somebody is warned', () => {
  const named = { ...ollama, configuredTokens: 12_000 }
  const told = seen({ windowTokens: 12_000, source: 'config', isCut: true, leastTokens: 500 })
  const warned = { ...silent, warnings: ['prompts come out cut'] }
  expect(judgeOllama(named, [told, told, told, told], warned).misses).toEqual([])
  expect(judgeOllama(named, [told, told, told, told], silent).misses).not.toEqual([])
})
