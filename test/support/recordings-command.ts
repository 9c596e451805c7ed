import { parseArgs, type ParseArgsConfig } from 'node:util'

type Options = NonNullable<ParseArgsConfig['options']>

/** The command line of a script that reads one folder of recordings; a text that says what is wrong with it. */
export function readCommand<const Known extends Options>(
  args: readonly string[],
  options: Known,
  usage: string,
) {
  let given
  try {
    given = parseArgs({ args: [...args], allowPositionals: true, options })
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  const [folder, ...others] = given.positionals
  if (folder === undefined) return `Name the folder with the recordings: ${usage}`
  if (others.length > 0) return `One folder at a time; there is no use for ${others.join(' ')}.`
  return { folder, values: given.values }
}

/** What is wrong with a value that has to be a whole number above 0; null where nothing is. */
export function wholeNumberProblem(name: string, value: string | undefined): string | null {
  return value === undefined || /^[1-9]\d*$/.test(value) ? null : `--${name} takes a whole number above 0.`
}
