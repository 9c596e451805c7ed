import type { Chat, ConversationTokens } from '../../request/request.ts'
import { RECAP_OPEN } from '../../compaction/recap/recap.ts'
import { SUMMARY_OPEN } from '../../compaction/standing-summary.ts'
import type { View } from '../../compaction/view/view.ts'
import type { Message, Role } from '../../conversation/message.ts'
import { parseEntry } from '../../dialects/entry-facts.ts'
import type { Steps } from '../../conversation/source.ts'
import { mediaTokens } from '../../tokens/media-tokens.ts'
import { PRIMING_TOKENS } from '../../tokens/message-tokens.ts'
import type { CountsByRole, TokensByCategory } from './explanation.ts'

/** The tokens of what came, by what they stand for. */
export function* tallyReceived(chat: Chat, counts: ConversationTokens): Steps<TokensByCategory> {
  const tally = openTally(counts)
  for (const [index, message] of chat.messages.entries()) {
    const { tokens = 0, mediaTokens: media = 0 } = counts.perMessage[index] ?? {}
    tally.add(categoryOf(chat, message), tokens - media)
    tally.add('images', media)
    yield
  }
  return tally.total()
}

/** The tokens of a view. `sent` is what was made of it, read again: so it is told what media are left. */
export function* tallySent(
  sent: Chat,
  view: View,
  counts: ConversationTokens,
  model: string,
): Steps<TokensByCategory> {
  const tally = openTally(counts)
  for (const [place, message] of sent.messages.entries()) {
    const { tokens = 0, joined = [], how = 'kept' } = view.messages[place] ?? {}
    const media = message.facts.media.reduce((sum, each) => sum + mediaTokens(each, model), 0)
    const written = joined.reduce((sum, part) => sum + (part.standsFor === null ? 0 : part.tokens), 0)
    const isStandIn = joined.length === 0 && (how === 'summary' || how === 'recap')
    tally.add('summary', written)
    tally.add('images', media)
    tally.add(isStandIn ? 'summary' : categoryOf(sent, message), tokens - media - written)
    yield
  }
  return tally.total()
}

/** How many messages of each role there are. */
export function countRoles({ messages }: Pick<Chat, 'messages'>): CountsByRole {
  const counts: Record<string, number> = {}
  for (const { facts } of messages) counts[facts.role] = (counts[facts.role] ?? 0) + 1
  return { ...counts, total: messages.length }
}

// --- internal ---

type Category = Exclude<keyof TokensByCategory, 'total' | 'tools'>

function openTally({ toolsTokens }: ConversationTokens) {
  const tokens = {
    system: 0,
    tools: toolsTokens,
    user: 0,
    assistant: 0,
    tool_results: 0,
    images: 0,
    summary: 0,
    other: PRIMING_TOKENS,
  }
  return {
    add: (category: Category, count: number): void => {
      tokens[category] += count
    },
    total: (): TokensByCategory => ({
      ...tokens,
      total: Object.values(tokens).reduce((sum, count) => sum + count, 0),
    }),
  }
}

const categoryOfRole = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
  tool: 'tool_results',
  other: 'other',
} as const satisfies Record<Role, Category>

function categoryOf({ dialect, source }: Chat, message: Message): Category {
  const { role } = message.facts
  if (role !== 'user') return categoryOfRole[role]
  const { text } = parseEntry(dialect, source, message)
  return text.startsWith(SUMMARY_OPEN) || text.startsWith(RECAP_OPEN) ? 'summary' : 'user'
}
