import { isWholePath } from '../../subject/things.ts'
import type { Mention } from './mentions.ts'

/**
 * How likely it is, from 0 to 1, that a thing which is no longer in view is named again in the next ten or so
 * steps. What the assistant itself used often and lately comes back; what only tools printed seldom does. The
 * weights are those of a logistic regression over recorded coding runs, rounded; but for the last two: what the
 * user named is asked for where nothing is recorded, and a whole path that was said once cannot be guessed again.
 */
export function likelihoodOf(name: string, mention: Mention): number {
  const { messages, ofAssistant, assistantAgeTokens } = mention
  const age =
    assistantAgeTokens === null ? NEVER_AGE : Math.log2(1 + (assistantAgeTokens + TAIL_TOKENS) / 1000)
  const odds =
    -1.5 +
    0.35 * Math.log2(messages) +
    0.15 * Math.log2(1 + ofAssistant) -
    0.35 * age -
    (ofAssistant === 0 ? 0.7 : 0) -
    (isNumber.test(name) ? 1.5 : 0) -
    (name.includes('://') ? 1.5 : 0) +
    (mention.isUsers ? 4 : 0) +
    (messages === 1 && isWholePath(name) ? 2 : 0)
  return 1 / (1 + Math.exp(-odds))
}

// --- internal ---

/** What stands in view behind the messages in question, about: their ages count from there. */
const TAIL_TOKENS = 3000

/** As old as sixty thousand tokens: what the assistant never named itself. */
const NEVER_AGE = 6

const isNumber = /^[\d.,:-]+$/
