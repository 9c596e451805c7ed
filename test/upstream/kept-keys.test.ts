import { expect, test } from 'vitest'
import { parseTarget } from '../../src/upstream/target.ts'

// The latest target was kept as it came, with the key in its query, until another one was asked for.
test('a target with a key in its query is read anew each time, and others are found again', () => {
  const bare = '/v1/chat/completions'
  expect(parseTarget(bare)).toBe(parseTarget(bare))
  const keyed = `${bare}?key=secret`
  expect(parseTarget(keyed)).toEqual({ upstreamName: null, path: bare, query: '?key=secret' })
  expect(parseTarget(keyed)).not.toBe(parseTarget(keyed))
})
