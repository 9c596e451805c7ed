import type { Chat, ConversationTokens } from '../../pipeline/request.ts'
import { sumOf } from '../../conversation/sizes.ts'
import { RECAP_OPEN } from '../../compaction/recap/recap.ts'
import { SUMMARY_OPEN } from '../../compaction/standing-summary.ts'
import type { View } from '../../compaction/view/view.ts'
import type { Message, Role } from '../../conversation/message.ts'
import { parseEntry } from '../../formats/entry-facts.ts'
import type { Pausable } from '../../json/source.ts'
import { mediaTokens } from '../../tokens/media-tokens.ts'
import { PRIMING_TOKENS } from '../../tokens/message-tokens.ts'

/** The tokens of what came. */
export function tallyReceived(chat: Chat, counts: ConversationTokens) {
  return tally(chat, counts, (_, index) => {
    const { tokens = 0, mediaTokens: media = 0 } = counts.perMessage[index] ?? {}
    return { tokens, media, summary: 0, isSummary: false }
  })
}

/** The tokens of a view. `sent` is what was made of it, read again: so it is told what media are left. */
export function tallySent(sent: Chat, view: View, counts: ConversationTokens, model: string) {
  return tally(sent, counts, ({ facts }, index) => {
    const { tokens = 0, joined = [], how = 'kept' } = view.messages[index] ?? {}
    return {
      tokens,
      media: facts.media.reduce((sum, each) => sum + mediaTokens(each, model), 0),
      summary: joined.reduce((sum, part) => sum + (part.standsFor === null ? 0 : part.tokens), 0),
      isSummary: joined.length === 0 && (how === 'summary' || how === 'recap'),
    }
  })
}

// --- internal ---

/** What the tokens of a prompt stand for. */
const noTokens = {
  system: 0,
  /** Tools, functions and the response's schema. */
  tools: 0,
  user: 0,
  assistant: 0,
  tool_results: 0,
  /** Images, sound and files, whosever message they stand in. */
  images: 0,
  /** Summaries and recaps: ours, and what came with such tags. */
  summary: 0,
  /** Messages of roles that are not known, and what primes the reply. */
  other: 0,
}

type TokensByCategory = typeof noTokens

type Sizes = {
  /** Of the whole message; media and summaries that were joined to it are among them. */
  readonly tokens: number
  readonly media: number
  readonly summary: number
  /** Whether it is nothing but a summary or recap of ours. */
  readonly isSummary: boolean
}

function* tally(
  chat: Chat,
  { toolsTokens, aroundTokens, history }: ConversationTokens,
  sizesOf: (message: Message, index: number) => Sizes,
): Pausable<TokensByCategory & { readonly total: number }> {
  // What stands around the messages: tools, what is said as the operator's beside them, what primes the reply.
  const leading = sumOf(history.sizes, 0, history.structure.systemCount)
  const system = aroundTokens - toolsTokens - PRIMING_TOKENS - leading
  const sums = { ...noTokens, system, tools: toolsTokens, other: PRIMING_TOKENS }
  for (const [index, message] of chat.messages.entries()) {
    const { tokens, media, summary, isSummary } = sizesOf(message, index)
    sums.images += media
    sums.summary += summary
    sums[isSummary ? 'summary' : categoryOf(chat, message)] += tokens - media - summary
    yield
  }
  return { ...sums, total: Object.values(sums).reduce((sum, count) => sum + count, 0) }
}

const categoryOfRole = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
  tool: 'tool_results',
  other: 'other',
} as const satisfies Record<Role, keyof TokensByCategory>

function categoryOf({ dialect, source }: Chat, message: Message) {
  const { role, startsHistory } = message.facts
  if (startsHistory === true) return 'summary'
  if (role !== 'user') return categoryOfRole[role]
  const { text } = parseEntry(dialect, source, message)
  return text.startsWith(SUMMARY_OPEN) || text.startsWith(RECAP_OPEN) ? 'summary' : 'user'
}
