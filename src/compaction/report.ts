import type { Structure } from '../conversation/structure.ts'
import type { Compacted } from './compact.ts'
import { covers } from './layout.ts'
import { baseOf } from './view/placement.ts'
import type { PassName } from './policy.ts'
import { editingPasses } from './plan/draft.ts'
import type { Compaction } from './compaction.ts'
import { toolNameOf, type Rounds, type Subject } from './subject.ts'
import type { ViewMessage } from './view/view-message.ts'

/** What became of one message: of the client's, or of one that Foldgate wrote. */
export type MessageTreatment = {
  /** Its place in the client's conversation; null for a summary or a recap. */
  readonly index: number | null
  readonly role: string
  /** The tool whose result it is or which it calls first; null where it has to do with none. */
  readonly tool: string | null
  /**
   * `folded`: a summary or recap stands for it. `dropped`: nothing does, there was no room. `joined`: its text stands in
   * the user message before it.
   */
  readonly treatment:
    | 'kept'
    | 'rendered'
    | 'previewed'
    | 'cleared'
    | 'unloaded'
    | 'clipped'
    | 'folded'
    | 'dropped'
    | 'joined'
    | 'summary'
    | 'recap'
  /**
   * Why it stays word for word: `recent` is the open round of the compaction and what came after. Null where nothing pins
   * it, or where that is not on record: older messages that a compaction protected are merely kept.
   */
  readonly pinned: 'system' | 'task' | 'latest-user' | 'kept-turn' | 'recent' | null
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
export type OutlineSubject = Pick<Subject, 'messages' | 'structure' | 'sizes'>

/** Each message of a conversation and what became of it, in their order; each summary and recap where it is sent. */
export function outlineOf(subject: OutlineSubject, compacted: Compacted | null): readonly MessageTreatment[] {
  if (compacted === null) {
    return subject.messages.map((_, index) => treatmentOf(subject, index, keptAsItCame(subject, index)))
  }
  const sent = compacted.view.messages.flatMap(sentParts)
  const standIns = standInsByPlace(sent, subject.messages.length)
  const outcomeOf = outcomes(subject, compacted.compaction, sent)
  return [
    ...subject.messages.flatMap((_, index) => [
      ...(standIns.get(index) ?? []),
      treatmentOf(subject, index, outcomeOf(index)),
    ]),
    ...(standIns.get(subject.messages.length) ?? []),
  ]
}

/** The same of a conversation that was sent as it came and not counted. */
export function uncountedOutline(rounds: Rounds): readonly MessageTreatment[] {
  return rounds.messages.map((_, index) =>
    treatmentOf(rounds, index, {
      treatment: 'kept',
      pinned: index < rounds.structure.systemCount ? 'system' : null,
      receivedTokens: null,
      sentTokens: null,
    }),
  )
}

/** How far each pass of a compaction reaches. The passes that reach nothing are left out. */
export function passRanges(compaction: Compaction, systemCount: number): readonly PassRange[] {
  const { reach, fold, clips } = compaction
  const clipped = clips.map(({ index }) => index)
  const ranges: readonly PassRange[] = [
    ...editingPasses.map((pass) => ({ pass, start: systemCount, end: reach[pass] })),
    { pass: 'fold', start: systemCount, end: fold?.frontier ?? systemCount },
    { pass: 'clip', start: Math.min(...clipped), end: Math.max(...clipped) + 1 },
  ]
  return ranges.filter(({ start, end }) => end > start)
}

// --- internal ---

type Outcome = Pick<MessageTreatment, 'treatment' | 'pinned' | 'receivedTokens' | 'sentTokens'>

function treatmentOf(rounds: Rounds, index: number, outcome: Outcome): MessageTreatment {
  const role = rounds.messages[index]?.facts.role ?? 'other'
  return { index, role, tool: toolOf(rounds, index), ...outcome, standsFor: null }
}

function keptAsItCame(subject: OutlineSubject, index: number): Outcome {
  const tokens = subject.sizes[index] ?? 0
  const pinned = index < subject.structure.systemCount ? 'system' : null
  return { treatment: 'kept', pinned, receivedTokens: tokens, sentTokens: tokens }
}

function toolOf(rounds: Rounds, index: number): string | null {
  const facts = rounds.messages[index]?.facts
  const name = facts?.role === 'tool' ? toolNameOf(rounds, index) : (facts?.callNames[0] ?? '')
  return name === '' ? null : name
}

/** A message that is sent, by itself or within another. */
type SentPart = {
  readonly message: ViewMessage
  /** Whether it has the fields of the message that is sent: false for one that was joined to another. */
  readonly isBase: boolean
  /** What is sent, on its base; 0 on the others. */
  readonly sentTokens: number
}

function sentParts(message: ViewMessage): readonly SentPart[] {
  if (message.joined.length === 0) return [{ message, isBase: true, sentTokens: message.tokens }]
  const base = baseOf(message.joined)
  return message.joined.map((part) => {
    const isBase = part === base
    return { message: part, isBase, sentTokens: isBase ? message.tokens : 0 }
  })
}

/** Summaries and recaps by the client's message that follows them in what is sent; by the end where none does. */
function standInsByPlace(
  sent: readonly SentPart[],
  end: number,
): ReadonlyMap<number, readonly MessageTreatment[]> {
  const byPlace = new Map<number, MessageTreatment[]>()
  let place = end
  for (const { message, sentTokens } of sent.toReversed()) {
    const { index, role, how, standsFor } = message
    if (index !== null || standsFor === null) {
      place = index ?? place
      continue
    }
    const { start, end: standsUpTo } = standsFor
    const standIn = { index, role, tool: null, treatment: how, pinned: null, receivedTokens: 0, sentTokens }
    byPlace.set(place, [{ ...standIn, standsFor: { start, end: standsUpTo } }, ...(byPlace.get(place) ?? [])])
  }
  return byPlace
}

/** What became of each of the client's messages. */
function outcomes(
  { structure, sizes }: OutlineSubject,
  compaction: Compaction | null,
  sent: readonly SentPart[],
): (index: number) => Outcome {
  const sentByIndex = new Map(sent.map((part) => [part.message.index, part]))
  const folded = sent.flatMap(({ message }) => message.standsFor ?? [])
  const pinOf = pins(structure, compaction)
  return function outcomeOf(index) {
    const receivedTokens = sizes[index] ?? 0
    const part = sentByIndex.get(index)
    if (part === undefined) {
      const treatment = folded.some((range) => covers(range, index)) ? 'folded' : 'dropped'
      return { treatment, pinned: null, receivedTokens, sentTokens: 0 }
    }
    const { message, isBase, sentTokens } = part
    const pinned = message.how === 'kept' ? pinOf(index) : null
    return { treatment: isBase ? message.how : 'joined', pinned, receivedTokens, sentTokens }
  }
}

/** Why a message that is sent as it came is. */
function pins(
  { systemCount, lastUnitStart }: Structure,
  compaction: Compaction | null,
): (index: number) => MessageTreatment['pinned'] {
  const kept = new Set(compaction?.fold?.kept)
  const recentFrom = compaction === null ? Infinity : lastUnitStart(compaction.point)
  return function pinOf(index) {
    if (index < systemCount) return 'system'
    if (index === compaction?.task) return 'task'
    if (index === compaction?.latestUser) return 'latest-user'
    if (kept.has(index)) return 'kept-turn'
    return index >= recentFrom ? 'recent' : null
  }
}
