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
  const sent = stand.upstream.requests.at(-1)
  expect(sent?.rawItems.slice(0, 19)).toEqual(grown.slice(0, 19).map((item) => JSON.stringify(item)))
  expect(sent?.promptTokens).toBeGreaterThan(1_000)
})
