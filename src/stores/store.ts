/**
 * Where decisions are remembered: stride records, sights and, later, summaries. Keys already carry the
 * scope. One contract suite (`test/contracts/store-contract.ts`) defines what an implementation owes.
 */
export type Store = {
  /** For the start line, metrics and messages. Carries no credentials. */
  readonly name: string
  /** The value of the first of `keys` that has one, with its index; null where none has. */
  readonly getFirst: (keys: readonly string[]) => Promise<{ index: number; value: string } | null>
  /** Writes `value` unless the key has one already, and returns the value that stands: the first wins. */
  readonly putIfAbsent: (key: string, value: string) => Promise<string>
  /** Writes `value`, replacing what was there. */
  readonly put: (key: string, value: string) => Promise<void>
  readonly delete: (keys: readonly string[]) => Promise<void>
  readonly close: () => Promise<void>
}
