import type { BigIntStats } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export type WatchTimes = {
  /** How long everything has to stay as it is before it is read, in ms. Default 200. */
  readonly quietMs?: number
  /** How often it is looked, in ms. Default 1500. */
  readonly lookMs?: number
}

export type WatchFilesOptions = WatchTimes & {
  /** Files, and folders with the files in them. */
  readonly paths: readonly string[]
  /** Called when something is another, or gone, or there again; `isAsked` for `reload`. One call at a time. */
  readonly read: (isAsked: boolean) => Promise<void>
}

export type FileWatch = {
  /** Reads now, as for SIGHUP, and resolves when that is done. */
  readonly reload: () => Promise<void>
  /** Stops watching: what is still being read is not to be used. */
  readonly close: () => void
  readonly isClosed: () => boolean
}

/**
 * Looks now and then whether files are still what they were, behind whatever symbolic links: editors write beside and
 * rename, and orchestrators swap a link somewhere above, which a watcher of the system does not see. The first look
 * always reads: something may have changed between the time when it was read and now.
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
        // What changes from here on is seen at the next look.
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

/** Tells one content of a file, or of a folder's files, from another, as far as times and sizes do. */
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

/** The number of a file that was removed is given to the next one, whose birth then tells it apart. */
function identityIn(stats: BigIntStats | null): string {
  if (stats === null) return 'none'
  const { dev, ino, birthtimeNs, size, mtimeNs, ctimeNs } = stats
  return [dev, ino, birthtimeNs, size, mtimeNs, ctimeNs].join(' ')
}
