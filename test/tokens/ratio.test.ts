import { expect, test } from 'vitest'
import { modelName } from '../../src/tokens/model-name.ts'
import { startingRatio, startingRatios } from '../../src/tokens/ratio.ts'

test.each(startingRatios)(
  'the row of $family is the first that its sample $sample finds',
  ({ sample, ratio, pattern }) => {
    expect(modelName(sample)).toMatch(pattern)
    expect(startingRatio(sample)).toBe(ratio)
  },
)

const exactModels = 'gpt-4o gpt-3.5-turbo gpt-35-turbo chatgpt-4o-latest o3 gpt-5.4 openai/gpt-oss-20b'
const olderClaudes =
  'claude-2.1 claude-instant-1.2 claude-3-5-sonnet-20241022 claude-sonnet-4-20250514 claude-opus-4-6 anthropic/claude-opus-4.5 ' +
  'us.anthropic.claude-sonnet-4-5-20250929-v1:0 claude-sonnet-4-5@20250929'
const newerClaudes =
  'claude-opus-4-7 anthropic/claude-opus-4.8 claude-opus-4-10 claude-opus-5 claude-haiku-5-5 claude-fable-5-1'

test.each(exactModels.split(' '))('%s is counted exactly', (model) => {
  expect(startingRatio(model)).toBe(1)
})

test.each(olderClaudes.split(' '))('%s has the old tokeniser', (model) => {
  expect(startingRatio(model)).toBe(1.2)
})

test.each(newerClaudes.split(' '))('%s has the new tokeniser', (model) => {
  expect(startingRatio(model)).toBe(1.5)
})

test('a family that is counted in another encoding than its own has the ratio of that', () => {
  expect(startingRatio('gemini-2.5-pro')).toBe(1)
  expect(startingRatio('gemini-2.5-pro', 'o200k_apart')).toBe(1)
  expect(startingRatio('gemini-2.5-pro', 'o200k_base')).toBe(1.15)
  expect(startingRatio('gpt-4o', 'cl100k_base')).toBe(1)
})

test('a model that nobody described is taken to need somewhat more', () => {
  expect(startingRatio('a-model-nobody-knows')).toBe(1.15)
})
