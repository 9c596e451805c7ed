import { expect, test } from 'vitest'
import { usageKinds, type Statement } from './usage-kinds.ts'

const counted = { promptTokens: 4792, sharedTokens: 1330, completionTokens: 8 }

function stated(name: string): Statement {
  const kind = usageKinds.find((each) => each.name === name)
  if (kind === undefined) throw new Error(`There is no kind ${name}.`)
  return kind.state(counted)
}

test('cached tokens are among the prompt’s as OpenAI states them, in its steps', () => {
  expect(stated('openai')).toMatchObject({
    usage: { prompt_tokens: 4792, prompt_tokens_details: { cached_tokens: 1280 } },
  })
})

test('and left out of it in Anthropic’s way, so that all three add up', () => {
  const shares = { cache_read_input_tokens: 1330 }
  expect(stated('uncached')).toMatchObject({ usage: { ...shares, prompt_tokens: 3462 } })
  expect(stated('uncached-written')).toMatchObject({
    usage: { ...shares, cache_creation_input_tokens: 3454, prompt_tokens: 8 },
  })
})

test('a prompt in blocks loses less than one', () => {
  expect(stated('blocks-256')).toMatchObject({ usage: { prompt_tokens: 4608 } })
})

test('every kind says of whom it is true, and has a name of its own', () => {
  expect(new Set(usageKinds.map(({ name }) => name)).size).toBe(usageKinds.length)
  expect(usageKinds.filter(({ field }) => field === '')).toEqual([])
})
