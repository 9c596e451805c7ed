import { describe, expect, test } from 'vitest'
import { modelCard, type ModelCard } from '../../../src/admin/models/model-cards.ts'
import { modelKeyOf } from '../../../src/models/model-key.ts'
import type { Beliefs } from '../../../src/models/model-record.ts'

const held = { from: 'answer', sinceMs: 0, untilMs: Infinity } as const

function fieldsOf(beliefs: Beliefs): ModelCard['fields'] {
  const key = modelKeyOf('default', 'a-digest-of-22-letters', 'm', 'http://upstream')
  return modelCard({ id: 'id', key, beliefs, window: null }).fields
}

describe('what is said of how a model counts', () => {
  test('is the ratio that was seen, without the guess that it began with', () => {
    const growth = { encoding: 'e', promptTokens: 1_200, ownTokens: 1_000, startingTokens: 1_000 }
    expect(fieldsOf({ ratio: { ...held, value: growth } }).ratio).toMatchObject({
      value: { ratio: 1.2, own_tokens: 1_000 },
      until: null,
      changed_by: 'each answer that states its usage',
    })
  })

  test('is nothing before anything was seen', () => {
    expect(
      fieldsOf({
        ratio: { ...held, value: { encoding: 'e', promptTokens: 0, ownTokens: 0, startingTokens: 2_000 } },
        overhead: { ...held, value: { encoding: 'e', samples: [] } },
      }),
    ).toEqual({})
  })

  test('is what is added to the prompts that were seen last', () => {
    const samples = [
      [{ aroundTokens: 5_000, ownTokens: 5_000, promptTokens: 5_010 }],
      [{ aroundTokens: 100, ownTokens: 100, promptTokens: 900 }],
    ]
    expect(fieldsOf({ overhead: { ...held, value: { encoding: 'e', samples } } }).overhead?.value).toEqual({
      surroundings: 2,
      newest_tokens: 800,
    })
  })
})

test('what a model refuses stands together', () => {
  const { refuses } = fieldsOf({
    usage: { ...held, value: 'named' },
    recall: { ...held, value: 'any' },
  })
  expect([refuses?.usage?.value, refuses?.recall?.value]).toEqual(['named', 'any'])
})

// One damaged record in the store made an error of the list and of the page.
test('a damaged record is told as far as it can be', () => {
  const growth = { encoding: 'e', promptTokens: 1e9, ownTokens: 1e-300, startingTokens: 0 }
  expect(fieldsOf({ ratio: { ...held, sinceMs: -1e308, value: growth } }).ratio).toMatchObject({
    value: { ratio: 3, own_tokens: 0 },
    since: '1970-01-01T00:00:00.000Z',
  })
})
