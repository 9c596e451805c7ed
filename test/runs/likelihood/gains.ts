import type { Label } from './written.ts'

/** What is asked of a recorded message, each a choice of its tokens. */
export const aspects = ['all', 'decided', 'name', 'arguments', 'text'] as const
export type Aspect = (typeof aspects)[number]

/** Sums of the negative log-likelihood of a message's tokens, in nats. */
export type Costs = Readonly<Record<Aspect, number>>

export function costsOf(logProbabilities: readonly number[], labels: readonly Label[]): Costs {
  const costs = { all: 0, decided: 0, name: 0, arguments: 0, text: 0 }
  for (const [index, logProbability] of logProbabilities.entries()) {
    const label = labels[index]
    if (label === undefined || label.part === 'frame') continue
    costs.all -= logProbability
    costs[label.part] -= logProbability
    if (label.isDecided) costs.decided -= logProbability
  }
  return costs
}

/** One moment: what the recorded message costs after each row's view, after everything, and after nothing. */
export type ScoredMoment = {
  readonly id: string
  readonly conversation: string
  readonly rows: ReadonlyMap<string, Costs>
  readonly nothing: Costs
  readonly everything: Costs
}

/** A figure with the interval that 95 of 100 resamples fall into. */
export type Estimate = { readonly value: number; readonly low: number; readonly high: number }

/**
 * Of what everything gains over nothing, the share that rows gain, as a ratio of sums over all moments. Whole conversations
 * are drawn again, not moments: those of one conversation have their task and their words in common. The same draws serve
 * all rows, so that two can be compared.
 */
export function openGains(moments: readonly ScoredMoment[], { draws = DRAWS, seed = 1 } = {}) {
  const conversations = [...Map.groupBy(moments, ({ conversation }) => conversation).values()]
  const random = openRandom(seed)
  const resamples = Array.from({ length: draws }, () =>
    conversations.flatMap(() => conversations[Math.floor(random() * conversations.length)] ?? []),
  )
  const shares = (row: string, aspect: Aspect) => (drawn: readonly ScoredMoment[]) =>
    shareOf(drawn, row, aspect)
  const estimate = (figure: (drawn: readonly ScoredMoment[]) => number): Estimate => {
    const samples = resamples
      .map(figure)
      .filter(Number.isFinite)
      .toSorted((one, other) => one - other)
    const at = (share: number) => samples[Math.round(share * (samples.length - 1))] ?? Number.NaN
    return { value: figure(moments), low: at(0.025), high: at(0.975) }
  }
  return {
    gain: (row: string, aspect: Aspect) => estimate(shares(row, aspect)),
    /** What one row gains more than another. */
    difference: (row: string, other: string, aspect: Aspect) =>
      estimate((drawn) => shareOf(drawn, row, aspect) - shareOf(drawn, other, aspect)),
  }
}

const DRAWS = 2000

/** Not a number where nothing can be gained. */
function shareOf(moments: readonly ScoredMoment[], row: string, aspect: Aspect): number {
  let [gained, most] = [0, 0]
  for (const { rows, nothing, everything } of moments) {
    const costs = rows.get(row)
    if (costs === undefined) continue
    gained += nothing[aspect] - costs[aspect]
    most += nothing[aspect] - everything[aspect]
  }
  return most === 0 ? Number.NaN : gained / most
}

/** Numbers from 0 to 1, the same ones for a seed (mulberry32). */
function openRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
