import type { Failures } from '../activity/failures.ts'
import type { Compaction } from '../compaction/compaction.ts'
import { lostMessages } from '../compaction/view/view.ts'
import type { MadeCache } from '../compaction/made-cache.ts'
import type { Policy } from '../compaction/policy.ts'
import type { Subject } from '../subject/subject.ts'
import { drive } from '../scheduling/drive.ts'
import type { Archive } from './archive.ts'
import { writeCompactionEntry } from './compaction-entry.ts'
import { titleOf } from './files.ts'

/**
 * Keeps what a compaction takes out of a conversation's view. Resolves with whether the conversation's file holds it;
 * never rejects.
 */
export type KeepTaken = (
  request: {
    /** The meaning key of every prefix of the conversation. */
    readonly chat: { readonly keys: readonly string[] }
    /** The conversation's id. */
    readonly remembered: { readonly conversation: string }
    readonly profile: Policy
  },
  counted: { readonly subject: Subject },
  compaction: Compaction,
) => Promise<boolean>

export type ArchivingOptions = {
  /** Null if nothing is kept. */
  readonly archive: Archive | null
  readonly cache: MadeCache
  readonly failures: Failures
  readonly nowMs: () => number
}

/** Keeps it in an archive; a failure is counted, and the request goes on as if there were none. */
export function createArchiving({ archive, cache, failures, nowMs }: ArchivingOptions): KeepTaken {
  if (archive === null) return async () => true
  return async function keepTaken({ chat, remembered, profile }, { subject }, compaction) {
    const { conversation } = remembered
    return failures.around('archive', false, async () => {
      const lost = await drive(lostMessages(subject, profile, cache, compaction))
      if (lost.length === 0 && (compaction.fold?.summaries ?? []).length === 0) return true
      const time = new Date(nowMs()).toISOString()
      await archive.append(conversation, async ({ isEmpty, holdings }) => {
        const pieces = isEmpty ? [Buffer.from(titleOf(conversation))] : []
        const entry = { subject, compaction, lost, keys: chat.keys, time, holdings }
        await drive(writeCompactionEntry(entry, (text) => pieces.push(Buffer.from(text))))
        return pieces
      })
      return true
    })
  }
}
