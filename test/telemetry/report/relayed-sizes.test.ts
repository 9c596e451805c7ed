import { expect, test } from 'vitest'
import { longRun, type TestMessage } from '../../support/conversations.ts'
import { completion, json, type Script } from '../../support/fake-upstream.ts'
import { chatOf } from '../../support/post-chat.ts'
import { openPlays } from '../../pipeline/send/plays.ts'

const play = openPlays()

/** Has a window of 16,000 tokens of four bytes, the reply's among them, whatever profiles say. */
const windowed: Script = (received) => {
  const prompt = Math.round(received.body.length / 4)
  const message = `This model's maximum context length is 16000 tokens. However, you requested ${prompt + 4_000} tokens (${prompt} in the messages, 4000 in the completion).`
  const refusal = json({ error: { message, code: 'context_length_exceeded' } }, 400)
  return prompt + 4_000 > 16_000 ? refusal : completion('fine')
}

const asking = (messages: readonly TestMessage[]) => chatOf(messages, { max_tokens: 4_000 })
const question = (content: string) => asking([{ role: 'user', content }])

// After one overflow by a limit that the server holds against its window a hundred small requests were told as 50 tokens that came and 324 that were sent: the one was
// counted, the other the bound that stands where nothing was. The page said that Foldgate had cost more than it saved.
test('what goes on as it came has one size, before and after a window was learnt', async () => {
  const { post } = play(windowed, { window: { tokens: 40_000 } })
  const asked = [question('before'), asking(longRun(19, 2)), ...['a', 'b', 'c d e'].map(question)]
  const told = []
  for (const body of asked) {
    const reply = await post(body)
    const [received = '', sent = ''] = (reply.header('x-foldgate-tokens') ?? '').split(';sent=')
    told.push([reply.action, received === sent])
  }
  expect(told).toEqual([
    ['relayed', true],
    ['recovered', false],
    ['relayed', true],
    ['relayed', true],
    ['relayed', true],
  ])
})
