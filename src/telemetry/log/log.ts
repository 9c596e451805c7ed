/** Levels in ascending order of importance. */
const levels = ['debug', 'info', 'warn', 'error', 'silent'] as const

export type LogLevel = (typeof levels)[number]

/** Facts of a log line. Figures and names only: never keys, never anything a conversation says. */
export type LogFacts = Readonly<Record<string, string | number | boolean | null>>

export type Log = Readonly<Record<Exclude<LogLevel, 'silent'>, (message: string, facts?: LogFacts) => void>>

export type LogOptions = {
  readonly level: LogLevel
  readonly write: (line: string) => void
  /** For people at a terminal; else one JSON object a line. */
  readonly pretty: boolean
  readonly now: () => Date
}

export function createLog({ level, write, pretty, now }: LogOptions): Log {
  const least = levels.indexOf(level)
  const line = (importance: keyof Log) =>
    function writeLine(message: string, facts: LogFacts = {}): void {
      if (levels.indexOf(importance) < least) return
      if (!pretty) {
        write(`${JSON.stringify({ time: now().toISOString(), level: importance, message, ...facts })}\n`)
        return
      }
      const told = Object.entries(facts).map(([name, value]) => ` ${name}=${quoted(String(value))}`)
      const mark = importance === 'info' ? '' : `${importance}: `
      write(`${mark}${escaped(message)}${told.join('')}\n`)
    }
  return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') }
}

/** Where nothing is to be logged. */
export const silentLog = createLog({ level: 'silent', write: () => {}, pretty: false, now: () => new Date() })

/** A text of somebody else's that a terminal only shows: what it would act on is written as JSON writes it. */
export function escaped(text: string): string {
  return text.replaceAll(unprintable, (character) =>
    Array.from({ length: character.length }, (_, at) => escapedUnit(character.charCodeAt(at))).join(''),
  )
}

// --- internal ---

/**
 * What a terminal acts on instead of showing it: control characters begin its commands and lines, format
 * characters turn text around or hide it (Unicode's categories Cc and Cf, line and paragraph separators).
 */
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** A value of a fact, in quotes where it holds something that must not reach a terminal. */
function quoted(text: string): string {
  return text.search(unprintable) === -1 ? text : escaped(JSON.stringify(text))
}

function escapedUnit(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`
}
