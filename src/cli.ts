import { readFile } from 'node:fs/promises'
import { isatty } from 'node:tty'
import { fileURLToPath } from 'node:url'
import { complain, say, type Command } from './commands/command.ts'
import { help } from './commands/help.ts'
import { type CommandName, commands, parseArguments } from './config/flags.ts'
import { knownCommands } from './commands/run/find-program.ts'

/** Runs the command that the arguments name. Resolves with the exit code. */
export async function run(): Promise<number> {
  // A reader of the output may go away: that ends neither a proxy nor a command.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  const startedAs = howStarted(process.argv[1] ?? '')
  const parsed = parseArguments(process.argv.slice(2), knownCommands)
  if (parsed.flags['version'] === true) return say(process, await version())
  if (parsed.flags['help'] === true) return say(process, help(parsed.command))
  if (parsed.problems.length > 0) {
    const code = complain({ stderr: process.stderr, startedAs }, parsed.problems)
    return commands[parsed.command].misusedCode ?? code
  }
  const command = await loadCommand[parsed.command]()
  const { env, platform, stdout, stderr } = process
  return command({
    flags: parsed.flags,
    files: parsed.files,
    program: parsed.program,
    startedAs,
    env,
    cwd: process.cwd(),
    platform,
    pid: process.pid,
    builtInDirectory,
    version: await version(),
    // Only when it is asked for: opening it would change how a program that `run` starts can read it.
    stdin: () => process.stdin,
    stdout,
    stderr,
    containerBytes: process.constrainedMemory(),
    onSignal: (signal, listener) => void process.on(signal, listener),
    hasTerminal: isatty(0) || isatty(1) || isatty(2),
    exit: (code) => process.exit(code),
  })
}

// --- internal ---

/** Commands are loaded when they are run: `serve` does not load the demo. */
const loadCommand: Readonly<Record<CommandName, () => Promise<Command>>> = {
  serve: async () => (await import('./commands/serve.ts')).serve,
  run: async () => (await import('./commands/run.ts')).runCommand,
  demo: async () => (await import('./commands/demo.ts')).demo,
  check: async () => (await import('./commands/check.ts')).check,
  explain: async () => (await import('./commands/explain.ts')).explain,
  compare: async () => (await import('./commands/compare.ts')).compare,
  status: async () => (await import('./commands/status.ts')).statusCommand,
  health: async () => (await import('./commands/health.ts')).health,
  purge: async () => (await import('./commands/purge.ts')).purge,
}

/** Beside `src` as beside `dist`. */
const builtInDirectory = fileURLToPath(new URL('../profiles/', import.meta.url))

/** Where the script lies tells how it was started: in a checkout, by a link on the PATH, or from a folder's packages. */
function howStarted(script: string): string {
  if (script.endsWith('.ts')) return 'npm start --'
  return /[/\\]foldgate$/.test(script) && !script.includes('node_modules') ? 'foldgate' : 'npx foldgate'
}

async function version(): Promise<string> {
  const text = await readFile(new URL('../package.json', import.meta.url), 'utf8')
  return /"version": "([^"]*)"/.exec(text)?.[1] ?? 'unknown'
}
