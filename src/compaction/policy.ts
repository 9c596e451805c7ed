import type { Profile } from '../profiles/schema.ts'

/** The part of a profile that decides what a view looks like. */
export type Policy = Pick<
  Profile,
  | 'trigger'
  | 'target'
  | 'every'
  | 'limit'
  | 'min_growth_tokens'
  | 'keep'
  | 'render'
  | 'preview'
  | 'clear'
  | 'fold'
  | 'clip'
  | 'recap'
  | 'recall'
>

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

/** The passes, cheapest first. */
export const passOrder = ['render', 'preview', 'clear', 'fold', 'clip'] as const

export type PassName = (typeof passOrder)[number]
