import { parseArgs } from 'node:util'

export type SoakOptions = {
  /** Of load, all rounds together. */
  readonly seconds: number
  /** Idle connections. */
  readonly connections: number
  readonly seed: number
  /** Where all figures go, besides the output. */
  readonly file: string | null
}

/** Reads the arguments; a text that says what is wrong with them. */
export function readOptions(args: readonly string[]): SoakOptions | string {
  let values
  try {
    values = parseArgs({ args: [...args], options }).values
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  for (const name of ['seconds', 'minutes', 'idle', 'seed'] as const) {
    if (values[name] !== undefined && !/^\d{1,6}$/.test(values[name]))
      return `--${name} takes a whole number.`
  }
  if (values.seconds !== undefined && values.minutes !== undefined)
    return 'Of --seconds and --minutes one is enough.'
  const seconds = values.minutes === undefined ? Number(values.seconds ?? 32) : Number(values.minutes) * 60
  if (seconds < 4) return 'A round takes a second at least: --seconds 4.'
  return {
    seconds,
    connections: Number(values.idle ?? 10_000),
    seed: Number(values.seed ?? Date.now() % 1_000_000),
    file: values.json ?? null,
  }
}

// --- internal ---

const options = {
  seconds: { type: 'string' },
  minutes: { type: 'string' },
  idle: { type: 'string' },
  seed: { type: 'string' },
  json: { type: 'string' },
} as const
