import { expect, test } from 'vitest'
import { encodingFor, loadCounter } from '../../src/tokens/encodings.ts'

const olderModels =
  'gpt-4 gpt-4-0613 gpt-4-32k gpt-4-turbo-2024-04-09 gpt-4-1106-preview openai/gpt-4 my-gpt-4-deployment gpt-3.5-turbo ' +
  'gpt-35-turbo-16k ft:gpt-3.5-turbo:org::id text-embedding-3-small text-embedding-ada-002'
const otherModels =
  'gpt-4o gpt-4o-mini chatgpt-4o-latest gpt-4.1 gpt-4.5-preview gpt-41 o1 o3-mini gpt-5.4 gpt-6 gpt-oss-120b ' +
  'claude-sonnet-4-5 llama-3.3-70b deepseek-chat a-model-nobody-knows'

test.each(olderModels.split(' '))('%s is counted in cl100k_base', (model) => {
  expect(encodingFor(model)).toBe('cl100k_base')
})

test.each(['', ...otherModels.split(' ')])('%j is counted in o200k_base', (model) => {
  expect(encodingFor(model)).toBe('o200k_base')
})

test.each('qwen3-8b qwen/qwq-32b mistral-large-2512 codestral-2508'.split(' '))(
  '%s is counted with each digit by itself',
  (model) => {
    expect(encodingFor(model)).toBe('o200k_digits')
  },
)

test.each('gemini-3-pro-preview google/gemma-3-27b-it llama-2-7b-chat mixtral-8x7b'.split(' '))(
  '%s is counted with digits, signs and line ends apart',
  (model) => {
    expect(encodingFor(model)).toBe('o200k_apart')
  },
)

// A listing of files took a quarter more of Gemini's window than prose had told, and the prompt was beyond it.
test('what a family cuts apart is counted apart', async () => {
  const [own, digits, apart] = await Promise.all([
    loadCounter('o200k_base'),
    loadCounter('o200k_digits'),
    loadCounter('o200k_apart'),
  ])
  const countsOf = (text: string) => [own, digits, apart].map(({ count }) => count(text))
  expect(countsOf('and then there was light')).toEqual([5, 5, 5])
  expect(countsOf('1234')).toEqual([2, 4, 4])
  expect(countsOf('(self,\n')).toEqual([2, 2, 4])
})

test('a counter is loaded once and counts in its own encoding', async () => {
  const [first, second, other] = await Promise.all([
    loadCounter('o200k_base'),
    loadCounter('o200k_base'),
    loadCounter('cl100k_base'),
  ])
  expect(second).toBe(first)
  expect(first.count('Привет, как дела?')).toBeLessThan(other.count('Привет, как дела?'))
})
