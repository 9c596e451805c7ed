import * as fc from 'fast-check'

const given = process.env['PROPERTY_RUNS'] ?? 'fifth'
if (given !== 'fifth' && given !== 'all')
  throw new Error(`PROPERTY_RUNS is ${JSON.stringify(given)}: it has to be fifth or all`)

/**
 * How many inputs a property is tried with: a fifth of them where a change is made, all of them in CI, which sets
 * `PROPERTY_RUNS=all`.
 */
export const propertyRuns = (all: number): number => (given === 'all' ? all : Math.ceil(all / 5))

/** Holds a promise of so many drawn inputs, or of the fifth that is tried where a change is made. */
export const forAll = <Drawn extends [unknown, ...unknown[]]>(
  runs: number,
  ...promise: [...Drawing<Drawn>, (...drawn: Drawn) => void]
): void => fc.assert(fc.property(...promise), { numRuns: propertyRuns(runs) })

export const forAllAsync = async <Drawn extends [unknown, ...unknown[]]>(
  runs: number,
  ...promise: [...Drawing<Drawn>, (...drawn: Drawn) => Promise<void>]
): Promise<void> => fc.assert(fc.asyncProperty(...promise), { numRuns: propertyRuns(runs) })

/** One of several that are drawn more or less often. */
export const weighed = <Each>(weight: number, arbitrary: fc.Arbitrary<Each>) => ({ weight, arbitrary })

type Drawing<Drawn> = { [Place in keyof Drawn]: fc.Arbitrary<Drawn[Place]> }
