const given = process.env['PROPERTY_RUNS'] ?? 'third'
if (given !== 'third' && given !== 'all')
  throw new Error(`PROPERTY_RUNS is ${JSON.stringify(given)}: it has to be third or all`)

/**
 * How many inputs a property is tried with: a third of them where a change is made, all of them in CI, which sets
 * `PROPERTY_RUNS=all`.
 */
export const propertyRuns = (all: number): number => (given === 'all' ? all : Math.ceil(all / 3))
