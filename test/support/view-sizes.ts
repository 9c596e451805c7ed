import type { Policy } from '../../src/compaction/policy.ts'
import { subjectOf } from './subject.ts'

/** What the sent messages weigh, counted from their bytes: what compaction says of itself proves nothing. */
export function sentTokens({
  texts,
  around,
}: {
  readonly texts: readonly string[]
  readonly around: number
}): number {
  return subjectOf(texts.map(parsed)).sizes.reduce((sum, size) => sum + size, around)
}

/** What stays whatever happens: leading system block, task, latest user message without its media. */
export function fixedTokens(messages: readonly object[], policy: Policy): number {
  const subject = subjectOf(messages)
  const { structure, sizes } = subject
  const latest = structure.latestUserBefore(messages.length)
  const indexes = new Set(Array(structure.systemCount).keys())
  if (policy.keep.task && structure.task !== -1) indexes.add(structure.task)
  if (latest !== -1) indexes.add(latest)
  // System messages in the middle of the open round stand where they stand.
  const open = structure.lastUnitStart(messages.length)
  for (let index = open; index < messages.length; index += 1) {
    const role = subject.messages[index]?.facts.role
    if (role === 'system' || role === 'developer') indexes.add(index)
  }
  const loaded = subject.mediaSizes(latest).reduce((sum, size) => sum + size, 0)
  const unloaded = loaded === 0 ? 0 : MEDIA_MARK_TOKENS - loaded
  return [...indexes].reduce((sum, index) => sum + (sizes[index] ?? 0), 3 + unloaded)
}

export function parsed(text: string): object {
  const value: unknown = JSON.parse(text)
  return typeof value === 'object' && value !== null ? value : {}
}

/** The messages as the rules for them see them. */
export function shapes(messages: readonly object[]) {
  return subjectOf(messages).messages.map((message) => message.facts)
}

// --- internal ---

/** The words that stand where media stood, at the most. */
const MEDIA_MARK_TOKENS = 10
