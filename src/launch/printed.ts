import type { Additions } from './known-program.ts'

/**
 * What a command would be started with: a variable a line, under the reason for it where there is one, as a shell's
 * comment; then the arguments, each as a shell takes it.
 */
export function printed({ env, args, shown, reasons }: Additions): string {
  const set = Object.entries(env).flatMap(([name, value]) => {
    const line = `${name}=${shown[name] ?? value}`
    return reasons[name] === undefined ? [line] : [`# ${reasons[name]}`, line]
  })
  const added = args.length === 0 ? [] : [`arguments before its own: ${args.map(quoted).join(' ')}`]
  return [...set, ...added].join('\n')
}

// --- internal ---

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
