import { type FSWatcher, watch } from 'node:fs'
import type { Profile } from '../profiles/schema.ts'
import { problemOf, type Problem } from './problem.ts'
import { type ProfileFilesOptions, readProfileFiles } from './profile-files.ts'

export type WatchProfilesOptions = ProfileFilesOptions & {
  /** Called with all profiles after a change, when every one of them is valid. */
  readonly onReload: (profiles: ReadonlyMap<string, Profile>) => void
  /** Called with the problems of a reload that is not used: the profiles before it stay. */
  readonly onProblems: (problems: readonly Problem[]) => void
  /** How long a folder has to be quiet before it is read, in ms. Default 200. */
  readonly quietMs?: number
}

export type ProfileWatch = {
  /** Reads the profiles now, as for SIGHUP. One of the callbacks has been called when it is done. */
  readonly reload: () => Promise<void>
  /** Stops watching; no callback is called afterwards. */
  readonly close: () => void
}

/** Editors write a file in several steps, and copying a folder takes a moment. */
const quietMsDefault = 200

/**
 * Watches the user's folder of profiles and reads it when something in it changed. The folder is watched, not
 * its files: editors and orchestrators replace files by renaming. A folder that is not there yet, or that went
 * and came back, is looked for at the next `reload`.
 */
export function watchProfiles(options: WatchProfilesOptions): ProfileWatch {
  const { directory, onReload, onProblems, quietMs = quietMsDefault } = options
  let watcher: FSWatcher | null = null
  let timer: NodeJS.Timeout | null = null
  let reading: Promise<void> = Promise.resolve()
  let closed = false

  const reload = (): Promise<void> => {
    reading = reading.then(read)
    return reading
  }

  async function read(): Promise<void> {
    if (closed) return
    // Anew before each read: the folder itself may have been replaced, and what changes from here on is seen.
    startWatching()
    const { profiles, problems } = await readProfileFiles(options)
    if (closed) return
    if (problems.length > 0) return onProblems(problems)
    try {
      onReload(profiles)
    } catch {
      // Whatever goes wrong in taking them over, the next change is still to be seen.
      onProblems([problemOf(directory, 'the profiles are valid but could not be taken over')])
    }
  }

  function startWatching(): void {
    watcher?.close()
    watcher = null
    try {
      watcher = watch(directory, { persistent: false }, readSoon)
      watcher.on('error', readSoon)
    } catch {
      // No such folder: where it has to exist, reading it tells so.
    }
  }

  function readSoon(): void {
    if (closed) return
    if (timer !== null) clearTimeout(timer)
    timer = setTimeout(() => {
      void reload()
    }, quietMs)
    timer.unref()
  }

  startWatching()
  return {
    reload,
    close() {
      closed = true
      watcher?.close()
      if (timer !== null) clearTimeout(timer)
    },
  }
}
