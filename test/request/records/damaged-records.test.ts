import { expect, test } from 'vitest'
import { openMemoryStore } from '../../../src/stores/memory-store.ts'
import type { Store } from '../../../src/stores/store.ts'
import { completion } from '../../support/fake-upstream.ts'
import { standWith } from '../../support/stand.ts'
import { chatOf, postChat } from '../../support/post-chat.ts'

/** A store that gives back something else for the records of one kind. */
function damaging(kind: string, damaged: string): Store {
  const store = openMemoryStore({ bytesMax: 1_000_000, lifetimeMs: 0 })
  return {
    ...store,
    getFirst: async (keys) => {
      // The names are looked up where no seen request is known.
      const found = await store.getFirst(keys.filter((key) => kind !== 'name:' || !key.startsWith('seen:')))
      const isDamaged = found !== null && keys[found.index]?.startsWith(kind) === true
      return isDamaged ? { index: found.index, value: damaged } : found
    },
  }
}

// The text stood as it was in x-foldgate-conversation: an id that DELETE refuses, or a header that is too large for the
// client to take the answer.
test.each([
  ['name:', 'x'.repeat(20_000)],
  ['seen:', JSON.stringify({ conversation: 'x'.repeat(20_000), compaction: null })],
])('a damaged record (%s) is as if it were not there', async (kind, damaged) => {
  const store = damaging(kind, damaged)
  await using at = await standWith(completion('fine'), { store })
  const begun = [{ role: 'user', content: 'hello' }] as const
  await postChat(at.url, chatOf([...begun]))
  const continued = [
    ...begun,
    { role: 'assistant', content: 'fine' },
    { role: 'user', content: 'more' },
  ] as const
  const reply = await postChat(at.url, chatOf([...continued]))
  expect(reply.status).toBe(200)
  expect(reply.header('x-foldgate-conversation')).toMatch(/^[\w-]{16}$/)
})
