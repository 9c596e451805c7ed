import * as fc from 'fast-check'
import { setTimeout } from 'node:timers/promises'

/** What became of an input, in a few words that many inputs share: "relayed", "400 path_not_allowed". */
type Fate = string

/** One kind of bad input: where it comes from, and what has to hold of it. */
export type FuzzTarget = {
  readonly name: string
  /** How much of a run's time it gets, beside the others. */
  readonly share: number
  /** How fates begin without which a run has shown nothing. */
  readonly shows: readonly Fate[]
  readonly open: () => Promise<OpenTarget>
}

/** A target with all that it needs started. */
type OpenTarget = {
  /** Tries inputs until the time is up; `onInput` is told what became of each, and how long that took. */
  readonly run: (options: BatchOptions) => Promise<Counterexample | null>
  readonly close: () => Promise<void>
}

type BatchOptions = {
  readonly seed: number
  /** Where in the batch a counterexample stands that is tried again; null: the whole batch. */
  readonly path: string | null
  readonly onInput: (fate: Fate, elapsedMs: number) => void
  readonly isTimeUp: () => boolean
}

/** The smallest input that was found to fail. */
type Counterexample = { readonly path: string; readonly input: string; readonly error: string }

type Parts<Value> = {
  readonly arbitrary: fc.Arbitrary<Value>
  readonly check: (input: Value) => Promise<Fate>
  readonly close: () => Promise<void>
}

/** A target out of a generator and a check, which returns an input's fate and throws where something is wrong with it. */
export const fuzzTarget = <Value>(
  name: string,
  share: number,
  shows: readonly Fate[],
  openParts: () => Promise<Parts<Value>>,
): FuzzTarget => ({ name, share, shows, open: async () => openOf(await openParts()) })

export type TargetReport = {
  readonly name: string
  readonly inputs: number
  /** How many inputs had each fate. */
  readonly fates: ReadonlyMap<Fate, number>
  /** How long the input took that took longest, what is looked at afterwards included. */
  readonly slowestMs: number
  readonly failure: (Counterexample & { readonly seed: number }) | null
  readonly elapsedMs: number
}

/**
 * Tries inputs until the time is up or one fails. In batches: the generators of fast-check begin each with small inputs
 * and go on to large ones. `seed` is that of the first batch; each further one has the next.
 */
export async function runTarget(
  { name, shows, open: openTarget }: FuzzTarget,
  { seconds, seed: firstSeed, path }: { seconds: number; seed: number; path: string | null },
): Promise<TargetReport> {
  const beganMs = performance.now()
  const fates = new Map<Fate, number>()
  let inputs = 0
  let slowestMs = 0
  let failure: TargetReport['failure'] = null
  const open = await openTarget()
  const isTimeUp = () => path === null && performance.now() - beganMs > seconds * 1_000
  try {
    for (let batch = 0; failure === null && !(batch > 0 && isTimeUp()); batch += 1) {
      const seed = firstSeed + batch
      const found = await open.run({
        seed,
        path,
        // A run that is too short for one input would show nothing.
        isTimeUp: () => inputs > 0 && isTimeUp(),
        onInput: (fate, elapsedMs) => {
          inputs += 1
          slowestMs = Math.max(slowestMs, elapsedMs)
          fates.set(fate, (fates.get(fate) ?? 0) + 1)
        },
      })
      failure = found === null ? null : { ...found, seed }
      if (path !== null) break
    }
  } finally {
    await inTime(open.close(), `the end of ${name}`)
  }
  if (failure === null && path === null && inputs >= TELLING_INPUTS) {
    const missing = shows.filter((start) => [...fates.keys()].every((fate) => !fate.startsWith(start)))
    if (missing.length > 0) {
      const error = `Of ${inputs} inputs none was ${missing.join(', none ')}: the run shows nothing.`
      failure = { seed: firstSeed, path: '', input: '', error }
    }
  }
  return { name, inputs, fates, slowestMs, failure, elapsedMs: performance.now() - beganMs }
}

/** Keeps what nobody caught in this process, instead of ending it, so that the input that did it can be told. */
export function watchUncaught(): void {
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => {
      uncaught.push(`${event}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
    })
  }
}

const BATCH_INPUTS = 200

/** How long an input may take, or a target to close, in milliseconds: what takes longer hangs, and says so. */
const PATIENCE_MS = 120_000

/** Rejects where the work is not done in time, so that a run that hangs names what it hangs on. */
async function inTime<Result>(work: Promise<Result>, what: string): Promise<Result> {
  const enough = new AbortController()
  const late = setTimeout(PATIENCE_MS, null, { signal: enough.signal }).then(
    () => Promise.reject(new Error(`${what} was not done within ${PATIENCE_MS / 1_000} s`)),
    () => work,
  )
  try {
    return await Promise.race([work, late])
  } finally {
    enough.abort()
  }
}

/** Fewer may be of one kind by chance. */
const TELLING_INPUTS = 60

/** How long a smaller input is looked for, in milliseconds. */
const SHRINKING_MS = 30_000

const uncaught: string[] = []

/** What nobody caught since this was last asked, once everything had its turn. */
async function takeUncaught(): Promise<readonly string[]> {
  await new Promise<void>((resolve) => {
    setImmediate(resolve)
  })
  return uncaught.splice(0)
}

const openOf = <Value>({ arbitrary, check, close }: Parts<Value>): OpenTarget => ({
  close,
  run: async ({ seed, path, onInput, isTimeUp }) => {
    let failedAtMs: number | null = null
    const property = fc.asyncProperty(arbitrary, async (input) => {
      // What is skipped passes: a batch ends with the time, and so does the search for a smaller input.
      if (failedAtMs === null ? isTimeUp() : performance.now() - failedAtMs > SHRINKING_MS) return
      const beganMs = performance.now()
      try {
        const fate = await inTime(check(input), 'the input')
        const thrown = await takeUncaught()
        if (thrown.length > 0) throw new Error(thrown.join('\n'))
        if (failedAtMs === null) onInput(fate, performance.now() - beganMs)
      } catch (error) {
        if (failedAtMs === null) onInput('failed', performance.now() - beganMs)
        failedAtMs ??= performance.now()
        throw error
      }
    })
    const replay = path === null ? {} : { path, endOnFailure: true }
    const details = await fc.check(property, { seed, numRuns: BATCH_INPUTS, ...replay })
    if (!details.failed) return null
    const { counterexamplePath, counterexample, errorInstance } = details
    return {
      path: counterexamplePath ?? '',
      input: fc.stringify(counterexample),
      error: errorInstance instanceof Error ? errorInstance.message : String(errorInstance),
    }
  },
})
