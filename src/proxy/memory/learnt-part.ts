import type { ModelKey } from '../../upstream/model-key.ts'
import type { Lasting } from './lasting.ts'

/** One kind of what is learnt of a model, as it is kept in the store. */
export type LearntPart = {
  /** What is known now, as plain JSON; null where nothing is. The same, where nothing has changed. */
  readonly snapshot: (key: ModelKey) => unknown
  /**
   * Takes a snapshot over, `instead` of what is known or `beside` it: then what is newer stands, or what rests on more.
   * One that is damaged changes nothing.
   */
  readonly restore: (key: ModelKey, snapshot: unknown, how: 'instead' | 'beside') => void
}

/** What holds for a while, as such a part. */
export function partOf<Value>(values: Lasting<Value>, nameOf: (key: ModelKey) => string): LearntPart {
  return {
    snapshot: (key) => values.snapshot(nameOf(key)),
    restore: (key, snapshot, how) => values.restore(nameOf(key), snapshot, how),
  }
}
