import { describe, expect, onTestFinished, test } from 'vitest'
import { longRun } from '../support/conversations.ts'
import { completion, fakeUpstream } from '../support/fake-upstream.ts'
import { startFoldgate } from '../support/foldgate.ts'
import { chatOf, postChat } from '../support/post-chat.ts'

const body = JSON.stringify(chatOf(longRun(8, 6, 0.5)))
const signedIn = { authorization: 'Bearer sk-ant-oat01-abc' }

/** What is done with a conversation beyond the window that goes to a host with these headers. */
async function sentTo(host: string, headers: Record<string, string>, messages: object = {}) {
  // An HTTP proxy gets what was meant for any host.
  await using upstream = await fakeUpstream(completion('fine'))
  const foldgate = await startFoldgate({
    upstream: `http://${host}/v1`,
    profile: { window: { tokens: 2_000, output_reserve: 200 }, messages },
    httpProxy: upstream.origin,
  })
  onTestFinished(foldgate.close)
  const { action, header } = await postChat(foldgate.url, body, headers)
  const sent = upstream.requests.find(({ url }) => url.endsWith('/chat/completions'))?.body.toString()
  return { action, observed: header('x-foldgate-observed'), isUntouched: sent === body }
}

// Its token was asked with as if it were a key of the API, and no window was learnt.
test('windows are asked with a subscription’s token as what it is', async () => {
  await using upstream = await fakeUpstream(completion('fine'))
  const foldgate = await startFoldgate({
    upstream: 'http://api.anthropic.com/v1',
    httpProxy: upstream.origin,
  })
  await postChat(foldgate.url, chatOf(longRun(8, 6, 0.5), { model: 'claude-new' }), signedIn)
  await foldgate.close()
  const { authorization, 'x-api-key': key, 'anthropic-beta': beta } = upstream.questions[0]?.headers ?? {}
  expect([authorization, key, beta]).toEqual([signedIn.authorization, undefined, 'oauth-2025-04-20'])
})

// A plan is told by what the client sends first, and that is what a compaction rewrites.
describe('a request to Anthropic that a subscription pays for', () => {
  test.each([
    ['by its token', signedIn],
    [
      'by the flag of a beta',
      { authorization: 'Bearer abc', 'anthropic-beta': 'claude-code-20250219,oauth-2025-04-20' },
    ],
  ])('goes on as it came, and what would have been done is told: %s', async (_, headers) => {
    expect(await sentTo('api.anthropic.com', headers)).toEqual({
      action: 'relayed;reason=subscription',
      observed: expect.stringMatching(/^compacted;/),
      isUntouched: true,
    })
  })

  test.each([
    ['if the profile says so', 'api.anthropic.com', signedIn, { subscriptions: 'rewrite' }],
    ['if it has a key as well', 'api.anthropic.com', { ...signedIn, 'x-api-key': 'sk-ant-api03-abc' }, {}],
    ['if it has another token', 'api.anthropic.com', { authorization: 'Bearer abc' }, {}],
    ['elsewhere', 'notanthropic.com', signedIn, {}],
  ])('is treated as any other %s', async (_, host, headers, messages) => {
    const { action, isUntouched } = await sentTo(host, headers, messages)
    expect([action, isUntouched]).toEqual(['compacted', false])
  })
})
