import { expect, test } from 'vitest'
import { createCalibration } from '../../../src/pressure/calibration/calibration.ts'
import { describeReport } from '../../../src/proxy/measure/reported-prompt.ts'
import type { SentBeginning, SentCount, SentPrompt } from '../../../src/proxy/measure/sent-prompt.ts'

const usage = { promptTokens: 5000, alternativePromptTokens: null, completionTokens: 5, cachedTokens: null }

const counted = (ownTokens: number, aroundTokens: number): SentCount => ({
  ownTokens,
  aroundTokens,
  looseTokens: 0,
  conversationTokens: ownTokens - aroundTokens,
  ratio: 1,
  ratioMin: 1,
  toolsTokens: 0,
  messageTokens: [],
  anchor: null,
})

const beginning: SentBeginning = {
  prompt: 'p1',
  replyBytes: 400,
  counted: { addedTextTokens: 1000, looseTokens: 0 },
}

/** What is known of a prompt of 20,000 bytes, whose beginning of 16,000 this model has answered. */
function describe(
  then: { aroundTokens?: number; answeredBy?: string; textBytes?: number },
  now: Partial<SentPrompt> = {},
) {
  const { aroundTokens = 1000, answeredBy = 'm', textBytes = 16_000 } = then
  const calibration = createCalibration({ namesMax: 10, promptsMax: 10 })
  calibration.observe('name', 'p1', {
    textBytes,
    counted: counted(4000, aroundTokens),
    promptTokens: 4100,
    answeredBy,
    since: null,
    hasCountedCached: false,
  })
  const sent = {
    prompt: 'p2',
    beginnings: [beginning],
    textBytes: 20_000,
    counted: counted(5000, 1000),
    calibrationName: 'name',
    ...now,
  }
  return describeReport(sent, 5100, usage, 'm', calibration)
}

test('what the same model has counted of a beginning is held against the report', () => {
  expect(describe({}).beginnings).toEqual([{ promptTokens: 4100, looseTokens: 0, addedTokensMin: 1000 }])
})

test('what another model counted is not', () => {
  expect(describe({ answeredBy: 'other' }).beginnings).toEqual([])
})

test('nor is a prompt with more around the conversation: tools that have been taken away since', () => {
  expect(describe({ aroundTokens: 3000 }).beginnings).toEqual([])
  expect(describe({ aroundTokens: 1050 }).beginnings).toHaveLength(1)
  expect(describe({ textBytes: 20_001 }).beginnings).toEqual([])
})

test('the uncached part is what was added, with the reply that the server may have kept and without', () => {
  expect(describe({}).addedTokens).toEqual([1000, 900])
  // A model that was never counted here has no part of this in its cache but what is around conversations.
  expect(describe({}, { beginnings: [] }).addedTokens).toEqual([4000])
})

test('where nothing was counted, bytes stand for it at the rate of the beginning', () => {
  const { beginnings, addedTokens, counted: none } = describe({}, { counted: null })
  expect(none).toBeNull()
  expect(beginnings).toEqual([{ promptTokens: 4100, looseTokens: 0, addedTokensMin: 1025 }])
  expect(addedTokens.map(Math.round)).toEqual([1025, 922])
})
