import { nameOfModel, type ModelKey } from '../upstream/model-key.ts'
import type { Classification, StatedWindow } from './classification.ts'
import {
  dropExpired,
  isEmpty,
  joinedLessons,
  noLessons,
  readLessons,
  unstatedMax,
  writeLessons,
  type Lesson,
  type Lessons,
  type LessonsSnapshot,
} from './lessons.ts'

export type WindowLearnerOptions = {
  /** Keys remembered; the one unused for longest goes first. */
  readonly entriesMax: number
  /** How long a lesson holds. Its end is the probe upwards: the next overflow teaches again. */
  readonly lifetimeMs: number
  /** Called when a window was learnt that was not known. Must not throw. */
  readonly onLearnt?: (lesson: LearntWindow) => void
}

/** A window that was just learnt: of which model, how, and of which conversation where it holds for that one alone. */
export type LearntWindow = {
  readonly key: ModelKey
  readonly window: StatedWindow
  /** `refusal`: an error stated it; `cut`: a cut prompt gave it away; `unstated`: a prompt was refused without numbers. */
  readonly by: 'refusal' | 'cut' | 'unstated'
  readonly conversation: string | null
}

/** All times are the caller's clock, in milliseconds; all counts are tokens. */
export type WindowLearner = {
  /** A window that an error stated. It holds for every conversation and replaces what was known. */
  readonly learn: (key: ModelKey, window: StatedWindow, nowMs: number) => void
  /**
   * A window that a cut prompt gave away. Where a refusal has stated one, or a smaller one is known, nothing is
   * learnt and false comes back: a server that refuses does not cut.
   */
  readonly learnCut: (key: ModelKey, window: StatedWindow, nowMs: number) => boolean
  /** Takes back what a cut prompt taught: it was none. */
  readonly forgetCut: (key: ModelKey) => void
  /**
   * A prompt of `failedTokens` was refused without numbers. That holds for this conversation; once a second one was
   * refused, the larger of the two sizes holds for all, since both bear it out.
   */
  readonly learnUnstated: (key: ModelKey, conversation: string, failedTokens: number, nowMs: number) => void
  /** Teaches what a classified answer to a prompt of `sentTokens` teaches; only overflows and their kin do. */
  readonly learnFrom: (
    key: ModelKey,
    answer: {
      readonly classification: Classification
      readonly conversation: string
      readonly sentTokens: number
    },
    nowMs: number,
  ) => void
  /** A prompt of this size was answered: a learnt limit below it is raised, or dropped if it was a guess. */
  readonly succeeded: (key: ModelKey, promptTokens: number) => void
  /** The tightest limit that holds for this conversation now; null if none was learnt. */
  readonly lookup: (key: ModelKey, conversation: string, nowMs: number) => StatedWindow | null
  readonly forget: (key: ModelKey) => void
  /** What is known of a key as plain JSON, for another process or a later one; null where nothing is. */
  readonly snapshot: (key: ModelKey, nowMs: number) => LessonsSnapshot | null
  /**
   * Takes a snapshot over, `instead` of what is known or `beside` it: then the newer lesson stands. One that is
   * damaged changes nothing.
   */
  readonly restore: (key: ModelKey, snapshot: unknown, how: 'instead' | 'beside', nowMs: number) => void
}

