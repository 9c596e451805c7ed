import { describe, expect, test } from 'vitest'
import { longRun } from '../../support/conversations.ts'
import { completion, json, overflow, type Script } from '../../support/fake-upstream.ts'
import { chatOf, postChat } from '../../support/post-chat.ts'
import { standWith } from '../../support/stand.ts'
import * as messages from '../messages/stand.ts'
import * as responses from '../responses/stand.ts'

// A conversation of five times its model's window was told with the pressure that it would have had in the window that the refusal
// had just disproved: as if it had gone through easily.

type Told = (name: string) => string | null

/** What the headers say: the window with its source, the pressure, what came and what was sent. */
function told(header: Told) {
  const [, received, sent] = /^(\d+);sent=(\d+)$/.exec(header('x-foldgate-tokens') ?? '') ?? []
  return {
    action: header('x-foldgate-action'),
    window: header('x-foldgate-window'),
    // Of what needed no count it is a bound.
    pressure: Number(header('x-foldgate-pressure')?.replace('<', '')),
    received: Number(received),
    sent: Number(sent),
  }
}

const windowed: Script = (request, outgoing, incoming) => {
  const tokens = Math.round(request.body.length / 4)
  return (tokens > 4_000 ? overflow(4_000, tokens) : completion('fine'))(request, outgoing, incoming)
}

/** The prompt alone is measured, one of the provider's tokens for one of ours. */
const believed = { window: { tokens: 60_000, output_reserve: 500, ratio: 1 } }

describe('window and pressure of a recovered request are told by what the refusal taught', () => {
  test('of a chat completion, and the answers after it say the same', async () => {
    await using at = await standWith(windowed, { profile: believed })
    const asked = chatOf(longRun(14, 2))
    const first = told((await postChat(at.url, asked)).header)
    expect(first).toMatchObject({ action: 'recovered', window: '4000;source=learnt;setting=60000' })
    expect(first.pressure).toBeGreaterThan(2)
    expect(first.pressure).toBeCloseTo(first.received / 3_500, 2)
    expect(first.sent).toBeLessThanOrEqual(3_500)
    const next = told((await postChat(at.url, asked, { 'x-foldgate-compact': 'off' })).header)
    expect(next.window).toBe(first.window)
  })

  test('of a message', async () => {
    const at = await messages.openStand({
      windowTokens: 4_000,
      profile: believed,
      reply: () => ({ content: [{ type: 'text', text: 'Fine.' }] }),
    })
    const answer = await messages.post(at, {
      max_tokens: 500,
      messages: [messages.user('Begin.'), ...messages.roundsOf(12)],
    })
    const { action, window, pressure, received } = told((name) => answer.headers.get(name))
    expect([action, window]).toEqual(['recovered', '4000;source=learnt;setting=60000'])
    expect(pressure).toBeCloseTo(received / 3_500, 2)
    expect(pressure).toBeGreaterThan(2)
  })

  test('of a response whose refusal says no number: as far as that shows what does not fit', async () => {
    const at = await responses.openStand({
      windowTokens: 4_000,
      profile: { window: { tokens: 'auto', ratio: 1 } },
      reply: () => ({ output: [{ type: 'message', text: 'Fine.' }] }),
    })
    const answer = await responses.post(at, {
      max_output_tokens: 500,
      input: [responses.user('Begin.'), ...responses.roundsOf(10)],
    })
    const { action, window, pressure, received, sent } = told((name) => answer.headers.get(name))
    const tokens = Number(/^(\d+);source=learnt$/.exec(window ?? '')?.[1])
    expect(action).toBe('recovered')
    expect(tokens).toBeLessThan(received)
    expect(pressure).toBeCloseTo(received / tokens, 2)
    expect(sent).toBeLessThanOrEqual(tokens)
  })
})

describe('what was not recovered is told by what it was measured by', () => {
  test.each<[string, Script, number]>([
    ['a refusal that nothing helps against', overflow(100, 5_000), 400],
    ['an answer', completion('fine'), 200],
    ['a limit of bytes', json({ error: 'Request Entity Too Large' }, 413), 413],
  ])('%s', async (_, script, status) => {
    await using at = await standWith(script, { profile: believed })
    const answer = await postChat(at.url, chatOf(longRun(14, 2)))
    expect(answer.status).toBe(status)
    const { window, pressure } = told(answer.header)
    expect(window).toBe('60000;source=config')
    expect(pressure).toBeLessThan(1)
  })
})
