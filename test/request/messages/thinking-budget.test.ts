import { expect, test } from 'vitest'
import { isJsonObject, parseJsonText } from '../../../src/conversation/json-value.ts'
import { openStand, post, troubleOf, user } from './stand.ts'

// A server that wanted the prompt and the longest reply to fit together refused a request, which was sent again with a shorter
// reply. Of that the client had given most to thinking, and what was left was less: the server refused it for good.
test('where a reply is made shorter, thinking is given less of it', async () => {
  const at = await openStand({
    windowTokens: 8_000,
    outputReserveChecked: true,
    binding: 'none',
    reply: () => ({ content: [{ type: 'text', text: 'Well.' }] }),
  })
  const answer = await post(at, {
    max_tokens: 7_000,
    thinking: { type: 'enabled', budget_tokens: 6_000 },
    messages: [user(`Read: ${'the quick brown fox '.repeat(700)}`)],
  })
  const body = parseJsonText(at.upstream.requests.at(-1)?.body.toString() ?? '')
  const { max_tokens: limit, thinking } = isJsonObject(body) ? body : {}
  expect(answer.status).toBe(200)
  expect(troubleOf(at).map((each) => isJsonObject(each) && each['reason'])).toEqual(['window'])
  expect(Number(limit)).toBeLessThan(6_000)
  expect(thinking).toEqual({ type: 'enabled', budget_tokens: Number(limit) - 1_000 })
})
