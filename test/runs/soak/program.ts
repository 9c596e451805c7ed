import { startFoldgateProgram, type FoldgateProgram } from '../../support/foldgate-program.ts'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** The real program before an upstream, with its store in a file of its own, and an inspector that tells what lives. */
export const startSoaked = (options: {
  readonly upstream: string
  readonly settings: object
  readonly profile: object
}): Promise<FoldgateProgram> =>
  startFoldgateProgram({
    settings: { ...options.settings, upstreams: { default: { url: options.upstream } } },
    profiles: { default: options.profile },
    nodeFlags: ['--inspect=127.0.0.1:0'],
    admin: false,
  })

/**
 * What a process holds and cannot give up, in megabytes: its heap after a full collection, and the buffers beside it.
 * Resident memory says less: a heap may grow to a multiple of what lives in it before it is collected. `inspector` is
 * the address that Node's inspector prints.
 */
export async function liveMegabytes(inspector: string): Promise<number> {
  const socket = new WebSocket(inspector)
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve())
    socket.addEventListener('error', () => reject(new Error(`Nobody answers at ${inspector}.`)))
  })
  await ask(socket, 'HeapProfiler.collectGarbage')
  const used = await ask(socket, 'Runtime.getHeapUsage')
  socket.close()
  return (Number(used['usedSize']) + Number(used['backingStorageSize'])) / 1024 / 1024
}

type Answer = { readonly id: number; readonly result: Readonly<Record<string, unknown>> }

/** One question at a time. */
const ask = (socket: WebSocket, method: string): Promise<Answer['result']> =>
  new Promise((resolve) => {
    socket.addEventListener(
      'message',
      ({ data }) => {
        const answer: Answer = JSON.parse(String(data))
        resolve(answer.result)
      },
      { once: true },
    )
    socket.send(JSON.stringify({ id: 1, method }))
  })

/** What a process holds at one moment. */
export type VitalSigns = {
  /** Resident memory, in megabytes. */
  readonly memoryMegabytes: number
  /** Open files of any kind, sockets among them. */
  readonly files: number
  readonly sockets: number
}

/** Reads it from /proc. Linux only. */
export function vitalSigns(pid: number): VitalSigns {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const links = readdirSync(`/proc/${pid}/fd`).map((file) => linkOf(`/proc/${pid}/fd/${file}`))
  return {
    memoryMegabytes: Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024,
    files: links.length,
    sockets: links.filter((link) => link.startsWith('socket:')).length,
  }
}

/** How many files a process may have open here. */
export function openFilesMax(): number {
  const line = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8'))
  return line?.[1] === 'unlimited' ? Number.POSITIVE_INFINITY : Number(line?.[1])
}

/** '' for one that was closed meanwhile. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}
