import type { WindowKind } from './classification.ts'

/** What was learnt of one window. All times are the caller's clock, in milliseconds; all counts are tokens. */
export type Lessons = {
  stated: StatedLesson | null
  /** By conversation, the size of its smallest prompt that was refused. */
  readonly unstated: Map<string, Lesson>
}

export type Lesson = { readonly tokens: number; readonly untilMs: number }
export type StatedLesson = Lesson & { readonly kind: WindowKind; readonly by: 'refusal' | 'cut' }

/** Lessons as plain JSON. */
export type LessonsSnapshot = {
  readonly stated: StatedLesson | null
  readonly unstated: readonly (readonly [conversation: string, tokens: number, untilMs: number])[]
}

/** Refusals without numbers remembered of one window; two are enough to confirm each other. */
export const unstatedMax = 64

export function noLessons(): Lessons {
  return { stated: null, unstated: new Map() }
}

/** Drops what has ended. What would hold for longer than a lesson may was learnt before the clock went back: it ends in time. */
export function dropExpired(lessons: Lessons, nowMs: number, lifetimeMs: number): void {
  const { stated, unstated } = lessons
  const untilMsMax = nowMs + lifetimeMs
  if (stated !== null && stated.untilMs <= nowMs) lessons.stated = null
  else if (stated !== null && stated.untilMs > untilMsMax) lessons.stated = { ...stated, untilMs: untilMsMax }
  for (const [conversation, lesson] of unstated) {
    if (lesson.untilMs <= nowMs) unstated.delete(conversation)
    else if (lesson.untilMs > untilMsMax) unstated.set(conversation, { ...lesson, untilMs: untilMsMax })
  }
}

export function isEmpty({ stated, unstated }: Lessons): boolean {
  return stated === null && unstated.size === 0
}

export function writeLessons({ stated, unstated }: Lessons): LessonsSnapshot {
  return {
    stated,
    unstated: Array.from(unstated, ([conversation, { tokens, untilMs }]) => [conversation, tokens, untilMs]),
  }
}

/** What `writeLessons` wrote, nothing of it beyond `untilMsMax`; null where the value is damaged. */
export function readLessons(value: unknown, untilMsMax: number): Lessons | null {
  if (typeof value !== 'object' || value === null || !('stated' in value) || !('unstated' in value))
    return null
  const { stated, unstated } = value
  if (stated !== null && !isStated(stated)) return null
  if (!Array.isArray(unstated) || unstated.length > unstatedMax || !unstated.every(isUnstated)) return null
  // A clock that is ahead of this one must not make a lesson last.
  const until = (untilMs: number): number => Math.min(untilMs, untilMsMax)
  return {
    stated:
      stated === null
        ? null
        : { tokens: stated.tokens, kind: stated.kind, by: stated.by, untilMs: until(stated.untilMs) },
    unstated: new Map(
      unstated.map(([conversation, tokens, untilMs]) => [conversation, { tokens, untilMs: until(untilMs) }]),
    ),
  }
}

/** What two have learnt of one window: the newer lesson stands, and a refusal that states it before a cut prompt. */
export function joinedLessons(one: Lessons, other: Lessons): Lessons {
  const stated = joinedStated(one.stated, other.stated)
  const unstated = new Map(one.unstated)
  for (const [conversation, lesson] of other.unstated) {
    const known = unstated.get(conversation)
    unstated.set(conversation, known === undefined ? lesson : newerOf(known, lesson))
  }
  // All lessons hold equally long, so that the one that ends later is the newer. What a window states ends guesses.
  const statedUntilMs = stated?.by === 'refusal' ? stated.untilMs : -Infinity
  const standing = [...unstated]
    .filter(([, { untilMs }]) => untilMs > statedUntilMs)
    .sort(([, before], [, after]) => before.untilMs - after.untilMs)
  return { stated, unstated: new Map(standing.slice(-unstatedMax)) }
}

// --- internal ---

/** No window is larger; whatever says so is damaged. */
const tokensMax = 1_000_000_000

/** Ids of conversations are shorter. */
const conversationCharsMax = 64

function joinedStated(one: StatedLesson | null, other: StatedLesson | null): StatedLesson | null {
  if (one === null || other === null) return one ?? other
  if (one.by !== other.by) return one.by === 'refusal' ? one : other
  // A prompt that was answered has raised one of them.
  if (one.untilMs === other.untilMs) return other.tokens > one.tokens ? other : one
  return other.untilMs > one.untilMs ? other : one
}

function newerOf(one: Lesson, other: Lesson): Lesson {
  if (one.untilMs === other.untilMs) return other.tokens < one.tokens ? other : one
  return other.untilMs > one.untilMs ? other : one
}

function isStated(value: unknown): value is StatedLesson {
  if (typeof value !== 'object' || value === null) return false
  if (!('tokens' in value && 'untilMs' in value && 'kind' in value && 'by' in value)) return false
  const { tokens, untilMs, kind, by } = value
  const isKind = kind === 'total' || kind === 'input'
  return isKind && (by === 'refusal' || by === 'cut') && isSize(tokens) && Number.isFinite(untilMs)
}

function isUnstated(value: unknown): value is LessonsSnapshot['unstated'][number] {
  if (!Array.isArray(value) || value.length !== 3) return false
  const [conversation, tokens, untilMs]: readonly unknown[] = value
  const isName = typeof conversation === 'string' && conversation.length <= conversationCharsMax
  return isName && isSize(tokens) && Number.isFinite(untilMs)
}

function isSize(value: unknown): value is number {
  return typeof value === 'number' && value > 0 && value <= tokensMax
}
