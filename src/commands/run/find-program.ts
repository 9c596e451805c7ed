import { nearest } from '../../profiles/near-miss.ts'
import type { KnownProgram } from './known-program.ts'
import { anyProgram, ledByFiles, ledByVariables } from './programs/by-variables-or-files.ts'
import { claude } from './programs/claude.ts'
import { codex } from './programs/codex.ts'
import { ledBySettings } from './programs/opencode.ts'

const programs: readonly KnownProgram[] = [claude, codex, ...ledBySettings, ...ledByVariables, ...ledByFiles]

/**
 * Which program a command starts, and after how many of its words the program's own arguments begin: by the command's name, by
 * the package that a runner is told, or by where a script lies.
 */
export function findProgram(command: readonly string[]) {
  const [first = '', ...rest] = command
  const direct = programNamed(first)
  if (direct !== null) return { program: direct, ownArgumentsAt: 1 }
  if (runners.has(baseName(first))) {
    const at = rest.findIndex((word) => !word.startsWith('-'))
    const run = programNamed(rest[at] ?? '')
    if (run !== null) return { program: run, ownArgumentsAt: at + 2 }
  }
  return { program: anyProgram, ownArgumentsAt: 1 }
}

/** The names of those that are known, as they are typed. */
export const knownCommands: readonly string[] = programs.flatMap(({ commands }) => commands)

/** The known program whose name a word was most likely meant to be, as it is typed; null if it is one, or near none. */
export function nearestProgram(word: string): string | null {
  return programNamed(word) !== null || /[/\\]/.test(word) ? null : nearest(baseName(word), knownCommands)
}

// --- internal ---

/** Programs that start another one, named by the first word that is no option. */
const runners: ReadonlySet<string> = new Set(['npx', 'pnpx', 'bunx', 'uvx', 'node', 'bun', 'deno'])

function programNamed(word: string): KnownProgram | null {
  const name = baseName(word)
  const path = word.replaceAll('\\', '/')
  // A version may follow a package's name.
  const packageName = word.replace(/(?<=.)@[^/]*$/, '')
  const isMeant = ({ commands, packages }: KnownProgram): boolean =>
    commands.includes(name) ||
    commands.includes(packageName) ||
    packages.some((each) => each === packageName || path.includes(`/node_modules/${each}/`))
  return programs.find(isMeant) ?? null
}

function baseName(word: string): string {
  const name = word.split(/[/\\]/).at(-1) ?? word
  return name.replace(/\.(?:cmd|exe|ps1|bat|[cm]?js)$/i, '').toLowerCase()
}
