import type { Log } from '../log/log.ts'
import type { Written } from './write-summary.ts'

/** Tells what came of a summary: figures and the conversation's id, never what it says. */
export function tellSummary(log: Log, conversation: string, written: Written): void {
  const { calls, promptTokens, completionTokens, cachedTokens } = written
  const facts = {
    conversation,
    calls,
    prompt_tokens: promptTokens,
    cached_tokens: cachedTokens,
    completion_tokens: completionTokens,
  }
  if (written.kind === 'written') log.info('a summary was written', { ...facts, tokens: written.tokens })
  else if (written.reason === 'cancelled') log.info('a summary was broken off', facts)
  else log.warn('a summary failed, a recap takes its place', { ...facts, reason: written.reason })
}
