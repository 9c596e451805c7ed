import { describe, expect, onTestFinished, test } from 'vitest'
import { longRun } from '../../support/conversations.ts'
import { completion, json, type ReceivedRequest, type Script } from '../../support/fake-upstream.ts'
import { startFoldgate, type RunningFoldgate } from '../../support/foldgate.ts'
import { exactUpstream } from '../../support/exact-upstream.ts'
import { chatOf, postChat } from '../../support/post-chat.ts'
import type { StrictUpstream } from '../../support/strict-upstream/strict-upstream.ts'
import { openPlays } from './plays.ts'

const play = openPlays()

const windowTokens = 8_000
const tools = [
  { type: 'function', function: { name: 'search', parameters: { type: 'object', properties: {} } } },
]

/** An upstream that holds the output limit against its window, as OpenAI and vLLM do, and a Foldgate in front of it. */
async function open(profile: object): Promise<{ upstream: StrictUpstream; foldgate: RunningFoldgate }> {
  const upstream = await exactUpstream(windowTokens)
  onTestFinished(() => upstream.close())
  const foldgate = await startFoldgate({ upstream: upstream.url, profile })
  onTestFinished(foldgate.close)
  return { upstream, foldgate }
}

/** A conversation that grows by a turn each time, all with the same limit: the action of each, and what came to the upstream. */
async function grow({ upstream, foldgate }: Awaited<ReturnType<typeof open>>, limitTokens: number) {
  const messages: { role: 'user' | 'assistant'; content: string }[] = []
  const replies = []
  for (let turn = 1; turn <= 3; turn += 1) {
    messages.push({ role: 'user', content: `Question ${turn}: ${'words of it '.repeat(40)}` })
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
  ['not known', {}, [7_999, 8_000, 8_001]],
  ['set by the profile', { window: { tokens: windowTokens } }, [8_000, 16_000]],
])('one refusal of an output limit teaches, whichever it is: window %s', async (_, profile, limits) => {
  for (const limitTokens of limits) {
    const at = await open(profile)
    const { replies, refused, limits: sentLimits, raw } = await grow(at, limitTokens)
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200])
    // Only the first one is refused; nothing is taken from the conversation, and the reply has all that is left.
    expect({ limitTokens, refused, raw }).toEqual({
      limitTokens,
      refused: [true, false, false, false],
      raw: [1, 1, 3, 5],
    })
    expect(sentLimits[0]).toBe(limitTokens)
    for (const limit of sentLimits.slice(1)) {
      expect(limit).toBeLessThan(windowTokens)
      expect(limit).toBeGreaterThan(windowTokens * 0.75)
    }
    expect(replies.map(({ action }) => action)).toEqual([
      'recovered',
      ...Array.from({ length: 2 }, () => 'relayed;reason=output-limit'),
    ])
    expect(replies[1]?.header('x-foldgate-window')).toContain(String(windowTokens))
  }
})

/** Refuses what the prompt and the output limit together exceed, as vLLM and OpenAI do. */
const total =
  (roomTokens: number, promptTokens: (received: ReceivedRequest) => number): Script =>
  (received) => {
    const prompt = promptTokens(received)
    const output = Number(/"max_tokens" ?: ?(\d+)/.exec(received.body.toString())?.[1] ?? 0)
    if (prompt + output <= roomTokens) return completion('fine')
    const message = `This model's maximum context length is ${roomTokens} tokens. However, you requested ${prompt + output} tokens (${prompt} in the messages, ${output} in the completion). Please reduce the length of the messages or completion.`
    return json({ error: { message, code: 'context_length_exceeded' } }, 400)
  }

const byBytes = (received: ReceivedRequest) => Math.round(received.body.length / 4)

describe("overflow.clamp_output: the request's own output limit", () => {
  const small = `{ "max_tokens" : 100000,"model":"test-model", "x":1e400,"messages":[{"role":"user","content":"${'word '.repeat(400)}"}] }`

  test('is lowered in place where it alone made the request impossible', async () => {
    const at = play(total(8_192, byBytes))
    const reply = await at.post(small)
    expect(reply.status).toBe(200)
    expect(at.upstream.requests).toHaveLength(2)
    const [first, second] = at.bodies()
    expect(first).toBe(at.spelt(small))
    const [, lowered] = /"max_tokens" : (\d+)/.exec(second ?? '') ?? []
    expect(second).toBe(at.spelt(small).replace('100000', lowered ?? ''))
    expect(Number(lowered)).toBeGreaterThan(4_096)
  })

  test('and the prompt is made smaller, too, where both are too large; further attempts keep the lowered limit', async () => {
    // The limit stood at its own value again in the second resend: every attempt after the first was for nothing.
    const at = play([12_000, 5_000, 3_000].map((tokens) => total(8_192, () => tokens)))
    const reply = await at.post(chatOf(longRun(14, 2), { max_tokens: 100_000 }))
    expect(reply.status).toBe(200)
    const limits = at.upstream.requests.map(({ body }) =>
      Number(/"max_tokens":(\d+)/.exec(body.toString())?.[1]),
    )
    expect(limits[0]).toBe(100_000)
    expect(limits).toHaveLength(3)
    for (const limit of limits.slice(1)) expect(limit).toBeLessThanOrEqual(4_096)
  })

  test('lowered once, it is lowered further where that was not enough', async () => {
    // Replacing the number looked for it in original bytes, where it no longer stood after the first time.
    const at = play([
      json(
        {
          error: {
            message: "This model's maximum context length is 8192 tokens.",
            code: 'context_length_exceeded',
          },
        },
        400,
      ),
      total(8_192, () => 2_000),
    ])
    const reply = await at.post(small)
    expect(reply.status).toBe(200)
    const bodies = at.bodies()
    expect(bodies).toHaveLength(3)
    expect(bodies[2]).toMatch(/^\{ "max_tokens" : \d{4},"model":"play-\d+", "x":1e400,/)
    expect(Number(/"max_tokens" : (\d+)/.exec(bodies[2] ?? '')?.[1])).toBeLessThanOrEqual(6_192)
  })

  test('is lowered to what fits where the prompt is over half of the window and nothing can be taken from it', async () => {
    // One long message was given up at once, since the limit was only lowered beside a smaller prompt.
    const long = small.replace('word '.repeat(400), 'word '.repeat(4_000))
    const at = play(total(8_192, () => 5_000))
    const reply = await at.post(long)
    expect(reply.status).toBe(200)
    const bodies = at.bodies()
    const sent = at.spelt(long)
    expect(bodies).toEqual([sent, sent.replace('100000', '3192')])
  })

  test('stays as it is with clamp_output: never', async () => {
    const at = play(total(8_192, byBytes), { overflow: { clamp_output: 'never' } })
    const reply = await at.post(small)
    expect(reply.status).toBe(400)
    for (const { body } of at.upstream.requests) expect(body.toString()).toContain('"max_tokens" : 100000')
  })
})
