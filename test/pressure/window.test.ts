import { describe, expect, test } from 'vitest'
import { resolveWindow } from '../../src/pressure/window.ts'
import { windowTable } from '../../src/pressure/window-table.ts'

const nothing = { configuredTokens: null, maxTokens: null, learnt: null, model: 'a-model-nobody-knows' }

test.each(windowTable)('the row of $sample is the first that finds it', ({ sample, windowTokens, kind }) => {
  expect(resolveWindow({ ...nothing, model: sample })).toEqual({
    tokens: windowTokens,
    kind,
    source: 'table',
  })
})

test.each([
  ['gpt-4', 8192],
  ['openai/gpt-4o', 128_000],
  ['ft:gpt-4o-mini-2024-07-18:org::id', 128_000],
  ['o3', 200_000],
  ['gpt-5.3-codex', 272_000],
  ['gpt-6.1', 922_000],
  ['claude-3-5-sonnet-latest', 200_000],
  ['claude-haiku-4-5', 200_000],
  ['claude-opus-4-5-20251101', 200_000],
  ['claude-sonnet-4-20250514', 200_000],
  ['anthropic/claude-sonnet-4.6', 1_000_000],
  ['claude-opus-5-5', 1_000_000],
  ['meta-llama/Llama-3.1-8B-Instruct', 131_072],
  ['accounts/fireworks/models/llama-v3p1-70b-instruct', 131_072],
  ['mistral-large-2411', 128_000],
])('%s has a window of %d tokens', (model, tokens) => {
  expect(resolveWindow({ ...nothing, model }).tokens).toBe(tokens)
})

describe('where a window comes from', () => {
  test('a model that nobody described gets the default', () => {
    expect(resolveWindow(nothing)).toEqual({ tokens: 128_000, kind: 'total', source: 'default' })
  })

  test('what was learnt goes before the table, with its kind', () => {
    expect(resolveWindow({ ...nothing, model: 'gpt-4o', learnt: { tokens: 98_304, kind: 'input' } })).toEqual(
      {
        tokens: 98_304,
        kind: 'input',
        source: 'learnt',
      },
    )
  })

  test('the operator’s figure goes before what was learnt, unless the upstream refused less', () => {
    const configured = { ...nothing, configuredTokens: 32_000 }
    expect(resolveWindow({ ...configured, learnt: { tokens: 64_000, kind: 'total' } })).toEqual({
      tokens: 32_000,
      kind: 'total',
      source: 'config',
    })
    expect(resolveWindow({ ...configured, learnt: { tokens: 16_000, kind: 'total' } })).toEqual({
      tokens: 16_000,
      kind: 'total',
      source: 'learnt',
    })
  })

  test.each([
    { configuredTokens: 100_000, learnt: null },
    { configuredTokens: null, learnt: { tokens: 90_000, kind: 'total' as const } },
    { configuredTokens: null, learnt: null },
  ])('the ceiling holds over every source (%j)', (known) => {
    expect(resolveWindow({ ...nothing, ...known, maxTokens: 50_000 })).toEqual({
      ...resolveWindow({ ...nothing, ...known }),
      tokens: 50_000,
    })
    expect(resolveWindow({ ...nothing, ...known, maxTokens: 500_000 })).toEqual(
      resolveWindow({ ...nothing, ...known }),
    )
  })
})
