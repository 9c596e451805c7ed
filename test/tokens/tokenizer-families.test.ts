import { describe, expect, test } from 'vitest'
import { encodingFor, familyFinder, startingRatio } from '../../src/tokens/tokenizer-families.ts'
import rows from '../../src/tokens/model-families.json' with { type: 'json' }

describe.each<readonly [string, readonly { family: string; pattern: string; sample: string }[]]>([
  ['ratios', rows.ratios],
  ['tools', rows.tools],
  ['images', rows.images],
])('in the table of %s', (_, table) => {
  test('a row is the first that its sample finds', () => {
    const others = table.filter((row) => familyFinder(table)(row.sample) !== row)
    expect(others).toEqual([])
  })
})

const olderClaudes =
  'claude-2.1 claude-instant-1.2 claude-3-5-sonnet-20241022 claude-sonnet-4-20250514 claude-opus-4-6 anthropic/claude-opus-4.5 ' +
  'us.anthropic.claude-sonnet-4-5-20250929-v1:0 claude-sonnet-4-5@20250929'
const newerClaudes =
  'claude-opus-4-7 anthropic/claude-opus-4.8 claude-opus-4-10 claude-opus-5 claude-haiku-5-5 claude-fable-5-1'

test.each([
  [1, 'gpt-4o gpt-3.5-turbo gpt-35-turbo chatgpt-4o-latest o3 gpt-5.4 openai/gpt-oss-20b'],
  [1.2, olderClaudes],
  [1.5, newerClaudes],
  // A model that nobody described is taken to need somewhat more.
  [1.15, 'a-model-nobody-knows'],
])('a token counted here is %d of the tokeniser of %s', (ratio, models) => {
  expect(models.split(' ').filter((model) => startingRatio(model).ratio !== ratio)).toEqual([])
})

test('a family that is counted in another encoding than its own has the ratio of that', () => {
  expect(startingRatio('gemini-2.5-pro').ratio).toBe(1)
  expect(startingRatio('gemini-2.5-pro', { ratio: null, encoding: 'o200k_apart' }).ratio).toBe(1)
  expect(startingRatio('gemini-2.5-pro', { ratio: null, encoding: 'o200k_base' }).ratio).toBe(1.15)
  expect(startingRatio('gpt-4o', { ratio: null, encoding: 'cl100k_base' }).ratio).toBe(1)
})

const olderModels =
  'gpt-4 gpt-4-0613 gpt-4-32k gpt-4-turbo-2024-04-09 gpt-4-1106-preview openai/gpt-4 my-gpt-4-deployment gpt-3.5-turbo ' +
  'gpt-35-turbo-16k ft:gpt-3.5-turbo:org::id text-embedding-3-small text-embedding-ada-002'
const otherModels =
  'gpt-4o gpt-4o-mini chatgpt-4o-latest gpt-4.1 gpt-4.5-preview gpt-41 o1 o3-mini gpt-5.4 gpt-6 gpt-oss-120b ' +
  'claude-sonnet-4-5 llama-3.3-70b deepseek-chat a-model-nobody-knows'

test.each([
  ['cl100k_base', olderModels],
  ['o200k_base', ` ${otherModels}`],
  ['o200k_digits', 'qwen3-8b qwen/qwq-32b mistral-large-2512 codestral-2508'],
  ['o200k_apart', 'gemini-3-pro-preview google/gemma-3-27b-it llama-2-7b-chat mixtral-8x7b'],
])('%s is the encoding of%s', (encoding, models) => {
  expect(models.split(' ').filter((model) => encodingFor(model) !== encoding)).toEqual([])
})
