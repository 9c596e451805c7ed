import { describe, expect, test } from 'vitest'
import { longRun } from '../../support/conversations.ts'
import { completion, json, overflow, type Script } from '../../support/fake-upstream.ts'
import { standWith } from '../../support/stand.ts'
import { chatOf, postChat, rawMessages } from '../../support/post-chat.ts'

const small = chatOf([{ role: 'user', content: 'hello' }])

const onlyAt =
  (path: string, answer: object): Script =>
  (request, outgoing, incoming) =>
    (request.url === path ? json(answer) : json({}, 404))(request, outgoing, incoming)

/** Takes prompts of 3,072 tokens of four bytes. */
const limited: Script = (request, outgoing, incoming) => {
  const tokens = Math.round(request.body.length / 4)
  return (tokens > 3072 ? overflow(3072, tokens) : completion('fine'))(request, outgoing, incoming)
}

// TGI takes 3,072 tokens of prompt and 4,096 in all. Only the second was known, so that a request for a short reply
// went out with a prompt of 3,996 tokens and was refused.
describe('of two limits, the one that leaves the prompt less binds', () => {
  const tgi = { onQuestion: onlyAt('/info', { max_input_tokens: 3072, max_total_tokens: 4096 }) }

  test.each([
    [100, '3072;source=server'],
    [1024, '4096;source=server'],
    [2000, '4096;source=server'],
  ])('a reply of %i tokens: %s', async (maxTokens, window) => {
    await using stand = await standWith(completion('hi'), tgi)
    const answer = await postChat(stand.url, { ...small, max_tokens: maxTokens })
    expect(answer.header('x-foldgate-window')).toBe(window)
  })

  test('and is kept: a conversation that only fits the whole is compacted, not refused', async () => {
    await using stand = await standWith(limited, tgi)
    const answer = await postChat(stand.url, { ...chatOf(longRun(4, 2)), max_tokens: 100 })
    expect(answer.action).toBe('compacted')
    expect(stand.upstream.requests).toHaveLength(1)
  })
})

// The past was derived with 3,000 tokens of prompt by one replica and with 2,816 by another: one limit left the prompt
// more than the server takes, the other less, and the whole conversation moved with it.
test('a limit that is a few tokens higher moves nothing that lies in the past', async () => {
  const tgi = { onQuestion: onlyAt('/info', { max_input_tokens: 3000, max_total_tokens: 4096 }) }
  const sentWith = async (maxTokens: number) => {
    await using stand = await standWith(completion('hi'), tgi)
    await postChat(stand.url, { ...chatOf(longRun(8, 2)), max_tokens: maxTokens })
    return rawMessages(stand.upstream.requests[0])
  }
  const sent = await sentWith(1090)
  expect(sent.length).toBeLessThan(longRun(8, 2).length)
  expect(await sentWith(1100)).toEqual(sent)
})

describe('names', () => {
  // A name that is too long stands in records and logs by a digest, and servers were asked about that digest.
  test('that are longer than any model’s are asked about by nobody', async () => {
    await using stand = await standWith(completion('hi', {}))
    const answer = await postChat(stand.url, { ...small, model: 'x'.repeat(2_000) })
    expect(answer.status).toBe(200)
    expect(stand.upstream.questions).toEqual([])
  })
})
