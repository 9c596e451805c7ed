import { escaped } from '../telemetry/log/log.ts'

/** Something wrong with a setting or a profile. */
export type Problem = {
  /** Where it was written: a file, a flag (`--port`) or an environment variable. */
  readonly source: string
  /** Line and column in the file, from 1; null if the source is no file or could not be read. */
  readonly line: number | null
  readonly column: number | null
  /** What is wrong. Never holds a credential. */
  readonly message: string
  /** What to do or what was probably meant; null if the message says it. */
  readonly suggestion: string | null
}

/** One line: `profiles/x.yaml:7:3: unknown key "sumary" — did you mean "summary"?`. */
export function formatProblem({ source, line, column, message, suggestion }: Problem): string {
  const position = line === null || column === null ? '' : `:${line}:${column}`
  const advice = suggestion === null ? '' : ` — ${suggestion}`
  // Names and contents of files may hold control characters.
  return escaped(`${source}${position}: ${message}${advice}`)
}

/** The problems in reading order: flags, variables and files by name, each from its top. */
export function sortProblems(problems: readonly Problem[]): readonly Problem[] {
  return problems.toSorted((one, other) => {
    if (one.source !== other.source) return one.source < other.source ? -1 : 1
    return (one.line ?? 0) - (other.line ?? 0) || (one.column ?? 0) - (other.column ?? 0)
  })
}

/** A problem with a source as a whole. */
export function problemOf(source: string, message: string, suggestion: string | null = null): Problem {
  return { source, line: null, column: null, message, suggestion }
}
