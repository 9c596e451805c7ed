import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process'

/** A program that was started. */
export type Running = {
  readonly child: ChildProcess
  readonly output: () => string
  /** Exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>
  /** The program's own id on this machine, behind whatever started it. */
  readonly pid: () => Promise<number>
}

/** Starts a program and keeps what it says. */
export function startCommand(
  program: string,
  args: readonly string[],
  options: SpawnOptions & { readonly pid?: (own: number) => Promise<number> },
): Running {
  const { pid, ...rest } = options
  const child = spawn(program, args, { ...rest, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  const ended = new Promise<number | string>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('close', (code, signal) => resolve(code ?? signal ?? ''))
  })
  const own = child.pid ?? 0
  return {
    child,
    output: () => output,
    ended,
    pid: () => (pid === undefined ? Promise.resolve(own) : pid(own)),
  }
}

/** Runs a program to its end; rejects with its last words where it fails. */
export async function runCommand(
  program: string,
  args: readonly string[],
  options: SpawnOptions,
): Promise<string> {
  const running = startCommand(program, args, options)
  const code = await running.ended
  if (code === 0) return running.output()
  throw new Error(
    `${[program, ...args].join(' ')}\nended with ${code}:\n${running.output().trim().split('\n').slice(-20).join('\n')}`,
  )
}
