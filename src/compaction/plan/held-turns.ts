import { countBelow } from '../../conversation/count-below.ts'
import { parseMessage } from '../../dialects/chat-completions/parse.ts'
import type { Folded } from './limit.ts'
import type { Subject } from '../subject.ts'

/** A turn that a view holds: whole, what is left of it, or brought down to its request and reply. */
export type HeldTurn = {
  /** Where a frontier stands that folds all turns before this one. */
  readonly start: number
  readonly end: number
  /** What stays of it before the frontier; null where it stands in the tail as it is. */
  readonly kept: readonly number[] | null
}

/**
 * The turns that the view of a compaction holds at a point, oldest first. Where one cannot be told from the one
 * before it by a cut, because a tool round reaches over its beginning, both are one.
 */
export function heldTurns(subject: Subject, { fold }: Folded, point: number): HeldTurn[] {
  const { turns, systemCount, isFrontier } = subject.structure
  const frontier = fold?.frontier ?? systemCount
  const byTurn = new Map<number, number[]>()
  for (const index of fold?.kept ?? []) {
    const turn = countBelow(turns, index + 1)
    byTurn.set(turn, [...(byTurn.get(turn) ?? []), index])
  }
  const held: HeldTurn[] = [...byTurn.values()].map((kept) => ({ start: frontier, end: frontier, kept }))
  // What lies before the first turn goes with it.
  const first = countBelow(turns, frontier) === 0 ? (turns[0] ?? frontier) : frontier
  const starts = turns.slice(countBelow(turns, first + 1), countBelow(turns, point)).filter(isFrontier)
  if (frontier < point) starts.unshift(frontier)
  for (const [position, start] of starts.entries()) {
    held.push({ start, end: starts[position + 1] ?? point, kept: null })
  }
  return held
}

/**
 * A turn brought down: its request, and its last reply, which is the last assistant message with text and
 * without calls. A request that was folded before does not come back.
 */
export function requestAndReply(subject: Subject, compaction: Folded, turn: HeldTurn): readonly number[] {
  if (turn.kept !== null) return turn.kept
  const { turns } = subject.structure
  const begun = turns[countBelow(turns, turn.start + 1) - 1]
  const held = begun === turn.start || begun === compaction.latestUser ? begun : undefined
  const next = turns[countBelow(turns, turn.start)]
  const request = held ?? (next !== undefined && next < turn.end ? next : undefined)
  const reply = lastReply(subject, turn)
  return [request, reply].filter((index) => index !== undefined)
}

// --- internal ---

function lastReply(subject: Subject, { start, end }: HeldTurn): number | undefined {
  for (let index = end - 1; index >= start; index -= 1) {
    const message = subject.messages[index]
    if (message?.facts.role !== 'assistant' || message.facts.callIds.length > 0) continue
    if (parseMessage(subject.source, message).text.trim() !== '') return index
  }
  return undefined
}
