import type { Sample } from './sample.ts'
import type { Scenario } from './scenarios.ts'

/** What was measured in one round, by scenario and subject. */
export class Round {
  readonly #samples = new Map<Scenario, Map<string, Sample>>()

  add(scenario: Scenario, subject: string, sample: Sample): void {
    const bySubject = this.#samples.get(scenario) ?? new Map<string, Sample>()
    this.#samples.set(scenario, bySubject.set(subject, sample))
  }

  /** Of one subject; a subject that was not measured has none. */
  get(scenario: Scenario, subject: string): Sample | null {
    return this.#samples.get(scenario)?.get(subject) ?? null
  }
}

export type Figure = (sample: Sample) => number | null

/** A figure of a subject in each round, where it has one. */
export function figuresOf(
  rounds: readonly Round[],
  scenario: Scenario,
  subject: string,
  figure: Figure,
): number[] {
  return rounds.flatMap((round) => {
    const sample = round.get(scenario, subject)
    const value = sample === null ? null : figure(sample)
    return value === null ? [] : [value]
  })
}

/** A figure of a subject over that of another one, within each round. */
export function ratiosOf(
  rounds: readonly Round[],
  scenario: Scenario,
  subjects: { readonly of: string; readonly to: string },
  figure: Figure,
): number[] {
  return rounds.flatMap((round) => {
    const [one] = figuresOf([round], scenario, subjects.of, figure)
    const [other] = figuresOf([round], scenario, subjects.to, figure)
    return one === undefined || other === undefined ? [] : [one / other]
  })
}

/** What a subject adds to the direct latency, over what another one adds, within each round. */
export function addedRatiosOf(
  rounds: readonly Round[],
  scenario: Scenario,
  subjects: { readonly of: string; readonly to: string },
): number[] {
  return rounds.flatMap((round) => {
    const direct = round.get(scenario, 'direct')
    const one = round.get(scenario, subjects.of)
    const other = round.get(scenario, subjects.to)
    if (direct === null || one === null || other === null) return []
    return [(one.medianMs - direct.medianMs) / (other.medianMs - direct.medianMs)]
  })
}
