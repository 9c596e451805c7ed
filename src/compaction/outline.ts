import type { Compacted } from './compact.ts'
import { covers } from './folded-parts.ts'
import { baseOf } from './view/strict-roles.ts'
import { type ViewMessage } from './view/view-message.ts'
import { type PassName, type TextPassName, textPasses } from './passes/passes.ts'
import type { Compaction, SummaryRange } from './compaction.ts'
import { type Rounds, type History, pastOf, toolNameOf } from './history/history.ts'

/** What became of one message: of the client's, or of one that Foldgate wrote. */
export type MessageTreatment = {
  /** Its place in the client's conversation; null for a summary or a recap. */
  readonly index: number | null
  readonly role: string
  /** What people call it if its role does not say, as `reasoning`; null otherwise. */
  readonly kind: string | null
  /** The tool whose result it is or which it calls first; null where it has to do with none. */
  readonly tool: string | null
  /**
   * `folded`: a summary or recap stands for it. `dropped`: nothing does, there was no room. `joined`: its text stands in
   * the user message before it. `outdated`: thoughts that only held for what stood before them, which is compacted; `unbound`:
   * there were such thoughts in it. `resolved`: it refers to an earlier result, whose text was sent in its place.
   */
  readonly treatment: ViewMessage['how'] | 'folded' | 'dropped' | 'outdated' | 'joined'
  /**
   * Why it stays word for word: `recent` is the open round of the compaction and what came after. Null where nothing pins
   * it, or where that is not on record: older messages that a compaction protected are merely kept. `history-start`: the
   * server's own compaction; `before-start`: it stands before that.
   */
  readonly pinned:
    | 'system'
    | 'history-start'
    | 'before-start'
    | 'task'
    | 'latest-user'
    | 'kept-turn'
    | 'recent'
    | null
  /** Own count as it came, framing included; 0 for a summary or a recap, null where nothing was counted. */
  readonly receivedTokens: number | null
  /** Own count as it is sent; 0 where it is not sent or stands in another message, null where nothing was counted. */
  readonly sentTokens: number | null
  /** The messages that a summary or recap stands for, from `start` up to `end` but for those sent; null for all others. */
  readonly standsFor: { readonly start: number; readonly end: number } | null
}

/** How far a pass reaches: what it treats lies from `start` up to `end`. */
export type PassRange = { readonly pass: PassName; readonly start: number; readonly end: number }

/** What of a conversation its outline is made of: none of it holds what messages say. */
export type OutlineSubject = Rounds & {
  /** Null if the conversation was sent as it came and not counted. */
  readonly sizes: History['sizes'] | null
}

/** Each message of a conversation and what became of it, in their order; each summary and recap where it is sent. */
export function outlineOf(history: OutlineSubject, compacted: Compacted | null): readonly MessageTreatment[] {
  const { messages, sizes } = history
  const sent = new Map<number, Outcome>()
  const standIns = new Map<number, MessageTreatment[]>()
  const folded: SummaryRange[] = []
  const pinOf = pins(history, compacted?.compaction ?? null)
  // Summaries and recaps stand before the client's message that follows them in what is sent; at the end if none does.
  let place = messages.length
  for (const message of compacted?.view.messages.toReversed() ?? []) {
    const base = baseOf(message.joined) ?? message
    for (const part of message.joined.length === 0 ? [message] : message.joined.toReversed()) {
      const { index, role, how, standsFor } = part
      // What was joined to another message is sent with that.
      const sentTokens = part === base ? message.tokens : 0
      if (index !== null) {
        place = index
        const pinned = how === 'kept' ? pinOf(index) : null
        sent.set(index, { treatment: part === base ? how : 'joined', pinned, sentTokens })
      } else if (standsFor !== null) {
        folded.push(standsFor)
        const { start, end } = standsFor
        const described = { index, role, kind: null, tool: null, treatment: how, pinned: null }
        const standIn = { ...described, receivedTokens: 0, sentTokens, standsFor: { start, end } }
        standIns.set(place, [standIn, ...(standIns.get(place) ?? [])])
      }
    }
  }
  const { said, spent } = pastOf(history)
  const past = new Set([...said, ...spent])
  const absenceOf = (index: number): MessageTreatment['treatment'] => {
    if (folded.some((range) => covers(range, index))) return 'folded'
    return messages[index]?.facts.bound === 'whole' || past.has(index) ? 'outdated' : 'dropped'
  }
  const outline: MessageTreatment[] = []
  for (let index = 0; index < messages.length; index += 1) {
    outline.push(...(standIns.get(index) ?? []))
    const receivedTokens = sizes === null ? null : (sizes[index] ?? 0)
    let outcome: Outcome = { treatment: 'kept', pinned: pinOf(index), sentTokens: receivedTokens }
    if (compacted !== null)
      outcome = sent.get(index) ?? { treatment: absenceOf(index), pinned: null, sentTokens: 0 }
    const { treatment, pinned, sentTokens } = outcome
    const described = describe(history, index)
    outline.push({ ...described, treatment, pinned, receivedTokens, sentTokens, standsFor: null })
  }
  return [...outline, ...(standIns.get(messages.length) ?? [])]
}