/** Remembers windows that upstreams revealed by refusing. */
export function createWindowLearner(options: WindowLearnerOptions): WindowLearner {
  const { entriesMax, lifetimeMs, onLearnt = () => {} } = options
  const entries = new Map<string, Lessons>()

  function lessonsFor(key: ModelKey): Lessons {
    const name = nameOfModel(key)
    const lessons = entries.get(name) ?? noLessons()
    moveToEnd(entries, name, lessons, entriesMax)
    return lessons
  }

  function learn(key: ModelKey, { tokens, kind }: StatedWindow, nowMs: number): void {
    const lessons = lessonsFor(key)
    dropExpired(lessons, nowMs, lifetimeMs)
    const { stated } = lessons
    const isKnown = stated?.by === 'refusal' && stated.tokens === tokens && stated.kind === kind
    lessons.stated = { tokens, kind, by: 'refusal', untilMs: nowMs + lifetimeMs }
    lessons.unstated.clear()
    if (!isKnown) onLearnt({ key, window: { tokens, kind }, by: 'refusal', conversation: null })
  }

  function learnCut(key: ModelKey, { tokens, kind }: StatedWindow, nowMs: number): boolean {
    const lessons = lessonsFor(key)
    dropExpired(lessons, nowMs, lifetimeMs)
    if (lessons.stated?.by === 'refusal') return false
    // Said again it holds no longer: its end is the probe upwards.
    if (lessons.stated !== null && lessons.stated.tokens <= tokens) return false
    lessons.stated = { tokens, kind, by: 'cut', untilMs: nowMs + lifetimeMs }
    onLearnt({ key, window: { tokens, kind }, by: 'cut', conversation: null })
    return true
  }

  function learnUnstated(key: ModelKey, conversation: string, failedTokens: number, nowMs: number): void {
    if (failedTokens <= 1) return
    const { unstated } = lessonsFor(key)
    const before = unstated.get(conversation)
    const isTighter = before === undefined || before.untilMs <= nowMs || failedTokens < before.tokens
    const tokens = isTighter ? failedTokens : before.tokens
    moveToEnd(unstated, conversation, { tokens, untilMs: nowMs + lifetimeMs }, unstatedMax)
    if (isTighter) onLearnt({ key, window: guessFrom(tokens), by: 'unstated', conversation })
  }

  function lookup(key: ModelKey, conversation: string, nowMs: number): StatedWindow | null {
    const lessons = entries.get(nameOfModel(key))
    if (lessons === undefined) return null
    dropExpired(lessons, nowMs, lifetimeMs)
    const { stated, unstated } = lessonsFor(key)
    const refused = confirmedFor(conversation, unstated)
    const guess = refused === null ? null : guessFrom(refused)
    if (stated === null) return guess
    return guess !== null && guess.tokens < stated.tokens
      ? guess
      : { tokens: stated.tokens, kind: stated.kind }
  }

  function succeeded(key: ModelKey, promptTokens: number): void {
    const lessons = entries.get(nameOfModel(key))
    if (lessons === undefined) return
    const { stated, unstated } = lessons
    if (stated !== null && promptTokens > stated.tokens) lessons.stated = { ...stated, tokens: promptTokens }
    for (const [conversation, { tokens }] of unstated) {
      if (tokens <= promptTokens) unstated.delete(conversation)
    }
  }

  const learner: WindowLearner = {
    learn,
    learnCut,
    forgetCut(key) {
      const lessons = entries.get(nameOfModel(key))
      if (lessons?.stated?.by === 'cut') lessons.stated = null
    },
    learnUnstated,
    learnFrom(key, { classification, conversation, sentTokens }, nowMs) {
      const { window } = classification
      if (classification.class !== 'overflow' && classification.class !== 'output_too_large') return
      if (window !== null) learn(key, window, nowMs)
      else if (classification.class === 'overflow') learnUnstated(key, conversation, sentTokens, nowMs)
    },
    succeeded,
    lookup,
    forget(key) {
      entries.delete(nameOfModel(key))
    },
    snapshot(key, nowMs) {
      const lessons = entries.get(nameOfModel(key))
      if (lessons === undefined) return null
      dropExpired(lessons, nowMs, lifetimeMs)
      return isEmpty(lessons) ? null : writeLessons(lessons)
    },
    restore(key, snapshot, how, nowMs) {
      const name = nameOfModel(key)
      const given = snapshot === null ? noLessons() : readLessons(snapshot, nowMs + lifetimeMs)
      if (given === null) return
      const known = how === 'beside' ? entries.get(name) : undefined
      const lessons = known === undefined ? given : joinedLessons(known, given)
      dropExpired(lessons, nowMs, lifetimeMs)
      if (isEmpty(lessons)) entries.delete(name)
      else moveToEnd(entries, name, lessons, entriesMax)
    },
  }
  return learner
}

// --- internal ---

/** What was refused was a prompt, and the next smaller one may fit. */
function guessFrom(refusedTokens: number): StatedWindow {
  return { tokens: refusedTokens - 1, kind: 'input' }
}

/** The smallest size that this conversation, or any two of them, saw refused. */
function confirmedFor(conversation: string, unstated: ReadonlyMap<string, Lesson>): number | null {
  const own = unstated.get(conversation)?.tokens ?? null
  const sizes = Array.from(unstated.values(), ({ tokens }) => tokens).sort((one, other) => one - other)
  const shared = sizes[1] ?? null
  if (own === null || shared === null) return own ?? shared
  return Math.min(own, shared)
}

function moveToEnd<Value>(map: Map<string, Value>, name: string, value: Value, sizeMax: number): void {
  map.delete(name)
  map.set(name, value)
  for (const oldest of map.keys()) {
    if (map.size <= sizeMax) return
    map.delete(oldest)
  }
}
