import { expect, test } from 'vitest'
import { z } from 'zod'
import { longRun } from '../../support/conversations.ts'
import { chatOf, postChat } from '../../support/post-chat.ts'
import { adminStand } from '../admin-stand.ts'

const small = { window: { tokens: 6_000, output_reserve: 1_000 } }
const savingsSchema = z.object({
  days: z.int(),
  savings: z.array(z.looseObject({ requests: z.int(), changed: z.int(), saved_tokens: z.number() })),
})

test('GET /savings tells what was left out, to a program and to a browser, and /savings.csv to a spreadsheet', async () => {
  await using at = await adminStand({ profile: small })
  await postChat(at.url, chatOf([{ role: 'user', content: 'hello' }]))
  await postChat(at.url, chatOf(longRun(12, 2)))
  const { days, savings } = savingsSchema.parse(JSON.parse((await at.ask('/savings?days=3')).text))
  expect(days).toBe(3)
  expect(savings).toMatchObject([{ requests: 2, changed: 1 }])
  expect(savings[0]?.saved_tokens).toBeGreaterThan(1_000)
  const page = await at.ask('/savings?by=model', { headers: { accept: 'text/html' } })
  expect(page.text).toContain('What was left out in 30 days')
  expect(page.text).toContain('test-model')
  const csv = await at.ask('/savings.csv')
  expect(csv.text.split('\r\n')).toHaveLength(3)
  expect((await at.ask('/savings?days=none')).status).toBe(400)
})

// A run closed with 359,520 tokens saved, by the provider's count, and its page said 372,822, by Foldgate's own, beside prompt
// tokens of the provider's: whoever read both had two figures for one thing.
test('the head of the page, the savings and the metrics tell one figure, in the tokens of a provider that counts otherwise', async () => {
  await using at = await adminStand({ profile: { window: { ...small.window, ratio: 1.5 } } })
  await postChat(at.url, chatOf([{ role: 'user', content: 'hello' }]))
  await postChat(at.url, chatOf(longRun(12, 2)))
  const metrics = (await at.ask('/metrics')).text
  const [received, sent] = ['received', 'sent'].map((stage) =>
    Number(new RegExp(`^foldgate_prompt_tokens_total\\{stage="${stage}".* (\\d+)$`, 'm').exec(metrics)?.[1]),
  )
  const unsent = (received ?? 0) - (sent ?? 0)
  expect(unsent).toBeGreaterThan(1_000)
  const { savings } = savingsSchema.parse(JSON.parse((await at.ask('/savings')).text))
  expect(savings[0]?.saved_tokens).toBe(unsent)
  const page = await at.ask('/', { headers: { accept: 'text/html' } })
  expect(page.text).toContain(`${unsent.toLocaleString('en')} tokens`)
})
