import { describe, expect, test } from 'vitest'
import { likelihoodOf, type Mention, nameLines } from '../../../src/compaction/recap/names.ts'
import { needsWords, thingsIn } from '../../../src/compaction/history/specific-names.ts'
import { runAtOnce, type Pausable } from '../../../src/json/source.ts'
import { historyOf } from '../../support/subject.ts'
import { user } from '../sending.ts'
import { times } from '../../support/times.ts'

const namesIn = (text: string): string[] => [...thingsIn(text)].map((thing) => thing.name)

describe('the specific things that a text names', () => {
  test.each([
    ['paths', 'look at src/queue/retry.ts, then /etc/hosts.', ['src/queue/retry.ts', '/etc/hosts']],
    ['a path with a line', 'at ./lib/a.js:42', ['lib/a.js']],
    ['a path upwards', 'see ../shared/a.js.', ['../shared/a.js']],
    ['no closing tags', '<output>src/a.ts</output>', ['src/a.ts']],
    [
      'addresses of the web',
      'see https://a.example/7?tab=log#end for it',
      ['https://a.example/7?tab=log#end'],
    ],
    ['addresses of people', 'ask mara.lind@post.example about it', ['mara.lind@post.example']],
    ['ids', 'order ORD-77812 in 3f9a1c77e0 failed', ['ORD-77812', '3f9a1c77e0']],
    ['a UUID', 'key 7d3c1b7e-52aa-4b5e-9a53-0c8f0a3d6c11', ['7d3c1b7e-52aa-4b5e-9a53-0c8f0a3d6c11']],
    ['numbers of three digits and more', 'port 4821, 250 of 1024, in 7 of 12 steps', ['4821', '250', '1024']],
    ['dates and versions', 'since 2025-11-03 with 18.2.10', ['2025-11-03', '18.2.10']],
    ['identifiers', 'maxRetries or max_retries in a.options', ['maxRetries', 'max_retries', 'a.options']],
  ])('%s', (_, text, expected) => {
    expect(namesIn(text)).toEqual(expected)
  })

  test('do not include the words of a language and the marks around them', () => {
    expect(namesIn('Well, this is (as I said) a rather plain sentence; and so on... OK? -- Yes!')).toEqual([])
  })

  test('stand where they are said to stand', () => {
    const text = 'first "src/a.ts", then ...max_retries... and @team/pkg-name, 1024.'
    for (const { name, start, end } of thingsIn(text)) expect(text.slice(start, end)).toBe(name)
    expect(namesIn(text)).toHaveLength(4)
  })
})

describe('data is no name', () => {
  test.each([
    ['a line of base64', 'iVBORw0KGgo9A1'.repeat(60)],
    ['a word of a megabyte', 'a1b2'.repeat(250_000)],
    ['a megabyte of slashes', '/'.repeat(1_000_000)],
    ['a megabyte of dots', '.'.repeat(1_000_000)],
    ['a megabyte of at signs', '@'.repeat(1_000_000)],
    ['a megabyte of dashes and one letter', `${'-'.repeat(1_000_000)}a`],
    ['a megabyte of digits', '7'.repeat(1_000_000)],
  ])('%s is passed over, and what follows is found', (_, data) => {
    const found = namesIn(`${data} src/after.ts`)
    expect(found.at(-1)).toBe('src/after.ts')
    expect(found.length).toBeLessThanOrEqual(2)
  })

  test('a megabyte of addresses is read to its end', () => {
    expect(namesIn('https://a.example/x '.repeat(50_000))).toHaveLength(50_000)
  })
})

const printed: Mention = {
  messages: 2,
  ofAssistant: 0,
  assistantAgeTokens: null,
  isUsers: false,
  words: '',
  latest: 0,
  first: 0,
}
const byAssistant = (assistantAgeTokens: number) => ({ ofAssistant: 1, assistantAgeTokens })

