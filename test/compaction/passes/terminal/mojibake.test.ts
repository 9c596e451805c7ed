import { expect, test } from 'vitest'
import { isWithinMojibake, mojibakeLength } from '../../../../src/compaction/passes/terminal/mojibake.ts'

function asLatin1(text: string): string {
  return String.fromCharCode(...new TextEncoder().encode(text))
}

test('UTF-8 that was read as Latin-1 is known by its lead and the number of what follows', () => {
  expect(['é', '”', '🚀'].map((character) => mojibakeLength(asLatin1(character), 0))).toEqual([2, 3, 4])
  expect(mojibakeLength('é\u009b0m', 0)).toBe(0)
  expect(mojibakeLength('a', 0)).toBe(0)
})

test('its parts are known from behind', () => {
  const text = `a${asLatin1('”')}b`
  expect(Array.from(text, (_, index) => isWithinMojibake(text, index))).toEqual([
    false,
    false,
    true,
    true,
    false,
  ])
  expect(isWithinMojibake('é\u009b0m', 1)).toBe(false)
})
