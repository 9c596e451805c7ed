import type { Chat, ConversationTokens } from '../../request/request.ts'
import { RECAP_OPEN } from '../../compaction/recap/recap.ts'
import { SUMMARY_OPEN } from '../../compaction/standing-summary.ts'
import type { View } from '../../compaction/view/view.ts'
import type { Message, Role } from '../../conversation/message.ts'
import { parseEntry } from '../../dialects/entry-facts.ts'
import type { Steps } from '../../conversation/source.ts'
import { mediaTokens } from '../../tokens/media-tokens.ts'
import { sumOf } from '../../subject/size-sums.ts'
import { PRIMING_TOKENS } from '../../tokens/message-tokens.ts'
import type { CountsByRole, TokensByCategory } from './explanation.ts'

/** The tokens of what came, by what they stand for. */
export function* tallyReceived(chat: Chat, counts: ConversationTokens): Steps<TokensByCategory> {
  const tally = tallyOf(counts)
  for (const [index, message] of chat.messages.entries()) {
    const { tokens = 0, mediaTokens: media = 0 } = counts.perMessage[index] ?? {}
    tally[categoryOf(chat, message)] += tokens - media
    tally.images += media
    yield
  }
  return withTotal(tally)
}

/** The tokens of a view. `sent` is what was made of it, read again: so it is told what media are left. */
export function* tallySent(
  sent: Chat,
  view: View,
  counts: ConversationTokens,
  model: string,
): Steps<TokensByCategory> {
  const tally = tallyOf(counts)
  for (const [place, message] of sent.messages.entries()) {
    const { tokens = 0, joined = [], how = 'kept' } = view.messages[place] ?? {}
    const media = message.facts.media.reduce((sum, each) => sum + mediaTokens(each, model), 0)
    const written = joined.reduce((sum, part) => sum + (part.standsFor === null ? 0 : part.tokens), 0)
    const isStandIn = joined.length === 0 && (how === 'summary' || how === 'recap')
    tally.summary += written
    tally.images += media
    tally[isStandIn ? 'summary' : categoryOf(sent, message)] += tokens - media - written
    yield
  }
  return withTotal(tally)
}

/** How many messages of each role there are. */
export function countRoles({ messages }: Pick<Chat, 'messages'>): CountsByRole {
  const counts: Record<string, number> = {}
  for (const { facts } of messages) counts[facts.role] = (counts[facts.role] ?? 0) + 1
  return { ...counts, total: messages.length }
}

// --- internal ---

type Tally = Record<Exclude<keyof TokensByCategory, 'total'>, number>

/** What stands around the messages: tools, what is said as the operator's beside them, what primes the reply. */
function tallyOf({ toolsTokens: tools, aroundTokens, subject }: ConversationTokens): Tally {
  const nothing = { user: 0, assistant: 0, tool_results: 0, images: 0, summary: 0 }
  const leading = sumOf(subject.sizes, 0, subject.structure.systemCount)
  return { system: aroundTokens - tools - PRIMING_TOKENS - leading, tools, ...nothing, other: PRIMING_TOKENS }
}

function withTotal(tally: Tally): TokensByCategory {
  return { ...tally, total: Object.values(tally).reduce((sum, count) => sum + count, 0) }
}

const categoryOfRole = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
  tool: 'tool_results',
  other: 'other',
} as const satisfies Record<Role, keyof Tally>

function categoryOf({ dialect, source }: Chat, message: Message): keyof Tally {
  const { role, startsHistory } = message.facts
  if (startsHistory === true) return 'summary'
  if (role !== 'user') return categoryOfRole[role]
  const { text } = parseEntry(dialect, source, message)
  return text.startsWith(SUMMARY_OPEN) || text.startsWith(RECAP_OPEN) ? 'summary' : 'user'
}
