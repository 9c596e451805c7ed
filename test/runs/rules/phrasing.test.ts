import { describe, expect, test } from 'vitest'
import { apart } from './apart-phrasings.ts'
import { known } from './known-phrasings.ts'
import { forms, listOf, type Phrasing, type Phrasings } from './phrasing.ts'

const PHRASINGS_LEAST = 150
const LANGUAGES_LEAST = 15

/** All that is said of a phrasing by anybody. */
function textsOf(phrasing: Phrasing): readonly string[] {
  const before = 'old' in phrasing ? [phrasing.old] : 'assistant' in phrasing ? [phrasing.assistant] : []
  return [phrasing.says, ...before]
}

/** By the words alone, without case and the marks at their ends. */
function isEitherIn(one: string, other: string): boolean {
  const [first, second] = [bare(one), bare(other)]
  return first.includes(second) || second.includes(first)
}

function bare(text: string): string {
  return text.toLowerCase().replaceAll(/^\p{P}+|\p{P}+$/gu, '')
}

/** All that anybody says of a half's rules; names of options are single words, which anything may hold. */
function textsOfHalf(half: Phrasings): readonly string[] {
  const options = half.scenarios.flatMap((scenario) => scenario.options)
  return [...listOf(half).flatMap(textsOf), ...options.map(({ text }) => text)]
}

describe.each([
  ['known', known],
  ['apart', apart],
])('the half %s', (_, half) => {
  const list = listOf(half)

  test('has phrasings by the hundred, of every form and in fifteen languages', () => {
    expect(list.length).toBeGreaterThanOrEqual(PHRASINGS_LEAST)
    expect(new Set(list.map(({ form }) => form))).toEqual(new Set(forms))
    expect(new Set(list.map(({ language }) => language)).size).toBe(LANGUAGES_LEAST)
  })

  test('says each rule in one sentence, which can be asked for as a whole', () => {
    const several = list.filter(({ says }) => /[.!?]\s|[。！？।]./.test(says))
    expect(several).toEqual([])
  })

  test('holds no phrasing that stands in another one', () => {
    const says = list.map((phrasing) => phrasing.says)
    const inside = says.filter((one, place) =>
      says.some((other, at) => at !== place && isEitherIn(one, other)),
    )
    expect(inside).toEqual([])
  })

  test('corrects by words that do not stand in what they correct, nor the other way round', () => {
    const inside = list.filter((phrasing) => 'old' in phrasing && isEitherIn(phrasing.old, phrasing.says))
    expect(inside).toEqual([])
  })
})

test('the halves share no phrasing, and no option', () => {
  const [one, other] = [known, apart].map(textsOfHalf)
  const shared = one?.filter((text) => other?.some((each) => isEitherIn(text, each)))
  expect(shared).toEqual([])
})
