import fc from 'fast-check'
import { expect, test } from 'vitest'
import { drawExplanation } from '../../src/admin/explain/explanation-text.ts'
import { explanationJson } from '../../src/admin/explain/explanation.ts'
import { asked } from '../admin/explain/asked.ts'
import { conversation } from '../support/arbitrary-conversation.ts'
import { forAllAsync } from '../support/property-runs.ts'

const profiles = fc
  .record({
    tokens: fc.integer({ min: 300, max: 6000 }),
    template: fc.constantFrom('lenient', 'strict'),
    repair: fc.boolean(),
    observe: fc.boolean(),
    render: fc.constantFrom({}, { at: 0 }),
  })
  .map(({ tokens, ...profile }) => ({ default: { window: { tokens }, ...profile } }))

test('whatever a conversation is like, its explanation adds up and can be told', async () => {
  await forAllAsync(60, conversation, profiles, async (messages, given) => {
    const told = await asked({ model: 'gpt-4o', messages }, { profiles: given })
    const { tokens, would, messages: outline, body } = told
    for (const { total, ...categories } of [tokens.received, tokens.sent]) {
      expect(Object.values(categories).reduce((sum, count) => sum + count, 0)).toBe(total)
      expect(Math.min(...Object.values(categories))).toBeGreaterThanOrEqual(0)
    }
    expect(tokens.sent.total).toBe(would.sent_tokens)
    const sent = outline.reduce((sum, { sent_tokens }) => sum + (sent_tokens ?? 0), 0)
    // What primes the reply is part of no message.
    expect(sent + 3).toBe(would.sent_tokens)
    expect(JSON.parse(explanationJson(told))).toHaveProperty('body', JSON.parse(body.toString()))
    const lines = drawExplanation(told, { columns: 80, color: false }).split('\n')
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80)
  })
})
