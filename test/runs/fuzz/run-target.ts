import type { Counterexample, Fate, FuzzTarget } from './target.ts'

export type RunOptions = {
  readonly seconds: number
  /** That of the first batch; each further one has the next. */
  readonly seed: number
  readonly path: string | null
}

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
 * and go on to large ones.
 */
export async function runTarget(target: FuzzTarget, options: RunOptions): Promise<TargetReport> {
  const beganMs = performance.now()
  const fates = new Map<Fate, number>()
  let inputs = 0
  let slowestMs = 0
  let failure: TargetReport['failure'] = null
  const open = await target.open()
  const isTimeUp = () => options.path === null && performance.now() - beganMs > options.seconds * 1_000
  try {
    for (let batch = 0; failure === null && !(batch > 0 && isTimeUp()); batch += 1) {
      const seed = options.seed + batch
      const found = await open.run({
        seed,
        inputs: BATCH_INPUTS,
        path: options.path,
        // A run that is too short for one input would show nothing.
        isTimeUp: () => inputs > 0 && isTimeUp(),
        onInput: (fate, elapsedMs) => {
          inputs += 1
          slowestMs = Math.max(slowestMs, elapsedMs)
          fates.set(fate, (fates.get(fate) ?? 0) + 1)
        },
      })
      failure = found === null ? null : { ...found, seed }
      if (options.path !== null) break
    }
  } finally {
    await open.close()
  }
  if (failure === null && options.path === null && inputs >= TELLING_INPUTS) {
    const missing = target.shows.filter((start) => [...fates.keys()].every((fate) => !fate.startsWith(start)))
    if (missing.length > 0) {
      const error = `Of ${inputs} inputs none was ${missing.join(', none ')}: the run shows nothing.`
      failure = { seed: options.seed, path: '', input: '', error }
    }
  }
  return { name: target.name, inputs, fates, slowestMs, failure, elapsedMs: performance.now() - beganMs }
}

// --- internal ---

const BATCH_INPUTS = 200

/** Fewer may be of one kind by chance. */
const TELLING_INPUTS = 60
