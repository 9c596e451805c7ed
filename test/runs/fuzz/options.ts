import { parseArgs } from 'node:util'

/** What the command line of a fuzz run asks for. */
export type FuzzOptions = {
  readonly seconds: number
  readonly seed: number
  /** The targets to run, by name. */
  readonly targets: readonly string[]
  /** Where the counterexample stands that is tried again; null: none, new inputs are made. */
  readonly path: string | null
}

/** Reads the arguments of a fuzz run; a text that says what is wrong with them. `newSeed` is for a run that names none. */
export function readOptions(
  args: readonly string[],
  known: readonly string[],
  newSeed: () => number,
): FuzzOptions | string {
  let given
  try {
    given = parseArgs({ args: [...args], options }).values
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  const { seconds, seed, target, path = null } = given
  if (!/^[1-9]\d*$/.test(seconds)) return '--seconds takes a whole number above 0.'
  if (seed !== undefined && !/^\d{1,10}$/.test(seed)) return '--seed takes a whole number.'
  if (target !== undefined && !known.includes(target))
    return `There is no target ${target}; there are ${known.join(', ')}.`
  if (path !== null && (target === undefined || seed === undefined))
    return '--path tries one counterexample again: it takes --target and --seed, too.'
  if (path !== null && !/^\d+(?::\d+)*$/.test(path)) return '--path takes numbers with colons between them.'
  return {
    seconds: Number(seconds),
    seed: seed === undefined ? newSeed() : Number(seed),
    targets: target === undefined ? known : [target],
    path,
  }
}

// --- internal ---

const options = {
  seconds: { type: 'string', default: '40' },
  seed: { type: 'string' },
  target: { type: 'string' },
  path: { type: 'string' },
} as const
