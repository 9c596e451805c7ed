import { isConversationId, noConversationId } from '../conversation/prefix-keys.ts'
import { FoldgateError } from '../errors.ts'
import type { Store } from '../storage/store.ts'
import { within } from '../storage/store-error.ts'
import type { SummaryWriter } from '../summaries/summary-writer.ts'
import type { Activity } from '../telemetry/activity.ts'
import type { Failures } from '../telemetry/failures.ts'
import type { Signals } from '../telemetry/journal/journal.ts'
import type { Log } from '../telemetry/log/log.ts'
import type { Archive } from '../archive/archive.ts'

/**
 * Deletes what is kept of a conversation: its records and summaries in the store, the summary that is being written for
 * it, and its file in the archive. Throws `invalid_conversation_id`, `unknown_conversation` if there was nothing, or
 * `store_failed`.
 *
 * What was made of its messages (`made-cache.ts`), their facts and their counts stay until they are driven out: they are found
 * only by the very bytes they were made of, are the same when they are made again, and no id leads to them. So do the figures
 * beside its id of what its prompts taught about an upstream, which are gone within an hour.
 */
export async function deleteConversation(
  id: string,
  parts: {
    readonly store: Pick<Store, 'name' | 'deleteGroup'>
    readonly requests: Pick<SummaryWriter, 'forget'>
    readonly activity: {
      readonly forget: Activity['forget']
      readonly failures: Pick<Failures, 'note'>
      readonly signals: Pick<Signals, 'emit'>
    }
    /** Null if what is folded is kept nowhere. */
    readonly archive: Pick<Archive, 'delete'> | null
    readonly log: Pick<Log, 'info'>
  },
): Promise<void> {
  const { store, requests, activity, archive, log } = parts
  if (!isConversationId(id)) {
    throw new FoldgateError('invalid_conversation_id', noConversationId, { param: 'id' })
  }
  const { records, wasHeld } = await attempt(
    'store',
    deleteRecords(),
    `${store.name} failed in the middle of it: send the request again. Until it is answered with 204 or 404, records of the conversation may be there.`,
  )
  const hadFile = await attempt(
    'archive',
    archive === null ? Promise.resolve(false) : archive.delete(id),
    `The records of the conversation ${id} are deleted, its file in archive.dir may not be: see to the folder, and send the request again.`,
  )
  if (records === 0 && !wasHeld && !hadFile) {
    const message = `Nothing to delete: ${store.name} has no records of the conversation ${id}.`
    throw new FoldgateError('unknown_conversation', message, { param: 'id' })
  }
  const files = archive === null ? {} : { archived_files: hadFile ? 1 : 0 }
  log.info('a conversation was deleted', { conversation: id, records, ...files })
  activity.signals.emit('change', id)

  async function deleteRecords(): Promise<{ records: number; wasHeld: boolean }> {
    // First, so that nothing is written behind the deletion.
    const wasWritten = await requests.forget(id)
    const wasKnown = await activity.forget(id)
    return { wasHeld: wasWritten || wasKnown, records: await store.deleteGroup(id) }
  }

  /** What comes of the work; throws `store_failed` with these words where it fails or takes too long. */
  async function attempt<Result>(
    part: 'store' | 'archive',
    work: Promise<Result>,
    failure: string,
  ): Promise<Result> {
    try {
      return await within(DEADLINE_MS, work)
    } catch (error) {
      activity.failures.note(part, error)
      throw new FoldgateError('store_failed', failure, { cause: error })
    }
  }
}

// --- internal ---

/** How long the store may take, and then the archive, in milliseconds. */
const DEADLINE_MS = 10_000
