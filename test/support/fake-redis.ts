import { hash } from 'node:crypto'
import { createServer, type Socket } from 'node:net'
import { firstScript } from '../../src/storage/redis-scripts.ts'
import { freePort, listen } from './free-port.ts'

/**
 * What a store needs of a Redis-compatible server to work, on machines where none is installed: it takes everything, finds
 * nothing, and can be ended, begun again and made to take its time.
 */
export async function fakeRedis() {
  const port = await freePort()
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    let waiting = ''
    socket.on('error', () => {})
    socket.on('close', () => void sockets.delete(socket))
    socket.on('data', (bytes) => {
      waiting += bytes.toString('latin1')
      for (let command = cutCommand(waiting); command !== null; command = cutCommand(waiting)) {
        waiting = waiting.slice(command.length)
        asked.commands += 1
        const reply = replyTo(command.words)
        setTimeout(() => void (socket.destroyed || socket.write(reply, 'latin1')), asked.delayMs)
      }
    })
  })
  const asked = { commands: 0, delayMs: 0 }

  async function kill(): Promise<void> {
    if (!server.listening) return
    const closed = new Promise((resolve) => void server.close(resolve))
    for (const socket of sockets) socket.destroy()
    await closed
  }
  await listen(server, port)
  return {
    url: `redis://somebody:PLANTED-PASSWORD@127.0.0.1:${port}`,
    /** As it may be told: without user and password. */
    name: `redis://127.0.0.1:${port}`,
    /** How many commands came, and how long each answer takes, in milliseconds. */
    asked,
    kill,
    restart: () => listen(server, port),
    [Symbol.asyncDispose]: kill,
  }
}

/** The first whole command of what came, and how long it is. Null if it is not there yet. */
function cutCommand(text: string): { readonly words: readonly string[]; readonly length: number } | null {
  const head = /^\*(\d+)\r\n/.exec(text)
  if (head === null) return null
  const words: string[] = []
  let at = head[0].length
  for (let count = Number(head[1]); count > 0; count -= 1) {
    const [begun, length] = /^\$(\d+)\r\n/.exec(text.slice(at)) ?? []
    if (begun === undefined || text.length < at + begun.length + Number(length) + 2) return null
    at += begun.length
    words.push(text.slice(at, at + Number(length)))
    at += Number(length) + 2
  }
  return { words, length: at }
}

/** Nothing is ever found, and every write stands. */
function replyTo([name = '', script = '', , , , value = '']: readonly string[]): string {
  if (name.toUpperCase() === 'PING') return '+PONG\r\n'
  if (name.toUpperCase() === 'EVALSHA') {
    return script === hash('sha1', firstScript) ? '*-1\r\n' : `$${value.length}\r\n${value}\r\n`
  }
  return name.startsWith('X') ? '*0\r\n' : '+OK\r\n'
}
