import { EventEmitter } from 'node:events'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createConversationList } from '../../../src/telemetry/conversations/conversation-list.ts'
import { createConversations } from '../../../src/telemetry/conversations/read-conversations.ts'
import { createHeldContent } from '../../../src/telemetry/conversations/shown-messages.ts'
import { createUnreadTally } from '../../../src/telemetry/conversations/totals.ts'
import { createJournal, type Signals } from '../../../src/telemetry/journal/journal.ts'
import type { Store } from '../../../src/storage/store.ts'
import { memoryStore, patientGuard } from '../../admin/memory.ts'
import { usageRow } from '../rows.ts'

/** Conversations on a store that others write to, and what they have taken from it. */
function conversationsOn(store: Pick<Store, 'readRows' | 'appendRows'> = memoryStore()) {
  const models: string[] = []
  const totals: string[] = []
  const signals: Signals = new EventEmitter()
  const list = createConversationList()
  const conversations = createConversations({
    list: { ...list, add: ({ model }) => models.push(model) },
    held: createHeldContent({ showsContent: false }),
    totals: { all: () => null, addWritten: (text) => totals.push(text), savings: () => [] },
    unread: createUnreadTally(),
    journal: createJournal({ store, guarded: patientGuard, signals }),
    signals,
    process: 'here',
  })
  onTestFinished(conversations.close)
  const add = (process: string, ...names: readonly string[]) => {
    const rows = names.map((model) => ({ text: JSON.stringify(usageRow({ process, model })) }))
    return store.appendRows('usage', rows)
  }
  return { store, conversations, signals, models, totals, add }
}

test('each look takes what others have written since, each row once and in its order', async () => {
  const { store, conversations, models, totals, add } = conversationsOn()
  await add('there', 'a', 'b')
  await store.appendRows('totals', [{ text: 'one' }, { text: 'two' }])
  // Two that look at once take it once, too.
  await Promise.all([conversations.list(), conversations.list()])
  await conversations.list()
  await add('elsewhere', 'c')
  await add('here', 'mine')
  await conversations.detail('nobody')
  expect(models).toEqual(['a', 'b', 'c'])
  // Totals as they were written.
  expect(totals).toEqual(['one', 'two'])
})

test('while somebody looks at the page, what others write is looked for, and a change is signalled', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const { signals, models, add } = conversationsOn()
  await add('there', 'a')
  await vi.advanceTimersByTimeAsync(60_000)
  expect(models).toEqual([])
  const changed: (string | null)[] = []
  signals.on('change', (conversation) => changed.push(conversation))
  await vi.advanceTimersByTimeAsync(5_000)
  await vi.waitFor(() => expect([models, changed]).toEqual([['a'], [null]]))
})

test('passes over rows of a form that it does not know, and reads those of an older version', async () => {
  const { store, conversations, models } = conversationsOn()
  const { time, process, model, upstream, action, outcome, streamed, attempts } = usageRow({ process: 'old' })
  const bare = { time, process, model, upstream, action, outcome, streamed, attempts }
  const older = { ...bare, tokens_are_bounds: false, summary: 'none', added_ms: 1, total_ms: 2 }
  const newer = { ...usageRow({ process: 'next' }), outcome: 'of-tomorrow' }
  const texts = ['no JSON', JSON.stringify(newer), JSON.stringify(older)]
  await store.appendRows(
    'usage',
    texts.map((text) => ({ text })),
  )
  await conversations.list()
  expect(models).toEqual(['test-model'])
})

test('a store that fails in the middle costs nothing: it is read on from there', async () => {
  const inner = memoryStore()
  let reads = 0
  const { conversations, models, add } = conversationsOn({
    ...inner,
    readRows: async (journal, page) => {
      reads += 1
      // The first is for totals; two pages of usage go well.
      if (reads === 4) throw new Error('away')
      return inner.readRows(journal, page)
    },
  })
  const names = Array.from({ length: 650 }, (_, index) => `${index}`)
  await add('there', ...names)
  await conversations.list()
  expect(models).toHaveLength(400)
  await conversations.list()
  expect(models).toEqual(names)
})

// Twenty thousand rows of a week were read at the first look at the page, and no request was served meanwhile.
test('others are served while much is read', async () => {
  const { conversations, models, add } = conversationsOn()
  await add('there', ...Array.from({ length: 2_000 }, (_, index) => `${index}`))
  let turns = 0
  const counting = setInterval(() => (turns += 1), 0)
  await conversations.list()
  clearInterval(counting)
  expect(models).toHaveLength(2_000)
  expect(turns).toBeGreaterThan(2)
})
