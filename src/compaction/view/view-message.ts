import type { ViewItem } from '../../json/splice.ts'
import type { SummaryRange } from '../compaction.ts'
import { RECAP_FRAME_TOKENS } from '../folded-parts.ts'
import type { History } from '../history/history.ts'
import type { MadeHow } from '../made-cache.ts'

/** One message of a view: one of the client's as it is, or one that Foldgate wrote. */
export type ViewMessage = {
  readonly item: ViewItem
  readonly tokens: number
  /** The client's message that it is or was made of; null for a recap. */
  readonly index: number | null
  readonly role: string
  /** What became of the client's message, or what Foldgate wrote; of a joined one, of that whose fields it has. */
  readonly how: 'kept' | MadeHow | 'summary' | 'recap'
  /** The messages that a summary or recap stands for; null for all others. */
  readonly standsFor: SummaryRange | null
  /** Under strict placement, the messages that were joined in this one, as they were; empty where none were. */
  readonly joined: readonly ViewMessage[]
}

/** A message of the client's as it is. */
export function originalMessage({ messages, sizes }: History, index: number): ViewMessage {
  return {
    item: { kind: 'kept', index },
    tokens: sizes[index] ?? 0,
    index,
    role: messages[index]?.facts.role ?? 'other',
    how: 'kept',
    standsFor: null,
    joined: [],
  }
}

/** A message that Foldgate wrote. */
export function standIn(
  { dialect }: Pick<History, 'dialect'>,
  how: 'summary' | 'recap',
  text: string,
  textTokens: number,
  { start, end, except }: SummaryRange,
): ViewMessage {
  return {
    item: { kind: 'made', json: dialect.entries.user(text) },
    tokens: textTokens + RECAP_FRAME_TOKENS,
    index: null,
    role: 'user',
    how,
    standsFor: { start, end, except },
    joined: [],
  }
}
