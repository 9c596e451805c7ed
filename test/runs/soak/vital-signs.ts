import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

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

// --- internal ---

/** '' for one that was closed meanwhile. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}
