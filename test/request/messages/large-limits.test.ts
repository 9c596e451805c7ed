import { expect, test } from 'vitest'
import { openBefore, openStand, post, roundsOf, troubleOf, user, type MessagesStand } from './stand.ts'

const window = { tokens: 8_000, output_reserve: 500 }

/** How much is sent of a conversation that grows, each time with a limit as large as the window. */
async function sentTokens(at: MessagesStand, turns: number): Promise<readonly number[]> {
  for (let count = 1; count <= turns; count += 1) {
    const answer = await post(at, { max_tokens: 8_000, messages: [user('Begin.'), ...roundsOf(count)] })
    expect(answer.status).toBe(200)
  }
  return at.upstream.requests
    .filter(({ rejected }) => rejected === null)
    .map(({ promptTokens }) => promptTokens)
}

const reply = () => ({ content: [{ type: 'text' as const, text: 'Well.' }] })

// Claude Code sets the limit of what it takes the model for, 32,000 or 64,000 tokens. Half of a window of 32,000 was kept free for
// a reply that never came: its prompt and its tools left a tenth, and nearly each of its requests made a compaction.
test('a limit that the server does not hold against its window keeps a quarter of it free, and no half', async () => {
  const at = await openStand({ windowTokens: 8_000, profile: { window }, reply })
  const sent = await sentTokens(at, 12)
  expect(troubleOf(at)).toEqual([])
  expect(Math.max(...sent)).toBeGreaterThan(5_000)
  expect(Math.max(...sent)).toBeLessThanOrEqual(6_000)
})

// Each of these requests was refused first, since what had worked for the one before was not remembered.
test('where the server does hold it against the window, half of it stays free, and one request is refused', async () => {
  const at = await openStand({ windowTokens: 8_000, outputReserveChecked: true, profile: { window }, reply })
  expect(Math.max(...(await sentTokens(at, 12)))).toBeLessThanOrEqual(4_000)
  expect(at.upstream.requests.filter(({ rejected }) => rejected !== null)).toHaveLength(1)
  const limits = at.upstream.requests.map(({ body }) => /"max_tokens":(\d+)/.exec(body.toString())?.[1])
  // The reply loses no more than what the prompt takes, and what our count of it may be off.
  for (const limit of limits) expect(Number(limit)).toBeGreaterThanOrEqual(3_600)
})

test('a limit that would fit is not lowered, nor one that the profile leaves to the client', async () => {
  const body = { max_tokens: 7_000, messages: [user('Begin.'), ...roundsOf(2)] }
  const at = await openStand({ windowTokens: 8_000, outputReserveChecked: true, profile: { window }, reply })
  await post(at, body)
  const small = { max_tokens: 7_000, messages: [user('Begin anew.')] }
  expect((await post(at, small)).headers.get('x-foldgate-action')).toBe('relayed')
  expect(at.upstream.requests.at(-1)?.body.toString()).toContain('"max_tokens":7000')
  const lowered = await post(at, body)
  expect(lowered.headers.get('x-foldgate-action')).toBe('relayed;reason=output-limit')

  const kept = await openBefore(at.upstream, { window, overflow: { clamp_output: 'never' } })
  at.upstream.forget()
  for (let count = 0; count < 2; count += 1) await post(kept, body)
  for (const request of at.upstream.requests) expect(request.body.toString()).toContain('"max_tokens":7000')
})
