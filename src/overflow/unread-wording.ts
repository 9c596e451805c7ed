import { namesOtherMatter } from './error-codes.ts'
import { collectErrorFacts } from './error-text.ts'
import { isOfCaller } from './words.ts'
import { isFault } from './words.ts'
import { sentencesIn } from './sentences.ts'

/**
 * What a refusal says that may be about the prompt's length, in words that no rule can read: without its numbers and ids, so
 * that it is the same the next time. Null where it is about something else, or a server in trouble that names no context.
 */
export function unreadWording(body: string, status: number): string | null {
  const facts = collectErrorFacts(body)
  const innermost = facts.statuses.at(-1) ?? status
  const isRefusal = innermost === 400 || innermost === 413 || innermost === 422
  if (!isRefusal && !(innermost === 500 && /\b(?:context|tokens?)\b/i.test(facts.words))) return null
  if (namesOtherMatter(facts) || isFault(facts.text)) return null
  // Advice stands behind most refusals, such as another plan.
  const stated = sentencesIn(facts.words, 'capitals').filter((sentence) => !isAdvice.test(sentence))
  if (stated.some(isOfCaller)) return null
  return facts.words.replaceAll(/\d+/g, '').slice(0, wordingCharactersMax)
}

// --- internal ---

const wordingCharactersMax = 400
const isAdvice = /^(?:please|consider|try|see|visit|you (?:may|can))\b/i
