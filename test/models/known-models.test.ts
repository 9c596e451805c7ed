import { modelKeyOf } from '../../src/models/model-key.ts'
import { expect, test } from 'vitest'
import { createCounts } from '../../src/models/counts/counts.ts'
import { createLearning } from '../../src/models/learn.ts'
import { noteCached, readsFromCache } from '../../src/models/prompt-caches.ts'
import { createWindows } from '../../src/models/windows.ts'
import { parseTarget } from '../../src/upstream/target.ts'
import { openMemoryStore } from '../../src/stores/memory-store.ts'
import { modelsOn, unknownWindow } from '../support/models.ts'

const hourMs = 3_600_000
const key = modelKeyOf('default', 'c1', 'm', 'http://upstream')
const other = modelKeyOf('default', 'c1', 'other', 'http://upstream')

function open(store = openMemoryStore({ bytesMax: 1_000_000, lifetimeMs: 0 })) {
  let nowMs = 1_000_000
  const models = modelsOn(store, () => nowMs)
  const windows = createWindows({ models, onLearnt: () => {} })
  const counts = createCounts({ models, promptsMax: 100 })
  const serverWindows = { lookup: () => null, refresh: () => {}, answered: () => {} }
  const learning = createLearning({ models, windows, counts, serverWindows, onCut: () => {} })
  return {
    models,
    windows,
    counts,
    learning,
    pass: (milliseconds: number) => void (nowMs += milliseconds),
    idOf: (model: string) => models.list().find((each) => each.key.model === model)?.id ?? '',
  }
}

test('the window in force is that of the next request: a refusal counts at once, and until its hour is over', () => {
  const { models, pass } = open()
  models.set(key, 'accepted', '', 'answer')
  expect(models.list()[0]?.window).toBeNull()
  models.noteWindow(key, 'small', { ...unknownWindow, configuredTokens: 32_000 })
  const window = () => models.list()[0]?.window
  expect(window()).toMatchObject({ tokens: 32_000, source: 'config', profile: 'small' })
  models.set(key, 'window', { tokens: 8_192, kind: 'total' }, 'refusal')
  expect(window()).toMatchObject({ tokens: 8_192, source: 'learnt', overruledTokens: 32_000 })
  pass(hourMs)
  expect(window()).toMatchObject({ tokens: 32_000, source: 'config', overruledTokens: null })
})

test('to forget a model is to forget what is kept of it beside its record, and nothing of others', () => {
  const { models, windows, counts, learning, idOf } = open()
  const answered = {
    textBytes: 400,
    counted: { ownTokens: 100, aroundTokens: 0, looseTokens: 0, conversationTokens: 100 },
    answeredBy: null,
    promptTokens: 120,
    since: null,
  }
  const beginnings = [{ prompt: 'p', conversationTokens: 100 }]
  for (const each of [key, other]) {
    models.set(each, 'name', 'a name', 'answer')
    windows.recovered(each, 'conversation', 9_000)
    counts.observe({ key: each, encoding: 'e' }, 'p', answered)
    oddAnswer(learning, each)
    noteCached(models, each, 10_000, 9_000)
  }
  expect(models.forgetAll(idOf('m'))).toBe(key)
  counts.forget(key)
  expect(models.list().map((model) => model.key)).toEqual([other])
  const left = (each: typeof key) => [
    windows.suggestedTokens(each, 'conversation'),
    counts.anchorAt({ key: each, encoding: 'e' }, beginnings)?.promptTokens ?? null,
    readsFromCache(models, each),
    learning.wantsCount(each, 'conversation'),
  ]
  expect(left(key)).toEqual([null, null, false, false])
  expect(left(other)).toEqual([8_999, 120, true, true])
  expect(models.forgetAll('nothing')).toBeNull()
})

/** An answer that reports far less than was sent: a doubt that the next prompt's count has to settle. */
function oddAnswer(learning: ReturnType<typeof open>['learning'], of: typeof key): void {
  const counted = {
    ownTokens: 9_000,
    aroundTokens: 0,
    looseTokens: 0,
    conversationTokens: 9_000,
    toolsTokens: 0,
    messageTokens: [9_000],
    ratio: 1,
    ratioMin: 0.5,
    anchor: null,
  }
  learning.answered(
    {
      modelKey: of,
      conversation: 'conversation',
      expectedTokens: 9_000,
      outputTokens: null,
      sent: { prompt: 'odd', encoding: 'e', beginnings: [], textBytes: 40_000, counted },
      question: {
        upstream: null,
        credential: of.credential,
        model: of.model,
        target: parseTarget('/v1/chat/completions'),
        rawHeaders: [],
        withholdCredential: false,
      },
      isAuto: false,
      isUsageUnasked: false,
    },
    {
      usage: { promptTokens: 100, cachedTokens: null, cacheWrittenTokens: null, completionTokens: 1 },
      overflow: null,
      model: null,
      isError: false,
      removedThoughts: null,
      cacheMiss: null,
      isOllama: false,
    },
    true,
  )
}

test('a model that is forgotten before its record was read stays so when it is', async () => {
  const store = openMemoryStore({ bytesMax: 1_000_000, lifetimeMs: 0 })
  const before = open(store)
  await before.models.load(key)
  before.models.set(key, 'window', { tokens: 8_192, kind: 'total' }, 'refusal')
  await before.models.close()
  const { models, idOf, pass } = open(store)
  pass(1)
  models.set(key, 'name', 'a name', 'answer')
  models.forgetAll(idOf('m'))
  await models.load(key)
  expect(models.get(key, 'window')).toBeNull()
})
