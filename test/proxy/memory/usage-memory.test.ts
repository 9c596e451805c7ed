import { describe, expect, test } from 'vitest'
import { createUsageMemory } from '../../../src/proxy/memory/usage-memory.ts'

const createMemory = () => createUsageMemory(() => 0)

const key = { upstream: 'default', credential: 'a', model: 'm' }

describe('usage is not asked for', () => {
  test('where it was stated unasked', () => {
    const memory = createMemory()
    expect(memory.mayAsk(key)).toBe(true)
    memory.stated(key)
    expect(memory.mayAsk(key)).toBe(false)
  })

  test.each(['named', 'guessed'] as const)('where asking was refused (%s)', (how) => {
    const memory = createMemory()
    memory.refused(key, how)
    expect(memory.mayAsk(key)).toBe(false)
  })

  test('but for another model, credential or upstream it is (P9)', () => {
    const memory = createMemory()
    memory.refused(key, 'named')
    for (const other of [{ model: 'n' }, { credential: 'b' }, { upstream: 'cheap' }]) {
      expect(memory.mayAsk({ ...key, ...other })).toBe(true)
    }
  })
})
