import { createLog, type Log } from '../../src/telemetry/log/log.ts'

/** A log of everything, at a clock that stands, and the lines that it has written. */
export function keptLog(): { readonly log: Log; readonly lines: readonly string[] } {
  const lines: string[] = []
  const write = (line: string) => void lines.push(line)
  return { log: createLog({ level: 'debug', write, pretty: false, now: () => new Date(0) }), lines }
}
