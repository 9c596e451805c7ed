import { expect, test } from 'vitest'
import { openStand, post, roundsOf, troubleOf, user, type MessagesStand } from './stand.ts'

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

test('where the server does hold it against the window, half of it stays free', async () => {
  const at = await openStand({ windowTokens: 8_000, outputReserveChecked: true, profile: { window }, reply })
  expect(Math.max(...(await sentTokens(at, 12)))).toBeLessThanOrEqual(4_000)
})
