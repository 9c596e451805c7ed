import { expect, test } from 'vitest'
import { completion } from '../support/fake-upstream.ts'
import { standWith } from '../support/stand.ts'
import { postChat } from '../support/post-chat.ts'

test('a model name of any length is relayed, and kept and logged only in short', async () => {
  // Each unknown model was remembered by its whole name so that it is warned of once: twenty requests with
  // names of 50 MB ended the process.
  await using at = await standWith(completion('fine'))
  for (const [length, end] of [
    [60_000, 'one'],
    [60_000, 'two'],
    [50_000_000, 'three'],
  ] as const) {
    const body = JSON.stringify({
      model: 'm'.repeat(length) + end,
      messages: [{ role: 'user', content: 'hello' }],
    })
    const reply = await postChat(at.url, body)
    expect(reply.status).toBe(200)
    expect(at.upstream.requests.at(-1)?.body.toString() === body).toBe(true)
  }
  const warnings = at.foldgate.log.filter((line) => line.includes('window'))
  expect(warnings).toHaveLength(2)
  for (const line of at.foldgate.log) expect(line.length).toBeLessThan(1_000)
})
