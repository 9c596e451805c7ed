import { expect, test } from 'vitest'
import { completion } from '../../support/fake-upstream.ts'
import { eventually } from '../../support/eventually.ts'
import { standWith } from '../../support/stand.ts'

/** A chat of very many messages that say next to nothing: each costs as much as one that says a lot. */
function tinyMessages(count: number, mark: string): string {
  const messages = Array.from({ length: count }, () => '{"role":"user","content":"a"}').join(',')
  return `{"model":"m","metadata":{"mark":"${mark}"},"messages":[${messages}]}`
}

/** An ordinary conversation of about a megabyte. */
function ordinary(mark: string): string {
  const content = 'Some of the words that people and models write to each other. '.repeat(32)
  const messages = Array.from({ length: 500 }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: `${index} ${content}`,
  }))
  return JSON.stringify({ model: 'm', metadata: { mark }, messages })
}

// Long conversations were read one after the other, whoever sent them: two bodies of 1.4 million tiny messages kept the lane
// for 16 seconds each, and another client's ordinary conversation waited for both.
test('a client that sends very long conversations has no other wait for them', async () => {
  await using at = await standWith(completion('fine'), {
    profile: { window: { tokens: 2_000_000 } },
  })
  const chat = (key: string, body: string): Promise<Response> =>
    fetch(`${at.url}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body,
    })
  const arrived = (): readonly (string | undefined)[] =>
    at.upstream.requests.map(({ body }) => /"mark":"([\w-]+)"/.exec(body.toString('latin1', 0, 100))?.[1])

  const attacks = ['attack-1', 'attack-2'].map((mark) => chat('ada', tinyMessages(45_000, mark)))
  // It comes when the first of them is being worked on.
  await new Promise((resolve) => {
    setTimeout(resolve, 200)
  })
  expect((await chat('ben', ordinary('neighbour'))).status).toBe(200)
  await eventually(() => expect(arrived()).toHaveLength(3), { timeout: 60_000 })
  expect(arrived().indexOf('neighbour')).toBeLessThanOrEqual(1)
  for (const attack of attacks) expect((await attack).status).toBe(200)
})
