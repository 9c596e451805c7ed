import { parsePrometheusText } from '../../support/prometheus-text.ts'

/** The values of a scrape. */
export type Metrics = {
  /** The sum of all values of this name whose labels are these; 0 where there are none. */
  readonly sum: (name: string, labels?: Readonly<Record<string, string>>) => number
  /** The values of this name that are not 0, by what this label says. */
  readonly by: (name: string, label: string) => ReadonlyMap<string, number>
}

export function readMetrics(text: string): Metrics {
  const samples = [...parsePrometheusText(text).values()].flatMap((family) => family.samples)
  return {
    sum: (name, labels = {}) =>
      samples
        .filter((sample) => sample.name === name)
        .filter((sample) => Object.entries(labels).every(([label, said]) => sample.labels[label] === said))
        .reduce((sum, { value }) => sum + value, 0),
    by: (name, label) => {
      const sums = new Map<string, number>()
      for (const sample of samples) {
        if (sample.name !== name || sample.value === 0) continue
        const said = sample.labels[label] ?? ''
        sums.set(said, (sums.get(said) ?? 0) + sample.value)
      }
      return sums
    },
  }
}
