import { nameOfModel, type ModelKey } from '../../upstream/model-key.ts'
import { createLasting } from './lasting.ts'
import { partOf, type LearntPart } from './learnt-part.ts'

/** Where an upstream's model need not, or must not, be asked for the usage of a streamed answer. */
export type UsageMemory = {
  readonly mayAsk: (key: ModelKey) => boolean
  /** A streamed answer stated its usage although nobody had asked: asking gains nothing. */
  readonly stated: (key: ModelKey) => void
  /** A request was refused for asking. `guessed`: it was one of two things that may have been why. */
  readonly refused: (key: ModelKey, how: 'named' | 'guessed') => void
  readonly part: LearntPart
}

export function createUsageMemory(nowMs: () => number): UsageMemory {
  const unasked = createLasting<Reason>({
    entriesMax: ENTRIES_MAX,
    lifetimeMs: (reason) => (reason === 'guessed' ? GUESS_LIFETIME_MS : LIFETIME_MS),
    isValue: isReason,
    nowMs,
  })
  return {
    mayAsk: (key) => unasked.get(nameOfModel(key)) === null,
    stated: (key) => unasked.set(nameOfModel(key), 'stated'),
    refused: (key, how) => unasked.set(nameOfModel(key), how),
    part: partOf(unasked, nameOfModel),
  }
}

// --- internal ---

/** Why it is not asked for. */
type Reason = 'stated' | 'named' | 'guessed'

function isReason(value: unknown): value is Reason {
  return value === 'stated' || value === 'named' || value === 'guessed'
}

const ENTRIES_MAX = 4096

/** A server's habits change with its version; a day finds a new one. */
const LIFETIME_MS = 86_400_000

/** One odd refusal must not end counting for long. */
const GUESS_LIFETIME_MS = 3_600_000
