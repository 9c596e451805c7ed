import { stat } from 'node:fs/promises'
import { spellPath } from '../profiles/issues.ts'
import { type KeyHolders, keyClashes } from './key-clashes.ts'
import { type KeyRead, type LiveKey, type LiveSecrets, readKeyFile } from './keys.ts'
import { type FileWatch, watchFiles, type WatchTimes } from './watch-files.ts'

/** Why a key that changed is not taken: by the setting and the file, never with the key. */
export type KeyTrouble = {
  /** `upstreams.default.api_key_file`. */
  readonly setting: string
  readonly file: string
  readonly reason: string
}

export type WatchKeysOptions = WatchTimes & {
  /** Their keys from files are replaced in place. */
  readonly settings: KeyHolders
  /** Called with the settings whose keys were replaced. */
  readonly onRotated: (settings: readonly string[]) => void
  /** Called when a changed key is not taken and the old one stays: once, until something changes. */
  readonly onTrouble: (trouble: KeyTrouble) => void
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

// --- internal ---

/** Null if the file cannot be read a second time, such as a pipe: reading it would wait for ever. */
async function readAgain({ key, file }: { key: LiveKey; file: string }): Promise<KeyRead | null> {
  const stats = await stat(file).catch(() => null)
  if (stats !== null && !stats.isFile() && !stats.isDirectory()) return null
  return readKeyFile(file, key.source.takesSeveral)
}

function isSame(some: LiveSecrets, others: LiveSecrets): boolean {
  return some.length === others.length && some.every((one, at) => one.reveal() === others[at]?.reveal())
}
