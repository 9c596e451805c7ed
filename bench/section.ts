/** One part of the result page: what was measured in one go. */
export type Section = {
  /** Short and fixed: `--only` chooses by it. */
  readonly name: string
  readonly title: string
  /** What was done, in a sentence or two: sizes, how often, what a figure means. */
  readonly about: string
  readonly tables: readonly Table[]
  readonly checks: readonly Check[]
}

export type Table = {
  readonly caption: string
  /** Names with their units. */
  readonly columns: readonly string[]
  /** The first cell of a row is what it is about; figures are formatted already. */
  readonly rows: readonly (readonly string[])[]
}

/** A bound that the project has set itself. A figure that misses it stands on the page with its cause. */
export type Check = {
  /** Fixed: causes are looked up by it (`causes.ts`). */
  readonly id: string
  /** What is compared, in words. */
  readonly what: string
  readonly bound: { readonly kind: 'at most' | 'at least'; readonly value: number }
  /** The median; in the unit of `what`, mostly a ratio. */
  readonly value: number
  /** The least and the most over the repetitions. */
  readonly spread: readonly [number, number]
}

/** How long and how often is measured. */
export type Effort = {
  readonly rounds: number
  /** Of one load, in milliseconds. */
  readonly durationMs: number
  /** For trying the bench itself: what does not scale with the two above is cut short as well. */
  readonly isQuick: boolean
}

export type MeasureOptions = {
  readonly effort: Effort
  /** Where the bench's upstream answers (`load/upstream-program.ts`). */
  readonly upstreamOrigin: string
  /** Tells what is being done, for whoever waits. */
  readonly tell: (text: string) => void
}

/** A measure measures one thing, interleaved: every subject in every round. */
export type Measure = {
  readonly name: Section['name']
  readonly run: (options: MeasureOptions) => Promise<Section>
}
