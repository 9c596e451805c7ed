import { parseArgs } from 'node:util'
import { recordingFiles } from './recordings.ts'
import { seconds } from './table.ts'

/*
 * The room that all harnesses share. What measures is a command: `runCommand` runs it and ends with its exit code, and
 * `readCommand` reads its command line, both here. `recordings.ts` reads recorded conversations, `workers.ts` spreads
 * orders over processes, `table.ts` prints tables and adds tallies up, `stage.ts` puts a Foldgate before an upstream and
 * asks it over sockets, `subject.ts` is a conversation with what is asked of it. `lived.ts`, `responses.ts` and
 * `messages.ts` are the same for conversations of the other two APIs.
 */

/** What a command measures: whether it came out as promised. `elapsed` tells the time since the start. */
type Measure = (args: readonly string[], elapsed: () => string) => Promise<boolean> | boolean

/** Ends the program with 0 if it came out as promised, else with 1; in a worker of the command, does its orders. */
export async function runCommand(
  measure: Measure,
  workers?: { readonly answerOrders: () => void },
): Promise<void> {
  if (process.send !== undefined && workers !== undefined) {
    workers.answerOrders()
    return
  }
  const startedMs = performance.now()
  try {
    const isGood = await measure(process.argv.slice(2), () => seconds(performance.now() - startedMs))
    process.exitCode = isGood ? 0 : 1
  } catch (error) {
    const told =
      error instanceof Refusal ? error.message : error instanceof Error ? error.stack : String(error)
    // A stage that failed half way has servers open, which would keep the program alive for ever.
    process.stderr.write(`${told}\n`, () => process.exit(1))
  }
}

/** Why a command line leaves nothing to measure. A run that measures nothing would find every promise kept. */
class Refusal extends Error {}

export function refuse(reason: string): never {
  throw new Refusal(reason)
}

export function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** One flag of a command line: how it is given, and what it means. */
type Flag<Value> = {
  readonly config: { readonly type: 'string' | 'boolean'; readonly multiple?: boolean }
  readonly read: (name: string, given: readonly string[], isGiven: boolean) => Value
}

/** The words after a flag; the usual ones where it is not given. */
export function text(): Flag<string | null>
export function text<Usual extends string | null>(usual: Usual): Flag<string | Usual>
export function text(usual: string | null = null): Flag<string | null> {
  return { config: { type: 'string' }, read: (_, [given = usual]) => given }
}

/** Of a flag that may be given several times; null where it is not given. */
export const texts: Flag<readonly string[] | null> = {
  config: { type: 'string', multiple: true },
  read: (_, given) => (given.length === 0 ? null : given),
}

export const yes: Flag<boolean> = { config: { type: 'boolean' }, read: (_, _given, isGiven) => isGiven }

/** A whole number above 0, or not below the least. */
export function whole(usual?: null, least?: number): Flag<number | null>
export function whole(usual: number, least?: number): Flag<number>
export function whole(usual: number | null = null, least = 1): Flag<number | null> {
  return {
    config: { type: 'string' },
    read: (name, [given]) => {
      if (given === undefined) return usual
      if (!/^[1-9]\d*$/.test(given)) refuse(`--${name} takes a whole number above 0.`)
      if (Number(given) < least) refuse(`--${name} takes ${least} and more.`)
      return Number(given)
    },
  }
}

/** One of these words; null where it is not given and nothing is usual. */
export function oneOf<Word extends string>(words: readonly Word[]): Flag<Word | null>
export function oneOf<Word extends string>(words: readonly Word[], usual: Word): Flag<Word>
export function oneOf<Word extends string>(words: readonly Word[], usual: Word | null = null) {
  const read: Flag<Word | null>['read'] = (name, [given]) => {
    const found = given === undefined ? usual : words.find((word) => word === given)
    return found === undefined
      ? refuse(`There is no ${name} ${given}; there are ${words.join(', ')}.`)
      : found
  }
  return { config: { type: 'string' as const }, read }
}

type Flags = Readonly<Record<string, Flag<unknown>>>
type ValuesOf<Given extends Flags> = {
  readonly [Name in keyof Given]: Given[Name] extends Flag<infer Value> ? Value : never
}

/** Reads a command line that names at most one folder. */
export function readCommand<const Given extends Flags>(
  args: readonly string[],
  flags: Given,
): { readonly folder: string | null; readonly values: ValuesOf<Given> } {
  const options = Object.fromEntries(Object.entries(flags).map(([name, { config }]) => [name, config]))
  let given
  try {
    given = parseArgs({ args: [...args], allowPositionals: true, options })
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error))
  }
  const [folder = null, ...others] = given.positionals
  if (others.length > 0) refuse(`One folder at a time; there is no use for ${others.join(' ')}.`)
  const read = Object.entries(flags).map(([name, flag]): readonly unknown[] => {
    const value = given.values[name]
    const words = [value ?? []].flat().filter((each) => typeof each === 'string')
    return [name, flag.read(name, words, value === true)]
  })
  const values: ValuesOf<Given> = Object.fromEntries(read)
  return { folder, values }
}

/** The same of a command that has to be given a folder of recordings; `usage` says how. */
export function readFolderCommand<const Given extends Flags>(
  args: readonly string[],
  flags: Given,
  usage: string,
): { readonly folder: string; readonly values: ValuesOf<Given> } {
  const { folder, values } = readCommand(args, flags)
  return { folder: folder ?? refuse(`Name the folder with the recordings: ${usage}`), values }
}

/** The files of a folder of recordings, or those of these names, with or without their endings. */
export function filesIn(folder: string, names: readonly string[] | null): readonly string[] {
  const there = recordingFiles(folder, null)
  if (there.length === 0) refuse(`There are no recordings (*.jsonl) in ${folder}.`)
  if (names === null) return there
  return names.flatMap((name) => {
    const found = recordingFiles(folder, name)
    if (found.length > 0) return found
    return refuse(`There are no recordings named ${name} in ${folder}; there are ${there.join(', ')}.`)
  })
}
