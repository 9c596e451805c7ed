import { expect, test } from 'vitest'
import { fakeUpstream, json } from '../../support/fake-upstream.ts'
import { contentOf, openStand, post, readTool, roundsOf, user } from './stand.ts'

const summary = json({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  content: [{ type: 'text', text: '## Task\nRead every part.\n## State\nAll parts so far say the same.' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 900, output_tokens: 30 },
})

// A summary model at Anthropic was asked without the version that its API demands.
test('a summary model at another upstream is asked with all that the API demands', async () => {
  await using cheap = await fakeUpstream(summary)
  const stand = await openStand({
    windowTokens: 8_000,
    profile: { strategy: 'summarize', summary: { upstream: 'cheap', model: 'small', mode: 'blocking' } },
    foldgate: { settings: { upstreams: { cheap: { url: cheap.url, forward_client_key: true } } } },
    reply: () => ({ content: [{ type: 'text', text: 'I go on.' }] }),
  })
  const conversation = [user('Read every part.')]
  let told: string | null = null
  for (let turn = 0; turn < 14 && told !== 'ready'; turn += 1) {
    conversation.push(...roundsOf(1, turn))
    const answer = await post(stand, { messages: conversation, tools: [readTool] })
    told = answer.headers.get('x-foldgate-summary')
    conversation.push({ role: 'assistant', content: contentOf(answer) }, user('Go on.'))
  }
  expect(told).toBe('ready')
  const [asked] = cheap.requests
  expect(asked?.url).toBe('/v1/messages')
  expect(asked?.headers).toMatchObject({ 'x-api-key': 'key', 'anthropic-version': '2023-06-01' })
  expect(JSON.parse(asked?.body.toString() ?? '')).toMatchObject({ model: 'small', max_tokens: 9_216 })
})
