import { FoldgateError } from '../errors.ts'
import { isConversationId, noConversationId } from '../stores/conversation-id.ts'
import { failedInTheMiddle, nothingOf } from '../stores/deletion-messages.ts'
import type { Store } from '../stores/store.ts'
import { within } from '../stores/within.ts'
import type { Desk } from '../summaries/desk.ts'

export type DeleteConversationParts = {
  readonly store: Pick<Store, 'name' | 'deleteGroup'>
  readonly desk: Pick<Desk, 'forget'>
  /** Forgets what the books of this process have of it; resolves with whether there was anything. Must not reject. */
  readonly forget: (conversation: string) => Promise<boolean>
  /** The store failed. Must not throw. */
  readonly onStoreFailure: (error: unknown) => void
  /** Something was deleted: so many records. Must not throw. */
  readonly onDeleted: (conversation: string, records: number) => void
  /** How long all of it may take, in milliseconds. Default 10,000. */
  readonly deadlineMs?: number
}

/**
 * Deletes what is kept of a conversation: its records and summaries in the store, and the summary that is being written
 * for it. Throws `invalid_conversation_id`, `unknown_conversation` where there was nothing, or `store_failed`.
 *
 * What was made of its messages (`made-cache.ts`), their facts and their counts stay until they are driven out: they are
 * found only by the very bytes they were made of, are the same when they are made again, and no id leads to them. So do
 * the figures beside its id of what its prompts taught about an upstream, which are gone within an hour.
 */
export function createDeleteConversation(parts: DeleteConversationParts): (id: string) => Promise<void> {
  const { store, desk, deadlineMs = DEADLINE_MS } = parts

  async function deleted(id: string): Promise<{ records: number; wasHeld: boolean }> {
    // First, so that nothing is written behind the deletion.
    const wasWritten = await desk.forget(id)
    const wasHeld = (await parts.forget(id)) || wasWritten
    return { wasHeld, records: await store.deleteGroup(id) }
  }

  return async function deleteConversation(id) {
    if (!isConversationId(id)) {
      throw new FoldgateError('invalid_conversation_id', noConversationId, { param: 'id' })
    }
    let done: Awaited<ReturnType<typeof deleted>>
    try {
      done = await within(deadlineMs, deleted(id))
    } catch (error) {
      parts.onStoreFailure(error)
      throw new FoldgateError(
        'store_failed',
        `${failedInTheMiddle(store, 'send the request again')}. Until it is answered with 204 or 404, records of the conversation may be there.`,
        { cause: error },
      )
    }
    if (done.records === 0 && !done.wasHeld) {
      throw new FoldgateError('unknown_conversation', nothingOf(id, store), { param: 'id' })
    }
    parts.onDeleted(id, done.records)
  }
}

// --- internal ---

/** What takes longer has failed, in milliseconds. */
const DEADLINE_MS = 10_000
