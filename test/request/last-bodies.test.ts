import { expect, test } from 'vitest'
import { growing, longRun, type TestMessage } from '../support/conversations.ts'
import { completion } from '../support/fake-upstream.ts'
import { standWith } from '../support/stand.ts'
import { chatOf, postChat } from '../support/post-chat.ts'

/** Requests of one conversation, each with more than a body has to have to be held. */
function requests(): Buffer[] {
  const whole = [...growing(longRun(90, 7, 2))].filter((some) => JSON.stringify(some).length > 80_000)
  const [shortest = []] = whole
  const answered: TestMessage = { role: 'assistant', content: 'Done.' }
  const branch = [...shortest, answered, { role: 'user', content: 'Now the other one, é😀.' }]
  const changed = whole.flatMap((some, index) => [
    Buffer.from(JSON.stringify(chatOf(some))),
    // Settings before and behind the messages, and other spaces: the messages only move.
    ...(index % 7 === 3
      ? [Buffer.from(`{"temperature":${index},${JSON.stringify(chatOf(some)).slice(1)}`)]
      : []),
    ...(index % 7 === 5 ? [Buffer.from(JSON.stringify(chatOf(some), null, 1))] : []),
  ])
  return [...changed, Buffer.from(JSON.stringify(chatOf(branch))), ...changed.slice(0, 3)]
}

function sent(received: readonly { readonly body: Buffer }[]): readonly string[] {
  return received.map(({ body }) => body.toString('utf8'))
}

test('what reaches the upstream is the same with the latest bodies at hand and without', async () => {
  const profile = { window: { tokens: 12_000, output_reserve: 512 } }
  await using holding = await standWith(completion('fine'), { profile })
  await using reading = await standWith(completion('fine'), {
    profile,
    settings: { limits: { last_bodies_mb: 0 } },
  })
  const all = requests()
  expect(all.length).toBeGreaterThan(20)
  for (const body of all) {
    const [one, other] = await Promise.all([postChat(holding.url, body), postChat(reading.url, body)])
    expect([one.status, one.action]).toEqual([200, 'compacted'])
    expect(one.action).toBe(other.action)
  }
  expect(sent(holding.upstream.requests)).toEqual(sent(reading.upstream.requests))
})
