import { type FSWatcher, watch } from 'node:fs'
import type { Profile } from '../profiles/schema.ts'
import { folderIdentity, folderIdentityNow, lookMsDefault, quietMsDefault } from './path-identity.ts'
import { problemOf, type Problem } from './problem.ts'
import { type ProfileFilesOptions, readProfileFiles } from './profile-files.ts'

export type WatchProfilesOptions = ProfileFilesOptions & {
  /** Called with all profiles after a change, when every one of them is valid. */
  readonly onReload: (profiles: ReadonlyMap<string, Profile>) => void
  /** Called with the problems of a reload that is not used: the profiles before it stay. */
  readonly onProblems: (problems: readonly Problem[]) => void
  /** How long a folder has to be quiet before it is read, in ms. Default 200. */
  readonly quietMs?: number
  /** How often it is looked whether the folder is still the same one, in ms. Default 1500. */
  readonly lookMs?: number
}

export type ProfileWatch = {
  /** Reads the profiles now, as for SIGHUP. One of the callbacks has been called when it is done. */
  readonly reload: () => Promise<void>
  /** Stops watching; no callback is called afterwards. */
  readonly close: () => void
}

/**
 * Watches the user's folder of profiles and reads it when something in it changed. The folder is watched, not
 * its files: editors and orchestrators replace files by renaming. That it comes, goes, comes back or is another
 * one behind a symbolic link is found by looking now and then. One that goes is told, and the profiles before
 * stay: a folder that is being replaced must not take its profiles away for a moment.
 */
export function watchProfiles(options: WatchProfilesOptions): ProfileWatch {
  const { directory, onReload, onProblems, quietMs = quietMsDefault, lookMs = lookMsDefault } = options
  let watcher: FSWatcher | null = null
  let timer: NodeJS.Timeout | null = null
  let reading: Promise<void> = Promise.resolve()
  let closed = false
  /** The folder that was found last; null: none. */
  let found: string | null = null
  let wasThere = false
  let goneTold = false

  const reload = (asked: boolean): Promise<void> => {
    reading = reading.then(() => read(asked))
    return reading
  }

  async function read(asked: boolean): Promise<void> {
    if (closed) return
    // Anew before each read: the folder itself may have been replaced, and what changes from here on is seen.
    startWatching()
    if (found === null && goneTold && !asked) return
    goneTold = found === null && wasThere
    const required = options.required === true || wasThere
    const { profiles, problems } = await readProfileFiles({ ...options, required })
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
    // Before it is watched: one that is replaced in between is found at the next look.
    found = folderIdentityNow(directory)
    wasThere ||= found !== null
    try {
      watcher = watch(directory, { persistent: false }, readSoon)
      watcher.on('error', readSoon)
    } catch {
      // No such folder: where it has to exist, reading it tells so.
    }
  }

  async function look(): Promise<void> {
    const now = await folderIdentity(directory)
    if (closed || now === found) return
    found = now
    readSoon()
  }

  function readSoon(): void {
    if (closed) return
    if (timer !== null) clearTimeout(timer)
    timer = setTimeout(() => {
      void reload(false)
    }, quietMs)
    timer.unref()
  }

  startWatching()
  const looking = setInterval(() => void look(), lookMs)
  looking.unref()
  return {
    reload: () => reload(true),
    close() {
      closed = true
      clearInterval(looking)
      watcher?.close()
      if (timer !== null) clearTimeout(timer)
    },
  }
}
