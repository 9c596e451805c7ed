/**
 * The numbers that a decision is made with, in Foldgate's own count: the provider's figures divided by the
 * ratio of its count to ours.
 */
export type Room = {
  /** Window less reserve. */
  readonly budgetTokens: number
  /** What surrounds the messages that may be compacted: leading system block, tools, schemas, priming. */
  readonly aroundTokens: number
}
