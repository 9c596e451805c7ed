import { describe, expect, test } from 'vitest'
import { resolveWindow } from '../../src/pressure/window.ts'

const nothing = {
  configuredTokens: null,
  maxTokens: null,
  learnt: null,
  server: null,
  names: ['a-model-nobody-knows'],
  host: null,
}

describe('where a window comes from', () => {
  test('a model that nobody described gets the default', () => {
    expect(resolveWindow(nothing)).toEqual({ tokens: 128_000, kind: 'total', source: 'default' })
  })

  test('the table knows a model by its name', () => {
    expect(resolveWindow({ ...nothing, names: ['gpt-4o'] })).toEqual({
      tokens: 128_000,
      kind: 'total',
      source: 'table',
    })
  })

  test('a name that nobody knows gives way to the one that answered', () => {
    expect(resolveWindow({ ...nothing, names: ['prod-chat', 'gpt-4-0613'] })).toEqual({
      tokens: 8192,
      kind: 'total',
      source: 'table',
    })
  })

  test('what the server has loaded goes before the table, and what was learnt before both', () => {
    const server = { tokens: 16_384, kind: 'total' as const }
    const asked = { ...nothing, names: ['gpt-4o'], server }
    expect(resolveWindow(asked)).toEqual({ ...server, source: 'server' })
    const learnt = { tokens: 8192, kind: 'input' as const }
    expect(resolveWindow({ ...asked, learnt })).toEqual({ ...learnt, source: 'learnt' })
    expect(resolveWindow({ ...asked, configuredTokens: 32_000 }).source).toBe('config')
  })

  test('what was learnt goes before the table, with its kind', () => {
    expect(
      resolveWindow({ ...nothing, names: ['gpt-4o'], learnt: { tokens: 98_304, kind: 'input' } }),
    ).toEqual({
      tokens: 98_304,
      kind: 'input',
      source: 'learnt',
    })
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
