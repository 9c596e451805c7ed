/** One instruction of a Dockerfile, continued lines joined. */
export type Instruction = { readonly name: string; readonly text: string }

export type Stage = {
  /** What later stages call it; null: nothing. */
  readonly name: string | null
  /** The image that it begins with. */
  readonly base: string
  readonly instructions: readonly Instruction[]
}

/** Reads a Dockerfile into its stages, in order. */
export function readDockerfile(text: string): readonly Stage[] {
  const stages: { name: string | null; base: string; instructions: Instruction[] }[] = []
  const lines = text
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .join('\n')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
  for (const line of lines) {
    const [, name = '', rest = ''] = /^([A-Z]+) (.+)$/.exec(line) ?? []
    if (name === '') throw new Error(`no instruction: ${line}`)
    if (name === 'FROM') {
      const [, base = '', , stage = null] = /^(\S+)( AS (\S+))?$/.exec(rest) ?? []
      stages.push({ name: stage, base, instructions: [] })
    } else {
      const stage = stages.at(-1)
      if (stage === undefined) throw new Error(`before the first stage: ${line}`)
      stage.instructions.push({ name, text: rest })
    }
  }
  return stages
}

/** The variables of an ENV instruction. */
export const variablesOf = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    text.split(/\s+/).map((pair) => {
      const [, name, value] = /^(\w+)=([^"'\s]*)$/.exec(pair) ?? []
      if (name === undefined || value === undefined) throw new Error(`no variable: ${pair}`)
      return [name, value]
    }),
  )

/** The words of a command in exec form, which needs no shell: `["node", "dist/main.js"]`. */
export function execForm(text: string): readonly string[] {
  const words: unknown = text.startsWith('[') ? JSON.parse(text) : null
  const isCommand = Array.isArray(words) && words.length > 0
  if (!isCommand || !words.every((word) => typeof word === 'string'))
    throw new Error(`needs a shell: ${text}`)
  return words
}

/** Whether a path of the build's context stays out of it, as `.dockerignore` says: the last line that matches holds. */
export function readIgnored(text: string): (path: string) => boolean {
  const rules = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => ({
      keeps: line.startsWith('!'),
      pattern: line.replace(/^!/, '').replaceAll(/^\/|\/$/g, ''),
    }))
  return (path) => {
    let ignored = false
    for (const { keeps, pattern } of rules) if (matches(path, pattern)) ignored = !keeps
    return ignored
  }
}

/** A pattern matches what it names and everything below it. */
function matches(path: string, pattern: string): boolean {
  const source = pattern
    .split(/(\*\*\/|\*\*|\*)/)
    .map((part) => wildcards[part] ?? part.replaceAll(/[.+^${}()|[\]\\?]/g, '\\$&'))
    .join('')
  return new RegExp(`^${source}(?:/|$)`).test(path)
}

const wildcards: Readonly<Record<string, string>> = { '**/': '(?:.*/)?', '**': '.*', '*': '[^/]*' }
