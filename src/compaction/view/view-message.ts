import { standaloneJson, type ViewItem } from '../../json/splice.ts'
import type { SummaryRange } from '../compaction.ts'
import { RECAP_FRAME_TOKENS } from '../layout.ts'
import type { MadeHow } from '../made-cache.ts'
import type { Subject } from '../history/subject.ts'

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
export function originalMessage({ messages, sizes }: Subject, index: number): ViewMessage {
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
  { dialect }: Pick<Subject, 'dialect'>,
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

/**
 * Strict placement: where user messages meet that did not meet in the conversation, or a recap meets one, the
 * run of them becomes one message, since templates that want the roles to alternate refuse two in a row. It keeps the fields of the run's first
 * message of the client's, its content has the type of that message's (parts where media need them), and
 * the texts keep their encoding.
 */
export function joinUsers(subject: Subject, messages: readonly ViewMessage[]): ViewMessage[] {
  const placed: ViewMessage[] = []
  for (let start = 0; start < messages.length;) {
    let end = start
    while (messages[end]?.role === 'user') end += 1
    const run = messages.slice(start, end)
    const meetsAnew = run.some((message, position) => isNewHere(subject, message, run[position - 1]))
    const joined = run.length > 1 && meetsAnew ? joinRun(subject, run) : null
    if (joined !== null) placed.push(joined)
    else placed.push(...messages.slice(start, Math.max(end, start + 1)))
    start = Math.max(end, start + 1)
  }
  return placed
}

/** The message of a joined run whose fields it has: the first of the client's, else the first. */
export function baseOf(run: readonly ViewMessage[]): ViewMessage | undefined {
  return run.find((message) => message.index !== null) ?? run[0]
}

// --- internal ---

/** Whether a message did not follow the one before it in the client's conversation. */
function isNewHere(subject: Subject, message: ViewMessage, before: ViewMessage | undefined): boolean {
  if (message.index === null || subject.structure.isStandIn(message.index)) return true
  return before !== undefined && message.index !== (before.index ?? message.index) + 1
}

/** Joining saves a message's frame and costs the break between the texts. */
const JOIN_SAVES_TOKENS = 2

function joinRun(subject: Subject, run: readonly ViewMessage[]): ViewMessage | null {
  const base = baseOf(run)
  if (base === undefined) return null
  const { entries } = subject.dialect
  const json = entries.joined(
    run.map(({ item }) => standaloneJson(subject.source, subject.messages, item)),
    run.indexOf(base),
  )
  if (json === null) return null
  const tokens = run.reduce((sum, message) => sum + message.tokens, 0) - JOIN_SAVES_TOKENS * (run.length - 1)
  return { ...base, item: { kind: 'made', json }, tokens, joined: run }
}
