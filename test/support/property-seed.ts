/**
 * Loaded before each test file: every property draws its inputs from one seed, so that a run tells about the change that it
 * was made for, and is the same on each machine. `PROPERTY_SEED=$RANDOM npm test` tries inputs that nobody has seen.
 */
import fc from 'fast-check'
import { propertyRuns } from './property-runs.ts'

/** What fast-check tries where nothing else is said. */
const FAST_CHECK_RUNS = 100

const given = process.env['PROPERTY_SEED'] ?? '1'
const seed = Number(given)
if (!Number.isSafeInteger(seed))
  throw new Error(`PROPERTY_SEED is ${JSON.stringify(given)}: it has to be a whole number, such as 17`)
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed, numRuns: propertyRuns(FAST_CHECK_RUNS) })
