/**
 * Where decisions are remembered: stride records, sights, summaries, what was learnt of upstreams. Keys already
 * carry the scope. One contract suite (`test/contracts/store-contract.ts`) defines what an implementation owes.
 */
export type Store = {
  /** For the start line, metrics and messages. Carries no credentials. */
  readonly name: string
  /** The value of the first of `keys` that has one, with its index; null where none has. */
  readonly getFirst: (keys: readonly string[]) => Promise<{ index: number; value: string } | null>
  /**
   * Writes `value` unless the key has one already, and returns the value that stands: the first wins. `group` names
   * the conversation that it belongs to.
   */
  readonly putIfAbsent: (key: string, value: string, group?: string) => Promise<string>
  /** Writes `value`, replacing what was there. */
  readonly put: (key: string, value: string, group?: string) => Promise<void>
  readonly delete: (keys: readonly string[]) => Promise<void>
  /** Deletes what was written with this group. Resolves with how many values that were. */
  readonly deleteGroup: (group: string) => Promise<number>
  /** Deletes everything that Foldgate has written, leases too. Resolves with how many values that were. */
  readonly purge: () => Promise<number>
  /** Whether `holder` holds the lease for `leaseMs` from now on: it was free, its time was up, or it was its own. */
  readonly lease: (key: string, holder: string, leaseMs: number) => Promise<boolean>
  /** Gives a lease back; nothing happens where another holds it. */
  readonly release: (key: string, holder: string) => Promise<void>
  readonly close: () => Promise<void>
}
