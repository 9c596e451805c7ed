import { modelKeyOf } from '../../src/models/model-key.ts'
import { expect, test } from 'vitest'
import { noteCached, readsFromCache } from '../../src/models/prompt-caches.ts'
import { modelsOn } from '../support/models.ts'

const key = modelKeyOf('http://upstream', 'a digest', 'coder', 'http://upstream')
const promptTokens = 10_000
const cached = 9_000

// A summary was asked for with a transcript whenever the request before it was the first of a compaction: that one had read
// nothing, as every first request of a compaction does, and the run's figures changed with how busy the machine was.
test('the first request of a compaction, which reads nothing, does not stand for its provider', () => {
  const models = modelsOn()
  noteCached(models, key, promptTokens, cached)
  noteCached(models, key, promptTokens, 0)
  expect(readsFromCache(models, key)).toBe(true)
  noteCached(models, key, promptTokens, cached)
  noteCached(models, key, promptTokens, 0)
  expect(readsFromCache(models, key)).toBe(true)
})

test('a provider that read nothing twice in a row is not taken to have a cache', () => {
  const models = modelsOn()
  expect(readsFromCache(models, key)).toBe(false)
  noteCached(models, key, promptTokens, null)
  expect(readsFromCache(models, key)).toBe(false)
  noteCached(models, key, promptTokens, cached)
  noteCached(models, key, promptTokens, 0)
  noteCached(models, key, promptTokens, null)
  expect(readsFromCache(models, key)).toBe(false)
  expect(
    readsFromCache(models, modelKeyOf('http://upstream', 'a digest', 'another', 'http://upstream')),
  ).toBe(false)
})

test('a short prompt says nothing: not everybody caches those', () => {
  const models = modelsOn()
  noteCached(models, key, promptTokens, cached)
  noteCached(models, key, 1000, 0)
  noteCached(models, key, 1000, 0)
  expect(readsFromCache(models, key)).toBe(true)
})
