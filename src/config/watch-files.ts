import { type BigIntStats, existsSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { spellPath } from '../profiles/issues.ts'
import {
  keyClashes,
  type KeyHolders,
  type KeyRead,
  type LiveKey,
  type LiveSecrets,
  readKeyFile,
} from './keys.ts'
import type { Profile } from '../profiles/schema.ts'
import type { Problem } from './problem.ts'
import { type ProfileFilesOptions, readProfileFiles } from './profile-files.ts'

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
export function watchKeys(options: WatchKeysOptions): FileWatch {
  const { settings, onRotated, onTrouble, ...times } = options
  const keys = [...settings.upstreams.values(), ...settings.client_keys].flatMap(({ key }) =>
    key?.source.file == null ? [] : [{ key, file: key.source.file, setting: spellPath(key.source.filePath) }],
  )
  const told = new Map<LiveKey, string>()

  async function readAll(isAsked: boolean): Promise<void> {
    const reads = await Promise.all(keys.map(async (each) => ({ ...each, read: await readAgain(each) })))
    if (watch.isClosed()) return
    const changes = new Map<LiveKey, LiveSecrets>()
    const faults = new Map<LiveKey, string>()
    for (const { key, read } of reads) {
      if (read === null) continue
      if ('fault' in read) faults.set(key, `the file ${read.fault}`)
      else if (!isSame(read, key.now())) changes.set(key, read)
    }
    // The old keys do not clash: each round takes back one change at least.
    for (let [clash] = keyClashes(settings, changes); clash !== undefined;) {
      for (const key of clash.keys) if (changes.delete(key)) faults.set(key, clash.message)
      ;[clash] = keyClashes(settings, changes)
    }
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

  const watch = watchFiles({ ...times, paths: keys.map(({ file }) => file), read: readAll })
  return watch
}

/**
 * Reads the user's folder of profiles again when something in it changed, or when it comes, goes, comes back or is
 * another one behind a symbolic link. One that goes is told, and the profiles before stay: a folder that is being
 * replaced must not take its profiles away for a moment. `reload` has called one of the callbacks when it is done.
 */
export function watchProfiles(options: WatchProfilesOptions): FileWatch {
  const { directory, onReload, onProblems, profiles: first, ...rest } = options
  let current = textOf(first)
  let wasThere = existsSync(directory)

  async function read(isAsked: boolean): Promise<void> {
    wasThere ||= existsSync(directory)
    const required = options.required === true || wasThere
    const { profiles, problems } = await readProfileFiles({ ...rest, directory, required })
    if (watch.isClosed()) return
    if (problems.length > 0) return onProblems(problems)
    const text = textOf(profiles)
    if (text === current && !isAsked) return
    current = text
    onReload(profiles)
  }

  const watch = watchFiles({ ...rest, paths: [directory], read })
  return watch
}

// --- internal ---

/**
 * Looks every now and then whether files have changed, also behind symbolic links. The system's own watchers do not see
 * how editors and orchestrators replace files: by renaming another one, or by swapping a link somewhere above. The first
 * look always reads, since something may have changed since the start.
 */
function watchFiles(options: WatchFilesOptions): FileWatch {
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

/** Null if the file cannot be read a second time, such as a pipe: reading it would wait for ever. */
async function readAgain({ key, file }: { key: LiveKey; file: string }): Promise<KeyRead | null> {
  const stats = await stat(file).catch(() => null)
  if (stats !== null && !stats.isFile() && !stats.isDirectory()) return null
  return readKeyFile(file, key.source.takesSeveral)
}

function isSame(some: LiveSecrets, others: LiveSecrets): boolean {
  return some.length === others.length && some.every((one, at) => one.reveal() === others[at]?.reveal())
}

function textOf(profiles: ReadonlyMap<string, Profile>): string {
  return JSON.stringify([...profiles])
}
