import type { Message } from '../conversation/message.ts'
import type { Steps } from '../conversation/source.ts'
import type { TokenCounter } from '../tokens/bpe-counter.ts'
import { messageTokens } from '../tokens/message-tokens.ts'
import { hiddenTokens, unreadTokens } from '../tokens/unread-tokens.ts'
import { readForm, textOfForm } from './read-message.ts'
import type { Subject } from './subject.ts'

/** How much less a message of so many tokens weighs without the thoughts in it that are bound; 0 if it holds none. */
export function* boundTokens(
  subject: Pick<Subject, 'source' | 'dialect'>,
  message: Message,
  tokens: number,
  counter: TokenCounter,
  model: string,
): Steps<number> {
  if (message.facts.bound !== 'part') return 0
  const form = yield* readForm(subject, message, true)
  const unread = yield* unreadTokens(subject.source, message, counter.countSteps)
  const left = yield* messageTokens(form.parsed, message.facts, counter, model)
  return Math.max(0, tokens - left - hiddenTokens(message, unread, textOfForm(form)))
}
