import { setTimeout as sleep } from 'node:timers/promises'
import { conversationOf } from '../../../admin/admin-stand.ts'
import { adminPlace, askAdmin } from '../../../admin/ask-admin.ts'
import { chatOf, postChat } from '../../../support/post-chat.ts'
import { growing, longRun, type TestMessage } from '../../../support/conversations.ts'
import { completion, fakeUpstream, overflow, type Script } from '../../../support/fake-upstream.ts'
import { startFoldgate } from '../../../support/foldgate.ts'
import { encryptedStore } from '../../../../src/stores/encrypted-store.ts'
import { openMemoryStore } from '../../../../src/stores/memory-store.ts'
import type { JournalName, NewJournalRow, Store, StoreEntry } from '../../../../src/stores/store.ts'

/** What lies in a store that was used. */
export type Contents = {
  readonly entries: readonly StoreEntry[]
  readonly rows: readonly { readonly journal: JournalName; readonly row: NewJournalRow }[]
  /** The conversation that it was used for, and its id. */
  readonly messages: readonly TestMessage[]
  readonly conversation: string
}

/** Small enough that a conversation is compacted every few rounds. */
export const profile = {
  window: { tokens: 3_000, output_reserve: 256 },
  strategy: 'summarize',
  summary: { wait_ms: 200, min_savings_ratio: 0 },
  recall: { enabled: true },
} as const

/** The secret of a store whose values are encrypted. */
export const STORE_SECRET = 'a secret for fuzzing'

/** Uses a store for everything that there is to keep: compactions, seen requests, summaries, lessons, journals, wishes. */
export async function liveWith(isEncrypted: boolean): Promise<Contents> {
  const entries = new Map<string, StoreEntry>()
  const rows: { journal: JournalName; row: NewJournalRow }[] = []
  const bare = openStore()
  const recording: Store = {
    ...bare,
    putIfAbsent: async (key, value, group) => {
      const standing = await bare.putIfAbsent(key, value, group)
      keep({ key, value: standing, ...(group !== undefined && { group }) })
      return standing
    },
    put: async (written) => {
      written.forEach(keep)
      await bare.put(written)
    },
    appendRows: async (journal, written) => {
      rows.push(...written.map((row) => ({ journal, row })))
      await bare.appendRows(journal, written)
    },
  }
  function keep(entry: StoreEntry): void {
    entries.set(entry.key, entry)
  }
  const messages = longRun(24, 7)
  await using upstream = await fakeUpstream(answersInTurn())
  const place = await adminPlace()
  const store = isEncrypted ? encryptedStore(recording, STORE_SECRET) : recording
  const foldgate = await startFoldgate({ upstream: upstream.url, profile, store, flags: place.flags })
  let conversation = ''
  for (const request of growing(messages)) {
    const reply = await postChat(foldgate.url, chatOf(request))
    conversation = conversationOf(reply)
    // A summary that is asked for beside an answer shall be there before the next request.
    await sleep(10)
  }
  await askAdmin(place.origin, `/conversations/${conversation}/compact`, { method: 'POST' })
  await foldgate.close()
  return { entries: [...entries.values()], rows, messages, conversation }
}

/** A store with these contents. */
export async function storeWith(contents: Pick<Contents, 'entries' | 'rows'>): Promise<Store> {
  const store = openStore()
  await store.put(contents.entries)
  for (const { journal, row } of contents.rows) await store.appendRows(journal, [row])
  return store
}

// --- internal ---

function openStore(): Store {
  return openMemoryStore({ bytesMax: 64 * 1024 * 1024, lifetimeMs: 0 })
}

/** Now and then a prompt is refused, so that there is a window to be learnt. */
function answersInTurn(): Script {
  let asked = 0
  const fine = completion(
    '# Summary\n\nThe retries were traced to src/queue/retry.ts; the test is still red.',
  )
  return (...exchange) => {
    asked += 1
    return asked === 3 ? overflow(2_800)(...exchange) : fine(...exchange)
  }
}
