import { expect, test } from 'vitest'
import { profileSchema } from '../../../src/profiles/schema.ts'
import { adminStand } from '../../admin/admin-stand.ts'
import { memoryStore } from '../../admin/memory.ts'
import { chatOf, postChat } from '../../support/post-chat.ts'

// A defect in telling turned an answer of 200 into an error of our own: the answer is there, whatever is told of it.
test('an answer that nothing can be told of is given all the same', async () => {
  // Half a character, which no header can spell.
  const profile = { ...profileSchema.parse({}), name: 'broken \ud800' }
  await using at = await adminStand({ profiles: new Map([['default', profile]]) })
  const reply = await postChat(at.url, chatOf([{ role: 'user', content: 'hello' }]))
  expect([reply.status, reply.header('x-foldgate-attempts')]).toEqual([200, '1'])
  expect(at.foldgate.log.join('')).toContain('"part":"observation"')
})

// Somebody who looked at the page while the store was slow to read its journal kept all requests from their records for
// ten seconds: one miss of the deadline means that a store is absent, and both had the same guard.
test('a journal that cannot be read keeps no request from its records', async () => {
  let asked = 0
  const inner = memoryStore()
  await using at = await adminStand({
    store: {
      ...inner,
      readRows: (journal, page) =>
        journal === 'wishes' ? inner.readRows(journal, page) : new Promise(() => {}),
      getFirst: (keys) => {
        asked += 1
        return inner.getFirst(keys)
      },
    },
  })
  const conversation = await at.say('hello')
  await at.ask('/conversations')
  const before = asked
  expect(await at.say('hello')).toBe(conversation)
  expect(asked).toBeGreaterThan(before)
})
