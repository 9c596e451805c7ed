import { openDice, seedOf } from '../../../src/demo/dice.ts'

/** Carries the name of a visit to the server behind Foldgate. */
export const VISIT_HEADER = 'x-soak-visit'

/**
 * Every request carries a mark, by which the server chooses what to answer and the client knows what it has to get. It
 * names the tenant, so that nobody gets or sends what is another's.
 */
export function markOf(tenant: string, number: number): string {
  return `mark-${tenant}-${number.toString(36)}`
}

/** The tenants whose marks stand in a text. */
export function tenantsIn(text: string): ReadonlySet<string> {
  return new Set([...text.matchAll(/\bmark-([a-z]+)-/g)].map((found) => found[1] ?? ''))
}

/** The newest mark in a text; '' where there is none. */
export function lastMarkIn(text: string): string {
  return [...text.matchAll(/\bmark-[a-z]+-[0-9a-z]+\b/g)].at(-1)?.[0] ?? ''
}

/** What the server does with a request. */
export type Reply = {
  readonly kind: 'answer' | 'limited' | 'failed' | 'cut'
  /** The pieces in which a stream comes; a plain answer has them at once. */
  readonly pieces: readonly string[]
  /** Between two pieces, in milliseconds. */
  readonly pauseMs: number
}

/** The reply to a mark, the same for whoever asks. */
export function replyTo(mark: string): Reply {
  const dice = openDice(seedOf(mark))
  const roll = dice.below(100)
  const kind = roll < 88 ? 'answer' : roll < 92 ? 'limited' : roll < 96 ? 'failed' : 'cut'
  const length = dice.below(10) === 0 ? 200 : 2 + dice.below(30)
  const pieces = Array.from({ length }, (_, index) => `${mark} ${index}. `)
  return { kind, pieces, pauseMs: dice.pick([0, 0, 2, 10]) }
}
