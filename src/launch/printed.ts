import type { Additions } from './known-program.ts'

/** What a command would be started with: a variable a line, then the arguments, each as a shell takes it. */
export function printed({ env, args, shown }: Additions): string {
  const set = Object.entries(env).map(([name, value]) => `${name}=${shown[name] ?? value}`)
  const added = args.length === 0 ? [] : [`arguments before its own: ${args.map(quoted).join(' ')}`]
  return [...set, ...added].join('\n')
}

// --- internal ---

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