describe('a thing is the likelier to come up again', () => {
  test.each<[string, string, Partial<Mention>, string, Partial<Mention>]>([
    ['the later the assistant named it', 'a.ts', byAssistant(100), 'a.ts', byAssistant(90_000)],
    ['where the assistant named it at all', 'a.ts', byAssistant(50_000), 'a.ts', {}],
    ['the more messages name it', 'a.ts', { messages: 9 }, 'a.ts', { messages: 2 }],
    ['where the user named it', 'a.ts', { isUsers: true }, 'a.ts', {}],
    ['where it is no number', 'a.ts', {}, '4711', {}],
    ['where it is no address of the web', 'a.ts', {}, 'https://a.example/b', {}],
    // The settings' file stood once, in what a tool printed, and was asked for forty turns later.
    ['where it is a whole path that was said once', '/srv/a/etc/b.toml', { messages: 1 }, 'a.ts', {}],
  ])('%s', (_, name, mention, otherName, other) => {
    expect(likelihoodOf(name, { ...printed, ...mention })).toBeGreaterThan(
      likelihoodOf(otherName, { ...printed, ...other }),
    )
  })

  test('always between never and certain', () => {
    for (const messages of [1, 1_000_000]) {
      const all = { ...printed, messages, ofAssistant: messages, assistantAgeTokens: 0, isUsers: true }
      expect(likelihoodOf('/a/b/c', all)).toBeLessThan(1)
      expect(likelihoodOf('https://a.example/b', printed)).toBeGreaterThan(0)
    }
  })
})

test.each([
  ['mara@post.example', true],
  ['ORD-77812', true],
  ['worker-77412', true],
  ['src/queue/retry.ts', false],
  ['max_retries', false],
  ['4711', false],
])('%s needs the words around it: %s', (name, needed) => {
  expect(needsWords(name)).toBe(needed)
})

function* countCharacters(text: string): Pausable<number> {
  yield
  return text.length
}

/** Things that are named in more or fewer messages by their place in the list. */
const manyThings = (count: number): Map<string, Mention> =>
  new Map(
    times(count, (index) => [
      `src/file_${String(index).padStart(5, '0')}.ts`,
      { ...printed, messages: 1 + ((index * 7) % 13) },
    ]),
  )

/** The lines for things that a user's message named: no call gives them a context. */
function linesFor(mentions: ReadonlyMap<string, Mention>): Pausable<string[]> {
  const history = { ...historyOf([user('Well.')]), countSteps: countCharacters }
  return nameLines(history, mentions, [], 500)
}

// A recap of two messages said `execute_bash: 784 832 160 128`, the sizes in a listing of a folder.
test('a bare number that only results named is not named; one that somebody took up is', () => {
  const mentions = new Map<string, Mention>([
    ['8321', { ...printed, messages: 1 }],
    ['784', { ...printed, messages: 1, ...byAssistant(100) }],
    ['4096', { ...printed, messages: 1, isUsers: true }],
    ['1729', { ...printed, messages: 7 }],
  ])
  const [line = ''] = runAtOnce(linesFor(mentions))
  expect(line.slice('- '.length).split(' ').toSorted()).toEqual(['4096', '784'])
})

describe('of thousands of things', () => {
  test('the likeliest are named, of equals those that were met first', () => {
    const things = manyThings(5_000)
    const likeliest = [...things].filter(([, { messages }]) => messages === 13).map(([name]) => name)
    const [line = ''] = runAtOnce(linesFor(things))
    const named = line.slice('- '.length).split(' ')
    expect(named.length).toBeGreaterThan(10)
    expect(named).toEqual(likeliest.slice(0, named.length))
  })

  // Twenty thousand names were judged and sorted in one go, which took others 25 ms.
  test('all are judged in steps', () => {
    expect([...linesFor(manyThings(20_000))].length).toBeGreaterThanOrEqual(20)
  })
})