/** How far each pass of a compaction reaches. The passes that reach nothing are left out. */
export function passRanges(compaction: Compaction, systemCount: number): readonly PassRange[] {
  const { reach, fold, clips, cleared } = compaction
  const upTo = (end: number) => ({ start: systemCount, end })
  const clearedUpTo = reach.clear ?? 0
  const others = {
    clear: clearedUpTo > systemCount ? upTo(Math.max(clearedUpTo, around(cleared).end)) : around(cleared),
    fold: upTo(fold?.frontier ?? systemCount),
    clip: around(clips.map(({ index }) => index)),
  } as const satisfies Record<Exclude<PassName, TextPassName>, Omit<PassRange, 'pass'>>
  return [
    ...textPasses.map(({ name }) => ({ pass: name, ...upTo(reach[name] ?? 0) })),
    ...(['clear', 'fold', 'clip'] as const).map((pass) => ({ pass, ...others[pass] })),
  ].filter(({ start, end }) => end > start)
}

// --- internal ---

/** From the first of these messages to behind the last. */
function around(indexes: readonly number[]): Omit<PassRange, 'pass'> {
  let [start, end] = [Infinity, -Infinity]
  for (const index of indexes) {
    start = Math.min(start, index)
    end = Math.max(end, index + 1)
  }
  return { start, end }
}

type Outcome = Pick<MessageTreatment, 'treatment' | 'pinned' | 'sentTokens'>

function describe(rounds: Rounds, index: number): Pick<MessageTreatment, 'index' | 'role' | 'kind' | 'tool'> {
  const facts = rounds.messages[index]?.facts
  const name = facts?.role === 'tool' ? toolNameOf(rounds, index) : (facts?.callNames[0] ?? '')
  const tool = name === '' ? null : name
  return { index, role: facts?.role ?? 'other', kind: facts?.kind ?? null, tool }
}

/** Why a message that is sent as it came is. */
function pins({ messages, structure }: Rounds, compaction: Compaction | null) {
  const { systemCount, unkeyedCount, lastUnitStart } = structure
  const kept = new Set(compaction?.fold?.kept)
  const recentFrom = compaction === null ? Infinity : lastUnitStart(compaction.point)
  return function pinOf(index: number): MessageTreatment['pinned'] {
    if (index < unkeyedCount) return 'system'
    if (index < systemCount)
      return messages[index]?.facts.startsHistory === true ? 'history-start' : 'before-start'
    if (index === compaction?.task) return 'task'
    if (index === compaction?.latestUser) return 'latest-user'
    if (kept.has(index)) return 'kept-turn'
    return index >= recentFrom ? 'recent' : null
  }
}
