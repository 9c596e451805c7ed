import { existsSync } from 'node:fs'
import { purgeArchive } from '../archive/archive.ts'
import { loadSettings, type Settings } from '../config/settings.ts'
import { isConversationId, noConversationId } from '../conversation/prefix-keys.ts'
import { openBareStore, storeLocation } from '../storage/open-store.ts'
import type { UserPlace } from '../storage/state-folder.ts'
import { StoreError, troubleOf } from '../storage/store-error.ts'
import { type CommandContext, complain, flagText, say } from './command.ts'

/** Deletes what is stored and archived: all of it, or what belongs to one conversation. */
export async function purge(context: CommandContext): Promise<number> {
  const loaded = await loadSettings(context)
  if (!loaded.ok) return complain(context, loaded.problems)
  const { dir } = loaded.settings.archive
  const conversation = flagText(context.flags, 'conversation')
  try {
    say(context, await purgeStore(loaded.settings.store, context, conversation))
    return dir === null ? 0 : say(context, await purgeArchive(dir, conversation))
  } catch (error) {
    if (error instanceof StoreError) return complain(context, [error.message])
    throw error
  }
}

/** Deletes what the store holds, or the records of one conversation, and says what that was. Rejects with a `StoreError`. */
export async function purgeStore(
  settings: Pick<Settings['store'], 'url' | 'ttl_days' | 'max_mb'>,
  place: UserPlace,
  conversation: string | null,
): Promise<string> {
  if (conversation !== null && !isConversationId(conversation)) throw new StoreError(noConversationId)
  const location = storeLocation(settings.url, place)
  if (location.kind === 'memory') {
    return 'Records are kept in memory (memory:): nothing is on disk, and they end with the process that holds them.'
  }
  if (location.kind === 'sqlite' && !existsSync(location.path)) {
    return `Nothing to delete: there is no file ${location.path}.`
  }
  const store = await openBareStore(location, settings)
  try {
    const records = conversation === null ? await store.purge() : await store.deleteGroup(conversation)
    const counted = records === 1 ? '1 record' : `${records} records`
    if (conversation === null) {
      return records === 0
        ? `Nothing to delete: ${store.name} holds nothing of Foldgate's.`
        : `Deleted ${counted} from ${store.name}: everything that Foldgate had stored there. A Foldgate that runs still shows what it holds in memory.`
    }
    return records === 0
      ? `Nothing to delete: ${store.name} has no records of the conversation ${conversation}.`
      : `Deleted ${counted} of the conversation ${conversation} from ${store.name}.`
  } catch (error) {
    const message = `${store.name} failed in the middle of it: see to it (${troubleOf(error)}), and run foldgate purge again`
    throw new StoreError(message, { cause: error })
  } finally {
    await store.close()
  }
}
