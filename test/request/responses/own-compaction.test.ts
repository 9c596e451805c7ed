import { expect, test } from 'vitest'
import { openStand, outputOf, post, roundsOf, user } from './stand.ts'

// A client that had the server compact its history, and went on sending all of it, was counted for all of it: past the window
// by Foldgate's count, it lost the rounds since then, and they would have fitted.
test('what was done before the server’s own compaction weighs nothing', async () => {
  const stand = await openStand({
    windowTokens: 4_000,
    reply: () => ({ output: [{ type: 'message', text: 'All is well.' }] }),
  })
  const done = [user('Read every part.'), ...roundsOf(8)]
  const [made] = outputOf(await post(stand, { input: [...done, { type: 'compaction_trigger' }] }))
  const since = [...done, made, user('Go on.'), ...roundsOf(2, 20)]
  const answer = await post(stand, { input: since })
  expect([answer.status, answer.headers.get('x-foldgate-action')]).toEqual([200, 'relayed'])

  const grown = [...since, ...roundsOf(6, 30)]
  const compacted = await post(stand, { input: grown })
  expect([compacted.status, compacted.headers.get('x-foldgate-action')]).toEqual([200, 'compacted'])
  // What the server has done with stays only as long as nothing has to go.
  const sent = stand.upstream.requests.at(-1)
  expect(sent?.rawItems.slice(0, 2)).toEqual([done[0], made].map((item) => JSON.stringify(item)))
  expect(sent?.promptTokens).toBeGreaterThan(1_000)
})

// What users had said before the server's compaction was never left out. Of a client that keeps all of it, as what
// `/responses/compact` answers does, every request was refused once it alone exceeded the window.
test.each(['plain', 'streamed'])('words from before it give way, the oldest first, %s', async (mode) => {
  const stand = await openStand({
    windowTokens: 4_000,
    reply: () => ({ output: [{ type: 'message', text: 'All is well.' }] }),
  })
  const said = Array.from({ length: 12 }, (_, index) =>
    user(`Wish ${index}: ${'and then some more '.repeat(110)}`),
  )
  const [made] = outputOf(await post(stand, { input: [user('Read.'), { type: 'compaction_trigger' }] }))
  const input = [...said, made, user('Go on.')]
  for (let round = 0; round < 12; round += 1) {
    const answer = await post(stand, { input, stream: mode === 'streamed' })
    expect([round, answer.status]).toEqual([round, 200])
    input.push(...roundsOf(1, round))
  }
  const { requests } = stand.upstream
  expect(requests.filter(({ rejected }) => rejected !== null)).toEqual([])
  const kept = requests.slice(1).map(({ rawItems }) => rawItems.indexOf(JSON.stringify(made)))
  expect(new Set(kept)).toEqual(new Set([2]))
  for (const { rawItems } of requests.slice(1))
    expect(rawItems.slice(0, 2)).toEqual(said.slice(-2).map((item) => JSON.stringify(item)))
})

// A server that shows its model all that it is sent refused what it had just compacted.
test('what an upstream refuses for it is sent without what it has compacted', async () => {
  const stand = await openStand({
    windowTokens: 4_000,
    showsPast: true,
    reply: () => ({ output: [{ type: 'message', text: 'All is well.' }] }),
  })
  const [made] = outputOf(await post(stand, { input: [user('Read.'), { type: 'compaction_trigger' }] }))
  const answer = await post(stand, {
    input: [user('Read every part.'), ...roundsOf(12), made, user('Go on.')],
  })
  expect([answer.status, answer.headers.get('x-foldgate-action')]).toEqual([200, 'recovered'])
  const sent = [user('Read every part.'), made, user('Go on.')].map((item) => JSON.stringify(item))
  expect(stand.upstream.requests.at(-1)?.rawItems).toEqual(sent)
})
