import { isConversationId, noConversationId } from '../conversation/keys.ts'
import { FoldgateError } from '../errors.ts'
import type { Store } from '../storage/store.ts'
import { within } from '../storage/within.ts'
import type { SummaryWriter } from '../summaries/summary-writer.ts'

type DeleteConversationParts = {
  readonly store: Pick<Store, 'name' | 'deleteGroup'>
  readonly summaryWriter: Pick<SummaryWriter, 'forget'>
  /** Forgets what this process has kept of its requests; resolves with whether there was anything. Must not reject. */
  readonly forget: (conversation: string) => Promise<boolean>
  /** Deletes its file in the archive; resolves with whether there was one. */
  readonly deleteArchived: (conversation: string) => Promise<boolean>
  /** The store or the archive failed. Must not throw. */
  readonly onFailed: (part: 'store' | 'archive', error: unknown) => void
  /** Something was deleted. Must not throw. */
  readonly onDeleted: (conversation: string, deleted: Deleted) => void
  /** How long the store may take, and then the archive, in milliseconds. Default 10,000. */
  readonly deadlineMs?: number
}

/** What was deleted of a conversation in the store and the archive. */
type Deleted = { readonly records: number; readonly hadFile: boolean }

/**
 * Deletes what is kept of a conversation: its records and summaries in the store, the summary
 * that is being written for it, and its file in the archive. Throws `invalid_conversation_id`, `unknown_conversation` if there
 * was nothing, or `store_failed`.
 *
 * What was made of its messages (`made-cache.ts`), their facts and their counts stay until they are driven out: they are found
 * only by the very bytes they were made of, are the same when they are made again, and no id leads to them. So do the figures
 * beside its id of what its prompts taught about an upstream, which are gone within an hour.
 */
export function createDeleteConversation(parts: DeleteConversationParts): (id: string) => Promise<void> {
  const { store, summaryWriter, deadlineMs = DEADLINE_MS } = parts

  async function deleted(id: string): Promise<{ records: number; wasHeld: boolean }> {
    // First, so that nothing is written behind the deletion.
    const wasWritten = await summaryWriter.forget(id)
    const wasHeld = (await parts.forget(id)) || wasWritten
    return { wasHeld, records: await store.deleteGroup(id) }
  }

  return async function deleteConversation(id) {
    if (!isConversationId(id)) {
      throw new FoldgateError('invalid_conversation_id', noConversationId, { param: 'id' })
    }
    const { records, wasHeld } = await attempt(
      'store',
      deleted(id),
      `${store.name} failed in the middle of it: send the request again. Until it is answered with 204 or 404, records of the conversation may be there.`,
    )
    const hadFile = await attempt(
      'archive',
      parts.deleteArchived(id),
      `The records of the conversation ${id} are deleted, its file in archive.dir may not be: see to the folder, and send the request again.`,
    )
    if (records === 0 && !wasHeld && !hadFile) {
      const message = `Nothing to delete: ${store.name} has no records of the conversation ${id}.`
      throw new FoldgateError('unknown_conversation', message, { param: 'id' })
    }
    parts.onDeleted(id, { records, hadFile })
  }

  /** What comes of the work; throws `store_failed` with these words where it fails or takes too long. */
  async function attempt<Result>(
    part: 'store' | 'archive',
    work: Promise<Result>,
    failure: string,
  ): Promise<Result> {
    try {
      return await within(deadlineMs, work)
    } catch (error) {
      parts.onFailed(part, error)
      throw new FoldgateError('store_failed', failure, { cause: error })
    }
  }
}

// --- internal ---

/** What takes longer has failed, in milliseconds. */
const DEADLINE_MS = 10_000
