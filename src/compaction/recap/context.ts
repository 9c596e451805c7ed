import type { Steps } from '../../conversation/source.ts'
import type { MadeCache } from '../made-cache.ts'
import { readMessage } from '../read-message.ts'
import { callOf, type Subject } from '../subject.ts'
import { argumentLines } from './passage.ts'
import { thingsIn } from './things.ts'

/**
 * What a message deals with, in a word or a few: the first specific thing in the arguments of the call that it
 * makes or answers, which mostly is a path, else how those arguments begin; '' where there is no call. Things
 * that were named in one context belong together.
 */
export function* contextOf(subject: Subject, index: number, cache: MadeCache): Steps<string> {
  const call = callOf(subject, index)
  const message = call === null ? undefined : subject.messages[call.index]
  if (call === null || message === undefined) return ''
  const key = `context:${subject.memorySpace}:${message.facts.hash}:${call.position}`
  const known = cache.get(key)?.text ?? null
  if (known !== null) return known
  const { calls } = yield* readMessage(subject, message)
  const context = beginning(yield* argumentLines(calls[call.position]?.argumentsText ?? ''))
  cache.set(key, { text: context, tokens: 0, how: null })
  return context
}

// --- internal ---

/** Arguments beyond this are what is written, not what is dealt with. */
const LOOKED_AT_CHARS = 400

const BEGINNING_CHARS_MAX = 40

function beginning(lines: string): string {
  const text = lines.slice(0, LOOKED_AT_CHARS)
  for (const { name } of thingsIn(text)) if (/[a-z]{2}/i.test(name)) return name
  return text.replace(/\s+/g, ' ').trim().slice(0, BEGINNING_CHARS_MAX)
}
