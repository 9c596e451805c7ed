import { expect, test } from 'vitest'
import { createPromptCaches } from '../../src/models/prompt-caches.ts'

const key = { upstream: 'http://upstream', credential: 'a digest', model: 'coder' }
const promptTokens = 10_000
const cached = 9_000

// A summary was asked for with a transcript whenever the request before it was the first of a compaction: that one had read
// nothing, as every first request of a compaction does, and the run's figures changed with how busy the machine was.
test('the first request of a compaction, which reads nothing, does not stand for its provider', () => {
  const caches = createPromptCaches()
  caches.note(key, promptTokens, cached)
  caches.note(key, promptTokens, 0)
  expect(caches.isRead(key)).toBe(true)
  caches.note(key, promptTokens, cached)
  caches.note(key, promptTokens, 0)
  expect(caches.isRead(key)).toBe(true)
})

test('a provider that read nothing twice in a row is not taken to have a cache', () => {
  const caches = createPromptCaches()
  expect(caches.isRead(key)).toBe(false)
  caches.note(key, promptTokens, null)
  expect(caches.isRead(key)).toBe(false)
  caches.note(key, promptTokens, cached)
  caches.note(key, promptTokens, 0)
  caches.note(key, promptTokens, null)
  expect(caches.isRead(key)).toBe(false)
  expect(caches.isRead({ ...key, model: 'another' })).toBe(false)
})

test('a short prompt says nothing: not everybody caches those', () => {
  const caches = createPromptCaches()
  caches.note(key, promptTokens, cached)
  caches.note(key, 1000, 0)
  caches.note(key, 1000, 0)
  expect(caches.isRead(key)).toBe(true)
})
