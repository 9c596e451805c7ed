import { expect, test } from 'vitest'
import type { Store } from '../../../src/stores/store.ts'
import { completion } from '../../support/fake-upstream.ts'
import { standWith } from '../../support/stand.ts'
import { chatOf, postChat } from '../../support/post-chat.ts'

test('a store that never answers is waited for once, by all that is looked up in it at once, and then left alone for a while', async () => {
  // Every request waited for it until its own end.
  let asked = 0
  const never = <Result>(): Promise<Result> => {
    asked += 1
    return new Promise(() => {})
  }
  const store: Store = {
    name: 'hung:',
    getFirst: never,
    putIfAbsent: never,
    put: never,
    // The journal is written beside requests, which do not wait for it.
    appendRows: () => new Promise(() => {}),
    readRows: never,
    deleteGroup: never,
    purge: never,
    lease: never,
    release: never,
    close: async () => {},
  }
  await using at = await standWith(completion('fine'), { store })
  const request = chatOf([{ role: 'user', content: 'hello' }])
  const startedMs = performance.now()
  expect((await postChat(at.url, request)).status).toBe(200)
  expect(performance.now() - startedMs).toBeLessThan(1_900)
  const askedAtFirst = asked
  // For records, for what was learnt of the model, and at the start, where nobody waits, since when compactions are noted.
  expect(askedAtFirst).toBe(3)
  for (let more = 0; more < 5; more += 1) {
    expect((await postChat(at.url, request)).status).toBe(200)
  }
  expect(asked).toBe(askedAtFirst)
})
