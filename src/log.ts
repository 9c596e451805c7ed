/** Levels in ascending order of importance. */
const levels = ['debug', 'info', 'warn', 'error', 'silent'] as const

export type LogLevel = (typeof levels)[number]

/** Facts of a log line. Figures and names only: never keys, never anything a conversation says. */
export type LogFacts = Readonly<Record<string, string | number | boolean | null>>

export type Log = {
  readonly debug: (message: string, facts?: LogFacts) => void
  readonly info: (message: string, facts?: LogFacts) => void
  readonly warn: (message: string, facts?: LogFacts) => void
  readonly error: (message: string, facts?: LogFacts) => void
}

export type LogOptions = {
  readonly level: LogLevel
  readonly write: (line: string) => void
  /** For people at a terminal; else one JSON object a line. */
  readonly pretty: boolean
  readonly now: () => Date
}

export function createLog({ level, write, pretty, now }: LogOptions): Log {
  const least = levels.indexOf(level)
  const line = (importance: Exclude<LogLevel, 'silent'>) =>
    function writeLine(message: string, facts: LogFacts = {}): void {
      if (levels.indexOf(importance) < least) return
      if (!pretty) {
        write(`${JSON.stringify({ time: now().toISOString(), level: importance, message, ...facts })}\n`)
        return
      }
      const told = Object.entries(facts).map(([name, value]) => ` ${name}=${value}`)
      const mark = importance === 'info' ? '' : `${importance}: `
      write(`${mark}${message}${told.join('')}\n`)
    }
  return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') }
}
