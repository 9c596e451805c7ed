import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { freePort } from './free-port.ts'

/** A Redis-compatible server of this machine; null where none is installed. */
export const redisProgram = ['valkey-server', 'redis-server'].find(
  (name) => spawnSync(name, ['--version']).status === 0,
)

/** What a test that is skipped says. */
export const withoutRedis =
  redisProgram === undefined ? ' (skipped: neither redis-server nor valkey-server is on PATH)' : ''

export type RedisServer = Awaited<ReturnType<typeof redisServer>>

/** A server of the test's own on a free port, which keeps nothing on disk. */
export async function redisServer(...settings: readonly string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'foldgate-redis-'))
  const port = await freePort()
  let child = await start(folder, port, settings)

  async function kill(): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }

  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    kill,
    /** Starts it again, empty, on the same port. */
    restart: async () => {
      await kill()
      child = await start(folder, port, settings)
    },
    /** Stops it from answering, with its connections open, and lets it go on. */
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    /** Sends commands in their text form, and gives back what was answered to all of them. */
    ask: (...commands: readonly string[]) => ask(port, commands),
    [Symbol.asyncDispose]: async () => {
      await kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function start(folder: string, port: number, settings: readonly string[]): Promise<ChildProcess> {
  const bound = ['--bind', '127.0.0.1', '--port', String(port), '--dir', folder]
  const child = spawn(redisProgram ?? '', [...bound, '--save', '', '--appendonly', 'no', ...settings], {
    stdio: 'ignore',
  })
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${String(redisProgram)} ended with ${child.exitCode}`)
    const answer = await ask(port, ['PING']).catch(() => '')
    // One that wants a password is up as well.
    if (/PONG|NOAUTH/.test(answer)) return child
    await setTimeout(10)
  }
}

async function ask(port: number, commands: readonly string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  let answer = ''
  socket.setEncoding('utf8').on('data', (text: string) => void (answer += text))
  socket.end(commands.map((command) => `${command}\r\n`).join(''))
  await once(socket, 'close')
  return answer
}
