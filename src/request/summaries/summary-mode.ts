import type { MessageFacts } from '../../conversation/message.ts'
import { parseEntry } from '../../dialects/entry-facts.ts'
import { hasSummaries } from '../../profiles/effective.ts'
import { drive } from '../../scheduling/drive.ts'
import { isCompactionPrompt } from '../../summaries/clients-compaction-prompts.ts'
import type { Chat, ReadRequest } from '../request.ts'

/**
 * How a request takes part in summaries. `background`: they are asked for ahead of need; `blocking`: when a compaction is
 * due, which waits; `fitted`: those that are there are used and none is asked for. Null: not even that.
 */
export type SummaryMode = 'background' | 'blocking' | 'fitted' | null

export async function summaryModeOf({ chat, profile, options, exchange }: ReadRequest): Promise<SummaryMode> {
  const { mode } = profile.summary
  if (options.compact === 'truncate' || mode === 'off') return null
  // A client with a key of Foldgate's own spends the operator's money: the operator says whether there are summaries.
  const isWished =
    options.compact === 'summarize' && (exchange.clientKeyName === null || hasSummaries(profile))
  if (!isWished && !hasSummaries(profile)) return null
  // The client summarises by itself: a summary of ours would be one of its question.
  if (await isOwnRequest(chat)) return 'fitted'
  if (isWished) return 'blocking'
  // No compaction comes that one could be asked for ahead of: recovery takes what stands, and recaps.
  return profile.trigger === 'off' && mode === 'background' ? 'fitted' : mode
}

// --- internal ---

/** By the facts of the latest user message, which is read once: it may be large, and stands for a whole turn. */
const asksForSummary = new WeakMap<MessageFacts, boolean>()

async function isOwnRequest({ messages, structure, source, dialect }: Chat): Promise<boolean> {
  const message = messages[structure.latestUserBefore(messages.length)]
  if (message === undefined) return false
  const known = asksForSummary.get(message.facts)
  if (known !== undefined) return known
  const asks = await drive(isCompactionPrompt(parseEntry(dialect, source, message).text))
  asksForSummary.set(message.facts, asks)
  return asks
}
