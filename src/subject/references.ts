/** A result that only refers to an earlier one, in the place of that one's text. */
export type Reference = {
  /** The results with that text or in its place, ascending: the first has it, all others refer to it. */
  readonly holders: readonly number[]
  /** Which of them this one is. */
  readonly position: number
  /** How much more it takes with the text than as it came, in tokens; may be below zero. */
  readonly growthTokens: number
}

/** The references of a conversation, by their indexes. */
export type References = {
  readonly byIndex: ReadonlyMap<number, Reference>
  /** The same indexes, ascending. */
  readonly indexes: readonly number[]
  /** The holders behind a result, if others refer to it. */
  readonly followersOf: (index: number) => readonly number[]
}

/** A conversation in which nothing refers to anything. */
export const NO_REFERENCES: References = { byIndex: new Map(), indexes: [], followersOf: () => [] }
