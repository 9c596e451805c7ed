import { expect, test } from 'vitest'
import type { Mention } from '../../../src/compaction/recap/mentions.ts'
import { nameLines } from '../../../src/compaction/recap/names.ts'
import { createMadeCache } from '../../../src/compaction/made-cache.ts'
import { finish, type Steps } from '../../../src/conversation/source.ts'
import { subjectOf } from '../../support/subject.ts'
import { user } from '../sending.ts'

function* countCharacters(text: string): Steps<number> {
  yield
  return text.length
}

/** The lines for things that a user's message named: no call gives them a context. */
function linesFor(mentions: ReadonlyMap<string, Mention>): Steps<string[]> {
  const subject = { ...subjectOf([user('Well.')]), countSteps: countCharacters }
  return nameLines(subject, createMadeCache({ charsMax: 1e6 }), { mentions, standing: [], tokensMax: 500 })
}

/** Things of which some are as likely as others: by their place in the list they were named in more or fewer messages. */
function manyThings(count: number): Map<string, Mention> {
  return new Map(
    Array.from({ length: count }, (_, index) => [
      `src/file_${String(index).padStart(5, '0')}.ts`,
      {
        messages: 1 + ((index * 7) % 13),
        ofAssistant: 0,
        assistantAgeTokens: null,
        isUsers: false,
        words: '',
        latest: 0,
        first: 0,
      },
    ]),
  )
}

test('of thousands of things the likeliest are named, of equals those that were met first', () => {
  const things = manyThings(5_000)
  const likeliest = [...things].filter(([, { messages }]) => messages === 13).map(([name]) => name)
  const [line = ''] = finish(linesFor(things))
  const named = line.slice('- '.length).split(' ')
  expect(named.length).toBeGreaterThan(10)
  expect(named).toEqual(likeliest.slice(0, named.length))
})

// Twenty thousand names were judged and sorted in one go, which took others 25 ms.
test('thousands of things are judged in steps', () => {
  expect([...linesFor(manyThings(20_000))].length).toBeGreaterThanOrEqual(20)
})
