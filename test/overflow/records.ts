import { readFileSync } from 'node:fs'

/** Sentences and errors of servers, one a line, from the file of that name beside this one. */
export function recordsIn<Entry>(name: string, read: (line: string) => Entry): readonly Entry[] {
  const lines = readFileSync(new URL(name, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
  return lines.map(read)
}
