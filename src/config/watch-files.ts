import type { BigIntStats } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export type WatchTimes = {
  /** How long all files have to stay unchanged before they are read, in ms. Default 200. */
  readonly quietMs?: number
  /** The pause between two looks, in ms. Default 1500. */
  readonly lookMs?: number
}

export type WatchFilesOptions = WatchTimes & {
  /** Files, and folders with the files in them. */
  readonly paths: readonly string[]
  /** Called when a file has changed, is gone or is back; `isAsked`: by `reload`. One call at a time. */
  readonly read: (isAsked: boolean) => Promise<void>
}

export type FileWatch = {
  /** Reads now, as for SIGHUP, and resolves when that is done. */
  readonly reload: () => Promise<void>
  /** Stops watching: a reading that still runs is not to be used. */
  readonly close: () => void
  readonly isClosed: () => boolean
}

/**
 * Looks every now and then whether files have changed, also behind symbolic links. The system's own watchers do not see
 * how editors and orchestrators replace files: by renaming another one, or by swapping a link somewhere above. The first
 * look always reads, since something may have changed since the start.
 */
export function watchFiles(options: WatchFilesOptions): FileWatch {
  const { paths, read, quietMs = 200, lookMs = 1_500 } = options
  let seen: string | null = null
  let reading: Promise<void> = Promise.resolve()
  let isLooking = false
  let closed = false

  function readNext(isAsked: boolean): Promise<void> {
    reading = reading.then(() => (closed ? undefined : read(isAsked)))
    return reading
  }

  async function identities(): Promise<string> {
    return (await Promise.all(paths.map(identityOf))).join('\n')
  }

  async function look(): Promise<void> {
    if (isLooking) return
    isLooking = true
    for (let now = await identities(); now !== seen;) {
      await sleep(quietMs, undefined, { ref: false })
      const later = await identities()
      if (closed) return
      if (later === now) {
        // A change from here on is seen at the next look.
        seen = now
        await readNext(false)
      } else now = later
    }
    isLooking = false
  }

  const looking = setInterval(() => void look(), lookMs)
  looking.unref()
  return {
    reload: () => readNext(true),
    close: () => {
      closed = true
      clearInterval(looking)
    },
    isClosed: () => closed,
  }
}

// --- internal ---

/** Differs when a file, or a file of a folder, has changed, as far as times and sizes tell. */
async function identityOf(path: string): Promise<string> {
  const stats = await statOf(path)
  if (stats?.isDirectory() !== true) return identityIn(stats)
  const names = await readdir(path).catch(() => [])
  const files = await Promise.all(names.map(async (name) => identityIn(await statOf(join(path, name)))))
  return [identityIn(stats), ...names, ...files].join('\n')
}

function statOf(path: string): Promise<BigIntStats | null> {
  return stat(path, { bigint: true }).catch(() => null)
}

/** A new file may get the inode of a removed one, but has another time of birth. */
function identityIn(stats: BigIntStats | null): string {
  if (stats === null) return 'none'
  const { dev, ino, birthtimeNs, size, mtimeNs, ctimeNs } = stats
  return [dev, ino, birthtimeNs, size, mtimeNs, ctimeNs].join(' ')
}
