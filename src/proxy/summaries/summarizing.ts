import { parseMessage } from '../../conversation/parse.ts'
import type { Profile } from '../../profiles/schema.ts'
import { isOwnSummaryRequest } from '../../summaries/own-requests.ts'
import type { ChatRequest } from '../request/chat-request.ts'
import type { Chat } from '../request/read-chat.ts'

/**
 * How a request takes part in summaries. `background`: they are asked for ahead of need; `blocking`: when a stride is
 * due, which waits; `fitted`: what is there is used and none is asked for. Null: there are none.
 */
export type Summarizing = 'background' | 'blocking' | 'fitted' | null

export function summarizingOf({ chat, profile, wishes }: ChatRequest): Summarizing {
  if (wishes.compact === 'truncate' || profile.summary.mode === 'off') return null
  const isWished = wishes.compact === 'summarize'
  if (!isWished && !hasSummaries(profile)) return null
  // The client summarises by itself: a summary of ours would be one of its question.
  if (isOwnSummaryRequest(latestUserText(chat))) return 'fitted'
  return isWished ? 'blocking' : profile.summary.mode
}

/** Whether a profile has summaries, not only recaps. */
export function hasSummaries({ strategy, summary }: Pick<Profile, 'strategy' | 'summary'>): boolean {
  if (summary.mode === 'off') return false
  return strategy === 'auto' ? summary.model !== null || summary.upstream !== null : strategy === 'summarize'
}

// --- internal ---

function latestUserText({ messages, structure, source }: Chat): string {
  const message = messages[structure.latestUserBefore(messages.length)]
  return message === undefined ? '' : parseMessage(source, message).text
}
