import { describe, expect, test } from 'vitest'
import type { Mention } from '../../../src/compaction/recap/mentions.ts'
import { likelihoodOf, needsWords } from '../../../src/compaction/recap/rank.ts'

const printed: Mention = {
  messages: 2,
  ofAssistant: 0,
  assistantAgeTokens: null,
  isUsers: false,
  words: '',
  latest: 0,
  first: 0,
}

describe('a thing is the likelier to come up again', () => {
  test.each<[string, string, Partial<Mention>, string, Partial<Mention>]>([
    [
      'the later the assistant named it',
      'a.ts',
      { ofAssistant: 1, assistantAgeTokens: 100 },
      'a.ts',
      { ofAssistant: 1, assistantAgeTokens: 90_000 },
    ],
    [
      'where the assistant named it at all',
      'a.ts',
      { ofAssistant: 1, assistantAgeTokens: 50_000 },
      'a.ts',
      {},
    ],
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
