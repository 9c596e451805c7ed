import { Tiktoken } from 'js-tiktoken/lite'
import cl100k from 'js-tiktoken/ranks/cl100k_base'
import o200k from 'js-tiktoken/ranks/o200k_base'
import { describe, expect, test } from 'vitest'
import { InvariantError } from '../../src/errors.ts'
import { runAtOnce } from '../../src/json/source.ts'
import { counterOver, vocabularySteps } from '../../src/tokens/bpe-counter.ts'
import { loadCounter } from '../../src/tokens/encodings.ts'
import { RANKS_STEP_CHARACTERS } from '../../src/tokens/rank-table.ts'

// Repeated, most of them are one single piece of any length.
const runs = [
  'a|A|=|/|0|é|中|あ|A中|aé中|😀|👩‍👧|𝐀'.split('|'),
  [' ', '\t', '\n', ' \n', '\u0301', '\u3000', '\ud83d', '\ude00', '\0'],
].flat()

describe.each([
  { name: 'o200k_base', file: o200k },
  { name: 'cl100k_base', file: cl100k },
])('$name', ({ file }) => {
  const counter = counterOver(runAtOnce(vocabularySteps(file)), 'own')
  const encoder = new Tiktoken(file)

  // js-tiktoken's own encoder is quadratic in the bytes of such a run: 25 kB would stop the process.
  test('a run of one character is counted in proportion to its length', () => {
    const counts = runs.map((run) => {
      // Tokens of one byte's run are up to 128 long. What has more bytes is told by fewer.
      const times = Buffer.byteLength(run) === 1 ? 384 : 48
      const expected = encoder.encode(run.repeat(times), [], []).length
      const wholes = 25_000 / (run.length * times)
      const [found, ofLong] = [times, times * Math.ceil(wholes)].map((count) =>
        counter.count(run.repeat(count)),
      )
      return { run, found, ofLong, expected, expectedOfLong: expected * Math.ceil(wholes) }
    })
    expect(counts.filter((count) => count.found !== count.expected)).toEqual([])
    const strayed = counts.filter(({ ofLong = 0, expectedOfLong }) => {
      const share = ofLong / expectedOfLong
      return share < 1 || share > 1.05
    })
    expect(strayed).toEqual([])
  })

  test('names of special tokens are ordinary text', () => {
    for (const special of Object.keys(file.special_tokens)) {
      expect(counter.count(special)).toBe(encoder.encode(special, [], []).length)
      expect(counter.count(special)).toBeGreaterThan(1)
    }
  })

  test('one word after very many blanks is found', () => {
    const blanks = ' '.repeat(300_000)
    expect(counter.count(`${blanks} word`)).toBe(counter.count(blanks) + counter.count(' word'))
  })

  const letters = Array.from({ length: 140_000 }, (_, at) => 'etaoinshrdlu'[(at * at) % 12])
  test.each([
    { kind: 'words', text: 'some words and more '.repeat(7_000) },
    { kind: 'one piece of one letter', text: 'a'.repeat(140_000) },
    { kind: 'one piece of many letters', text: letters.join('') },
    { kind: 'blanks', text: ' '.repeat(140_000) },
  ])('counting pauses at least every 32 kB in $kind', ({ text }) => {
    const steps = counter.countSteps(text)
    let pauses = 0
    let step = steps.next()
    for (; step.done !== true; step = steps.next()) pauses += 1
    expect(step.value).toBe(counter.count(text))
    expect(pauses).toBeGreaterThanOrEqual(Math.floor(text.length / 32_768))
  })

  test('a word that is longer than any counts about one more for each 256 characters', () => {
    const long = letters.slice(0, 2_000).join('')
    const exact = encoder.encode(long, [], []).length
    expect(counter.count(long)).toBeGreaterThanOrEqual(exact)
    expect(counter.count(long)).toBeLessThanOrEqual(exact + 2_000 / 256)
    const word = long.slice(0, 256)
    expect(counter.count(word)).toBe(encoder.encode(word, [], []).length)
  })

  // A window of the text is cut at a time: what stands across its end is no other piece for that.
  test('a text of any length is cut as a short one is', () => {
    const line = "it's 1234 words,\n\n   naïve 中文 ones -- and {\"more\": 'ones'}\n"
    for (let shift = 0; shift < line.length; shift += 1) {
      const text = `${'x'.repeat(shift)}\n${line.repeat(1_100)}`
      const head = counter.count(`${'x'.repeat(shift)}\n${line}`)
      const more = counter.count(line.repeat(3)) - counter.count(line.repeat(2))
      expect(counter.count(text)).toBe(head + 1_099 * more)
    }
  })
})

// Its table was made in one go at the first request that was counted: 100 ms in which no other was answered.
test('a rank file is read in steps, each of a small part of it', () => {
  const pauses = [...vocabularySteps(o200k)].length
  expect(pauses).toBeGreaterThanOrEqual(Math.floor(o200k.bpe_ranks.length / RANKS_STEP_CHARACTERS))
})

test('a rank file of another form is refused instead of counted wrongly', () => {
  expect(() => runAtOnce(vocabularySteps({ ...o200k, bpe_ranks: '! 100 IQ==\n! 300 Ig==' }))).toThrow(
    InvariantError,
  )
})

// A listing of files took a quarter more of Gemini's window than prose had told, and the prompt was beyond it.
test('what a family cuts apart is counted apart', async () => {
  const counters = await Promise.all(
    (['o200k_base', 'o200k_digits', 'o200k_apart'] as const).map((name) => loadCounter(name)),
  )
  const countsOf = (text: string) => counters.map(({ count }) => count(text))
  expect(countsOf('and then there was light')).toEqual([5, 5, 5])
  expect(countsOf('1234')).toEqual([2, 4, 4])
  expect(countsOf('(self,\n')).toEqual([2, 2, 4])
})

test('a counter is loaded once and counts in its own encoding', async () => {
  const [first, second, other] = await Promise.all([
    loadCounter('o200k_base'),
    loadCounter('o200k_base'),
    loadCounter('cl100k_base'),
  ])
  expect(second).toBe(first)
  expect(first.count('Привет, как дела?')).toBeLessThan(other.count('Привет, как дела?'))
})
