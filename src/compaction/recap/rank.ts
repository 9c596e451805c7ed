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

/**
 * Whether a name says nothing even beside what it was named with: an address or an id needs the words around
 * it, a path, an identifier and the number of a line do not.
 */
export function needsWords(name: string): boolean {
  return /\w@\w/.test(name) || (/\d.*\d.*\d/.test(name) && /[a-z]/i.test(name) && !/[/._]/.test(name))
}

/** A path from its root: nobody can guess it again. */
export function isWholePath(name: string): boolean {
  return /^\/.+\/.+\//.test(name)
}

/** A whole path, an e-mail address, or what digits and letters make: an id. A time of day has one letter at most. */
export function isUnguessable(name: string): boolean {
  const isId = /\d.*\d.*\d/.test(name) && /[a-z].*[a-z]/i.test(name) && !/[/.]/.test(name)
  return isId || isWholePath(name) || /\w@\w/.test(name)
}

// --- internal ---

/** What stands in view behind the messages in question, about: their ages count from there. */
const TAIL_TOKENS = 3000

/** As old as sixty thousand tokens: what the assistant never named itself. */
const NEVER_AGE = 6

const isNumber = /^[\d.,:-]+$/
