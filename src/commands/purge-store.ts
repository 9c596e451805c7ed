import { stat } from 'node:fs/promises'
import { isConversationId, noConversationId } from '../stores/conversation-id.ts'
import { failedInTheMiddle, nothingOf } from '../stores/deletion-messages.ts'
import { openBareStore, type OpenStoreOptions } from '../stores/open-store.ts'
import { StoreError, troubleOf } from '../stores/store-error.ts'
import { storeLocation } from '../stores/store-location.ts'
import type { Store } from '../stores/store.ts'

export type PurgeOptions = Omit<OpenStoreOptions, 'required' | 'encryptKey'> & {
  /** The conversation whose records go; null: everything. */
  readonly conversation: string | null
}

/** Deletes what Foldgate has stored, and says what that was. Rejects with a `StoreError`. */
export async function purgeStore(options: PurgeOptions): Promise<string> {
  const { conversation } = options
  if (conversation !== null && !isConversationId(conversation)) throw new StoreError(noConversationId)
  const location = storeLocation(options.url, options)
  if (location.kind === 'memory') {
    return 'Records are kept in memory (memory:): nothing is on disk, and they end with the process that holds them.'
  }
  if (location.kind === 'sqlite' && (await isAbsent(location.path))) {
    return `Nothing to delete: there is no file ${location.path}.`
  }
  const store = await openBareStore(location, options)
  try {
    return await purgeOpened(store, conversation)
  } catch (error) {
    const again = `see to it (${troubleOf(error)}), and run foldgate purge again`
    throw new StoreError(failedInTheMiddle(store, again), { cause: error })
  } finally {
    await store.close()
  }
}

// --- internal ---

async function purgeOpened(store: Store, conversation: string | null): Promise<string> {
  if (conversation === null) {
    const all = await store.purge()
    return all === 0
      ? `Nothing to delete: ${store.name} holds nothing of Foldgate's.`
      : `Deleted ${counted(all)} from ${store.name}: everything that Foldgate had stored there. A Foldgate that runs still shows what it holds in memory.`
  }
  const deleted = await store.deleteGroup(conversation)
  return deleted === 0
    ? nothingOf(conversation, store)
    : `Deleted ${counted(deleted)} of the conversation ${conversation} from ${store.name}.`
}

async function isAbsent(path: string): Promise<boolean> {
  try {
    await stat(path)
    return false
  } catch {
    return true
  }
}

/** Values and rows: to whoever deletes them they are records alike. */
function counted(records: number): string {
  return records === 1 ? '1 record' : `${records} records`
}
