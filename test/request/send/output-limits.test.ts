import { afterEach, expect, test } from 'vitest'
import { startFoldgate, type RunningFoldgate } from '../../support/foldgate.ts'
import { exactUpstream } from '../../support/exact-upstream.ts'
import { chatOf, postChat } from '../../support/post-chat.ts'
import type { StrictUpstream } from '../../support/strict-upstream/strict-upstream.ts'

const windowTokens = 8_000
const tools = [
  { type: 'function', function: { name: 'search', parameters: { type: 'object', properties: {} } } },
]

const opened: { readonly close: () => Promise<void> }[] = []
afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) await each.close()
})

/** An upstream that holds the output limit against its window, as OpenAI and vLLM do, and a Foldgate in front of it. */
async function open(profile: object): Promise<{ upstream: StrictUpstream; foldgate: RunningFoldgate }> {
  const upstream = await exactUpstream(windowTokens)
  opened.push(upstream)
  const foldgate = await startFoldgate({ upstream: upstream.url, profile })
  opened.push(foldgate)
  return { upstream, foldgate }
}

/** A conversation that grows by a turn each time, all with the same limit: the action of each, and what came to the upstream. */
async function grow({ upstream, foldgate }: Awaited<ReturnType<typeof open>>, limitTokens: number) {
  const messages: { role: 'user' | 'assistant'; content: string }[] = []
  const replies = []
  for (let turn = 1; turn <= 4; turn += 1) {
    messages.push({ role: 'user', content: `Question ${turn}: ${'words of it '.repeat(100)}` })
    replies.push(await postChat(foldgate.url, chatOf(messages, { tools, max_tokens: limitTokens })))
    messages.push({ role: 'assistant', content: 'Done.' })
  }
  const posts = upstream.requests.filter(({ method }) => method === 'POST')
  const refused = posts.map(({ rejected }) => rejected !== null)
  const limits = posts.map(({ body }) => Number(/"max_tokens":(\d+)/.exec(body.toString())?.[1]))
  const raw = posts.map(({ rawMessages }) => rawMessages.length)
  return { replies, refused, limits, raw }
}

// An agent asked a server of 32,000 tokens for 32,000 of output. The refusal names that number twice, and the window was taken
// for the reply: each turn died of the same error. With one more or one less it was recovered.
// And a window from a profile: where the refusal names the messages as being at fault, each request was refused once.
test.each([
  ['not known', {}],
  ['set by the profile', { window: { tokens: windowTokens } }],
])('one refusal of an output limit teaches, whichever it is: window %s', async (_, profile) => {
  for (const limitTokens of [7_999, 8_000, 8_001, 16_000]) {
    const at = await open(profile)
    const { replies, refused, limits, raw } = await grow(at, limitTokens)
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    // Only the first one is refused; nothing is taken from the conversation, and the reply has all that is left.
    expect({ limitTokens, refused, raw }).toEqual({
      limitTokens,
      refused: [true, false, false, false, false],
      raw: [1, 1, 3, 5, 7],
    })
    expect(limits[0]).toBe(limitTokens)
    for (const limit of limits.slice(1)) {
      expect(limit).toBeLessThan(windowTokens)
      expect(limit).toBeGreaterThan(windowTokens * 0.75)
    }
    expect(replies.map(({ action }) => action)).toEqual([
      'recovered',
      ...Array.from({ length: 3 }, () => 'relayed;reason=output-limit'),
    ])
    expect(replies[1]?.header('x-foldgate-window')).toContain(String(windowTokens))
  }
})
