import * as responsesStand from '../responses/stand.ts'
import { expect, test, describe } from 'vitest'
import { longRun } from '../../support/conversations.ts'
import {
  completion,
  json,
  overflow,
  windowedAt,
  type ReceivedRequest,
  type Script,
} from '../../support/fake-upstream.ts'
import { standWith, type Stand } from '../../support/stand.ts'
import { chatOf, postChat, rawMessages } from '../../support/post-chat.ts'

/** A refusal that states no numbers. */
const tooLong = json({ error: { message: 'Prompt exceeds max length', code: '1261' } }, 400)

const run = longRun(80, 4)
const request = (messages: number) => chatOf(run.slice(0, messages))

/** What counts in a body: all of it is text. */
const sizes = ({ upstream }: Stand): readonly number[] => upstream.requests.map(({ body }) => body.length)

// A budget of half of what was refused was planned down to seven tenths of it, and the view came out smaller still:
// two thirds of a conversation were thrown away where a third might have been enough.
test.each([1, 2])(
  'a view that is sent after %s refusals without numbers fills its half',
  async (refusals) => {
    const script = [...Array.from({ length: refusals }, () => tooLong), completion('fine')]
    await using at = await standWith(script)
    const reply = await postChat(at.url, request(80))
    expect(reply.action).toBe('recovered')
    const made = sizes(at)
    expect(made).toHaveLength(refusals + 1)
    for (const [index, size] of made.entries()) {
      if (index === 0) continue
      const before = made[index - 1] ?? 0
      expect(size).toBeGreaterThan(before * 0.42)
      expect(size).toBeLessThan(before * 0.56)
    }
  },
)

// The size of the recovered view was held to be all that fits, and with it the whole conversation from then on.
test('the requests after a recovery grow to what was refused again before there is another compaction', async () => {
  await using at = await standWith([tooLong, completion('fine')])
  await postChat(at.url, request(60))
  const [refusedBytes = 0, recoveredBytes = 0] = sizes(at)
  expect(recoveredBytes).toBeLessThan(refusedBytes * 0.56)

  let largestBytes = recoveredBytes
  let previous: ReceivedRequest | undefined = at.upstream.requests.at(-1)
  for (let messages = 62; messages <= run.length; messages += 2) {
    const reply = await postChat(at.url, request(messages))
    expect(reply.header('x-foldgate-attempts')).toBe('1')
    const sent = at.upstream.requests.at(-1)
    const before = rawMessages(previous)
    if (rawMessages(sent).slice(0, before.length).join() !== before.join()) break
    largestBytes = Math.max(largestBytes, sent?.body.length ?? 0)
    previous = sent
  }
  expect(largestBytes).toBeGreaterThan(refusedBytes * 0.85)
  expect(largestBytes).toBeLessThanOrEqual(refusedBytes * 1.05)
})

test('what is refused in every form teaches nothing, and its last error is the client’s', async () => {
  await using at = await standWith(tooLong)
  const reply = await postChat(at.url, request(60))
  expect(reply.status).toBe(400)
  expect(reply.text).toBe('{"error":{"message":"Prompt exceeds max length","code":"1261"}}')
  expect(at.upstream.requests).toHaveLength(4)

  const again = await postChat(at.url, request(62))
  expect(again.header('x-foldgate-window')).toBe('128000;source=default')
  expect(at.upstream.requests[4]?.body.length).toBeGreaterThan(sizes(at)[0] ?? 0)
})

// vLLM stops counting one token behind what fits. Nothing said how far beyond the prompt was, so half of it went,
// however little there was too much.
test('a stated window and a prompt of at least so much: only what is beyond the window goes', async () => {
  const windowTokens = 24_000
  const message = `This model's maximum context length is ${windowTokens} tokens. However, your prompt contains at least ${windowTokens + 1} input tokens, which exceeds this limit even without any output tokens. Please reduce the length of the input prompt. (parameter=input_tokens, value=${windowTokens + 1})`
  const refusal = json({ error: { message, type: 'BadRequestError', param: 'input_tokens', code: 400 } }, 400)
  await using at = await standWith(
    windowedAt(20_000, () => completion('fine'), refusal),
    {
      profile: { window: { output_reserve: 1_000 } },
    },
  )
  await postChat(at.url, request(80))
  const made = sizes(at)
  expect(made).toHaveLength(2)
  expect(made[1]).toBeGreaterThan((made[0] ?? 0) * 0.6)
})

test('an exact size leaves room for the rounds to come, as any compaction does', async () => {
  await using at = await standWith([overflow(20_000, 29_000), completion('fine')])
  await postChat(at.url, request(80))
  const [refusedBytes = 0, recoveredBytes = 0] = sizes(at)
  expect(recoveredBytes / refusedBytes).toBeLessThan(20_000 / 29_000)
})

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

/** The prompt alone is measured, one of the provider's tokens for one of ours. */
const believed = { window: { tokens: 30_000, output_reserve: 500, ratio: 1 } }

describe('window and pressure of a recovered request are told by what the refusal taught', () => {
  test('of a chat completion, and the answers after it say the same', async () => {
    await using at = await standWith(windowedAt(4_000), { profile: believed })
    const asked = chatOf(longRun(14, 2))
    const first = told((await postChat(at.url, asked)).header)
    expect(first).toMatchObject({ action: 'recovered', window: '4000;source=learnt;setting=30000' })
    expect(first.pressure).toBeGreaterThan(2)
    expect(first.pressure).toBeCloseTo(first.received / 3_500, 2)
    expect(first.sent).toBeLessThanOrEqual(3_500)
    const next = told((await postChat(at.url, asked, { 'x-foldgate-compact': 'off' })).header)
    expect(next.window).toBe(first.window)
  })

  test('of a response whose refusal says no number: as far as that shows what does not fit', async () => {
    const at = await responsesStand.openStand({
      windowTokens: 4_000,
      profile: { window: { tokens: 'auto', ratio: 1 } },
      reply: () => ({ output: [{ type: 'message', text: 'Fine.' }] }),
    })
    const answer = await responsesStand.post(at, {
      max_output_tokens: 500,
      input: [responsesStand.user('Begin.'), ...responsesStand.roundsOf(10)],
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
    expect(window).toBe('30000;source=config')
    expect(pressure).toBeLessThan(1)
  })
})
