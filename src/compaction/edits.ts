import type { Treatment } from './compaction.ts'
import { mayBeCleared } from './passes/clear.ts'
import { isLossless, textPassAt } from './passes/passes.ts'
import { AS_IT_CAME, type Edit } from './edit-message.ts'
import { remembering } from '../caches.ts'
import type { Profile } from '../profiles/schema.ts'
import { replyStart, type Rounds, type History } from './history/history.ts'

/** What a compaction does to single messages, to be looked up by their indexes. */
export type Edits = Readonly<ReturnType<typeof editsOf>>

export function editsOf(treatment: Omit<Treatment, 'task' | 'latestUser'>) {
  const { fold, reach, cleared, clips, point, thoughts, elsewhere } = treatment
  return {
    /** Before it they are folded. */
    frontier: fold?.frontier ?? 0,
    reach,
    /** Before it thoughts go that were bound to what stood before them, but for these, which still hold. */
    point,
    thoughts: new Set(thoughts),
    cleared: new Set(cleared),
    clips: new Map(clips.map((clip) => [clip.index, clip])),
    /** Where replies begin behind the point that were given to another form. */
    elsewhere: new Set(elsewhere?.map((each) => each.point)),
  }
}

/** What the edits do to a message; null if it does not stay: it is nothing but thoughts that hold for no other conversation. */
export function editAt(history: History, profile: Profile, index: number, edits: Edits): Edit | null {
  const { messages } = history
  if (isTakenOut(history, index, edits)) return null
  const isUnbound = messages[index]?.facts.bound === 'part' && !isHeld(history, edits, index)
  const resolves = sourceOf(history, profile, index, edits)
  const pass = passAt(history, profile, index, edits, resolves !== null)
  if (pass === 'cleared') return { ...AS_IT_CAME, pass, resolves }
  const clip = edits.clips.get(index)
  if (clip?.kind === 'media') return { ...AS_IT_CAME, mediaKept: clip.mediaKept, isUnbound }
  if (clip !== undefined)
    return { ...AS_IT_CAME, pass: clip.of, tokensMax: clip.tokensMax, isUnbound, resolves }
  if (isUnbound) return UNBOUND
  return pass === 'kept' && resolves === null ? AS_IT_CAME : { ...AS_IT_CAME, pass, resolves }
}

/** Whether thoughts that are bound to what stands before them may be sent at this place. */
export function isHeld(rounds: Rounds, { point, thoughts, elsewhere }: Edits, index: number): boolean {
  if (index < point) return thoughts.has(index)
  return elsewhere.size === 0 || !elsewhere.has(replyStart(rounds, index))
}

/** Whether a message is nothing but thoughts that go: they hold no longer, and nothing of their reply demands them. */
export function isTakenOut(history: History, index: number, edits: Edits): boolean {
  const isBound = history.messages[index]?.facts.bound === 'whole'
  return (
    isBound &&
    !isHeld(history, edits, index) &&
    !demandingUnits(history).has(history.structure.unitStart(index))
  )
}

// --- internal ---

/** The units, by where they begin, in which something cannot do without the thoughts before it. */
const demandingUnits = remembering(
  ({ structure }: Rounds) => structure,
  ({ messages, structure }) => {
    const units = new Set<number>()
    for (const [index, { facts }] of messages.entries())
      if (facts.bound === 'demands') units.add(structure.unitStart(index))
    return units
  },
)

/** What the passes do to a message. */
function passAt(
  history: History,
  profile: Profile,
  index: number,
  { reach, cleared }: Edits,
  isResolved: boolean,
): Edit['pass'] {
  if (history.messages[index]?.facts.role !== 'tool') return 'kept'
  if (
    (index < (reach.clear ?? 0) || cleared.has(index)) &&
    mayBeCleared(history, profile.clear.except_tools, index)
  )
    return 'cleared'
  const growth = isResolved ? (history.references.byIndex.get(index)?.growthTokens ?? 0) : 0
  return textPassAt(profile, reach, index, (history.sizes[index] ?? 0) + growth)?.treatment ?? 'kept'
}

/**
 * The result whose text a reference is sent with: that which it refers to, unless one before it that has this text still
 * shows as much of it as the reference would. One text is enough.
 */
function sourceOf(history: History, profile: Profile, index: number, edits: Edits): number | null {
  const reference = history.references.byIndex.get(index)
  if (reference === undefined) return null
  const shownAt = (holder: number): string => passAt(history, profile, holder, edits, true)
  const own = shownAt(index)
  for (let place = reference.position - 1; place >= 0; place -= 1) {
    const holder = reference.holders[place] ?? 0
    if (holder < edits.frontier || edits.clips.has(holder)) continue
    const shown = shownAt(holder)
    const isWhole = shown === 'kept' || isLossless(shown)
    if (isWhole || (shown === own && shown !== 'cleared')) return null
  }
  return reference.holders[0] ?? null
}

const UNBOUND: Edit = { ...AS_IT_CAME, isUnbound: true }
