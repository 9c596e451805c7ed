import { type BigIntStats, existsSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { spellPath } from '../profiles/issues.ts'
import type { Profile } from '../profiles/schema.ts'
import {
  keyClashes,
  type KeyHolders,
  type LiveKey,
  type LiveSecrets,
  readKeyFile,
  settingPath,
} from './api-keys.ts'
import type { Problem } from './problem.ts'
import { type ProfileFilesOptions, readProfileFiles } from './configuration.ts'

type WatchTimes = {
  /** How long all files have to stay unchanged before they are read, in ms. Default 200. */
  readonly quietMs?: number
  /** The pause between two looks, in ms. Default 1500. */
  readonly lookMs?: number
}

/** Why a key that changed is not taken: by the setting and the file, never with the key. */
export type KeyTrouble = {
  /** `upstreams.default.api_key_file`. */
  readonly setting: string
  readonly file: string
  readonly reason: string
}

/**
 * Replaces keys from files when their files change. Each is taken by itself: a file that is missing, empty, no key or
 * another owner's key leaves the old value, and does not hold up the others. All keys that were read are replaced in one
 * step, so that no request meets half of them. `reload` tells every trouble again.
 */
export function watchKeys({ settings, onRotated, onTrouble, ...times }: WatchKeysOptions) {
  const keys = [...settings.upstreams.values(), ...settings.client_keys].flatMap(({ key }) =>
    key?.source.file == null
      ? []
      : [{ key, file: key.source.file, setting: spellPath(settingPath(key.source, 'file')) }],
  )
  const told = new Map<LiveKey, string>()

  async function readAll(isAsked: boolean): Promise<() => void> {
    const changes = new Map<LiveKey, LiveSecrets>()
    const faults = new Map<LiveKey, string>()
    for (const { key, file } of keys) {
      // What is no file, such as a pipe, cannot be read a second time: that would wait for ever.
      const stats = await statOf(file)
      if (stats !== null && !stats.isFile() && !stats.isDirectory()) continue
      const read = await readKeyFile(file, key.source.takesSeveral)
      if ('fault' in read) faults.set(key, `the file ${read.fault}`)
      else if (!isSame(read, key.now())) changes.set(key, read)
    }
    // The old keys do not clash: each round takes back one change at least.
    for (let [clash] = keyClashes(settings, changes); clash !== undefined;) {
      for (const key of clash.keys) if (changes.delete(key)) faults.set(key, clash.message)
      ;[clash] = keyClashes(settings, changes)
    }
    return () => {
      for (const [key, secrets] of changes) key.replace(secrets)
      for (const { key, file, setting } of keys) {
        const reason = faults.get(key)
        if (reason === undefined) told.delete(key)
        else if (isAsked || told.get(key) !== reason) onTrouble({ setting, file, reason })
        if (reason !== undefined) told.set(key, reason)
      }
      const rotated = keys.filter(({ key }) => changes.has(key)).map(({ setting }) => setting)
      if (rotated.length > 0) onRotated(rotated)
    }
  }

  return watchFiles(
    keys.map(({ file }) => file),
    readAll,
    times,
  )
}

/**
 * Reads the user's folder of profiles again when something in it changed, or when it comes, goes, comes back or is
 * another one behind a symbolic link. One that goes is told, and the profiles before stay: a folder that is being
 * replaced must not take its profiles away for a moment. `reload` has called one of the callbacks when it is done.
 */
export function watchProfiles(options: WatchProfilesOptions) {
  const { directory, onReload, onProblems } = options
  let current = JSON.stringify([...options.profiles])
  let wasThere = existsSync(directory)

  async function read(isAsked: boolean): Promise<() => void> {
    wasThere ||= existsSync(directory)
    const required = options.required === true || wasThere
    const { profiles, problems } = await readProfileFiles({ ...options, required })
    return () => {
      if (problems.length > 0) return onProblems(problems)
      const text = JSON.stringify([...profiles])
      if (text !== current || isAsked) onReload(profiles)
      current = text
    }
  }

  return watchFiles([directory], read, options)
}

// --- internal ---

type WatchKeysOptions = WatchTimes & {
  /** Their keys from files are replaced in place. */
  readonly settings: KeyHolders
  /** Called with the settings whose keys were replaced. */
  readonly onRotated: (settings: readonly string[]) => void
  /** Called when a changed key is not taken and the old one stays: once, until something changes. */
  readonly onTrouble: (trouble: KeyTrouble) => void
}

type WatchProfilesOptions = ProfileFilesOptions &
  WatchTimes & {
    /** The profiles as they were read last: nothing is told if they are still the same. */
    readonly profiles: ReadonlyMap<string, Profile>
    /** Called with all profiles after a change, when every one of them is valid. */
    readonly onReload: (profiles: ReadonlyMap<string, Profile>) => void
    /** Called with the problems of a reload that is not used: the profiles before it stay. */
    readonly onProblems: (problems: readonly Problem[]) => void
  }

/**
 * Looks every now and then whether files, or those in folders, have changed, also behind symbolic links. The system's own
 * watchers do not see how editors and orchestrators replace files: by renaming another one, or by swapping a link
 * somewhere above. The first look always reads, since something may have changed since the start. `read` resolves with
 * what puts into force what it has read.
 */
function watchFiles(
  paths: readonly string[],
  read: (isAsked: boolean) => Promise<() => void>,
  { quietMs = 200, lookMs = 1_500 }: WatchTimes,
) {
  let seen: string | null = null
  let reading: Promise<void> = Promise.resolve()
  let isLooking = false
  let isClosed = false

  function readNext(isAsked: boolean): Promise<void> {
    reading = reading.then(async () => {
      if (isClosed) return
      const putIntoForce = await read(isAsked)
      if (!isClosed) putIntoForce()
    })
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
      if (isClosed) return
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
    /** Reads now, as for SIGHUP, and resolves when that is done. */
    reload: () => readNext(true),
    /** Stops watching: what is being read is not put into force. */
    close: () => {
      isClosed = true
      clearInterval(looking)
    },
  }
}

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

function isSame(some: LiveSecrets, others: LiveSecrets): boolean {
  return some.length === others.length && some.every((one, at) => one.reveal() === others[at]?.reveal())
}
