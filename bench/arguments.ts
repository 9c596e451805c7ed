import { parseArgs } from 'node:util'

export type BenchArguments = {
  readonly isQuick: boolean
  /** Names of measures; null: all. */
  readonly only: readonly string[] | null
  /** The folder of another checkout, which this one is measured beside and nothing else; null: none. */
  readonly beside: string | null
  /** How many rounds each measure takes; null: as many as is usual. */
  readonly rounds: number | null
  /** Where the page goes; null: to standard output only. */
  readonly file: string | null
}

export const usage =
  'usage: npm run bench -- [--quick] [--rounds N] [--only NAME[,NAME]] [--beside PATH] [--out FILE]'

/** Reads the command line. Returns what is wrong with it as a text, where something is. */
export function readArguments(
  args: readonly string[],
  measureNames: readonly string[],
  date: Date,
): BenchArguments | string {
  const values = parsed(args)
  if (typeof values === 'string') return values
  const only = values.only?.split(',').map((name) => name.trim()) ?? null
  const unknown = only?.find((name) => !measureNames.includes(name))
  if (unknown !== undefined) return `There is no measure "${unknown}". There are: ${measureNames.join(', ')}.`
  if (values.out === '') return '--out needs the name of a file.'
  if (values.beside === '') return '--beside needs the folder of a checkout.'
  if (values.beside !== undefined && only !== null)
    return '--beside measures one thing by itself: leave out --only.'
  const beside = values.beside ?? null
  if (values.rounds !== undefined && !/^[1-9]\d?$/.test(values.rounds))
    return '--rounds needs a number from 1 to 99.'
  const rounds = values.rounds === undefined ? null : Number(values.rounds)
  const isQuick = values.quick ?? false
  const isWhole = !isQuick && only === null && beside === null
  const byDate = `bench/results/${date.toISOString().slice(0, 10)}.md`
  return { isQuick, rounds, only, beside, file: values.out ?? (isWhole ? byDate : null) }
}

// --- internal ---

type Values = {
  readonly quick?: boolean
  readonly rounds?: string
  readonly only?: string
  readonly beside?: string
  readonly out?: string
}

function parsed(args: readonly string[]): Values | string {
  try {
    return parseArgs({
      args: [...args],
      options: {
        quick: { type: 'boolean' },
        rounds: { type: 'string' },
        only: { type: 'string' },
        beside: { type: 'string' },
        out: { type: 'string' },
      },
    }).values
  } catch (error) {
    if (error instanceof TypeError && 'code' in error) return error.message
    throw error
  }
}
