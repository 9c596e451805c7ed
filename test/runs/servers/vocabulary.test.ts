import { expect, test } from 'vitest'
import { smallVocabulary } from './vocabulary.ts'

test('every byte is a token of its own, so that any text can be written', () => {
  const { tokens } = smallVocabulary(300)
  expect(tokens.filter((token) => token.length === 1)).toHaveLength(256)
  expect(new Set(tokens).size).toBe(300)
})

test('every longer token is what joining a pair gives, and in the order of their ranks', () => {
  const { tokens, merges } = smallVocabulary(2000)
  expect(merges.map((pair) => pair.replace(' ', ''))).toEqual(tokens.filter((token) => token.length > 1))
  expect(merges.flatMap((pair) => pair.split(' ')).filter((part) => !tokens.includes(part))).toEqual([])
})
