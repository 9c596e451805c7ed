import { stat } from 'node:fs/promises'
import { spellPath } from '../profiles/issues.ts'
import { keyClashes, keyHoldings, type KeyHolding } from './key-clashes.ts'
import { readKeyFile } from './key-source.ts'
import type { LiveKey, LiveSecrets } from './live-key.ts'
import type { Settings } from './settings.ts'
import { watchFiles } from './watch-files.ts'

/** Why a key that changed is not taken: by the setting and the file, never with the key. */
export type KeyTrouble = {
  /** `upstreams.default.api_key_file`. */
  readonly setting: string
  readonly file: string
  readonly reason: string
}

export type WatchKeysOptions = {
  /** Their keys from files are replaced in place. */
  readonly settings: Pick<Settings, 'upstreams' | 'client_keys' | 'admin'>
  /** Called with the settings whose keys were replaced. */
  readonly onRotated: (settings: readonly string[]) => void
  /** Called with what is wrong with a key that is not taken: the one before stays. Told once until it changes. */
  readonly onTrouble: (trouble: KeyTrouble) => void
  readonly quietMs?: number
  readonly lookMs?: number
}

export type KeyWatch = {
  /** Reads the files of all keys now, as for SIGHUP, and tells every trouble again. */
  readonly reload: () => Promise<void>
  /** Stops watching; no callback is called afterwards. */
  readonly close: () => void
}

/**
 * Keeps keys that come from files as their files say. Each is taken for itself: one that is missing, empty, no key or
 * another owner's keeps its old value and does not hold up the others. What is read is taken at once, so that no request
 * meets half of it.
 */
export function watchKeys(options: WatchKeysOptions): KeyWatch {
  const { settings, onRotated, onTrouble, quietMs, lookMs } = options
  const keys = keysOfFiles(settings)
  const told = new Map<FileKey, string>()
  let reading: Promise<void> = Promise.resolve()
  let closed = false

  const reload = (isAsked: boolean): Promise<void> => {
    reading = reading.then(() => readAll(isAsked))
    return reading
  }

  async function readAll(isAsked: boolean): Promise<void> {
    if (closed) return
    const reads = await Promise.all(keys.map(read))
    if (closed) return
    const faults = new Map<FileKey, string>()
    const changes = new Map<FileKey, LiveSecrets>()
    for (const [at, key] of keys.entries()) {
      const found = reads[at]
      if (found?.secrets == null) {
        if (found?.fault != null) faults.set(key, `the file ${found.fault}`)
      } else if (!isSame(found.secrets, key.live.now())) changes.set(key, found.secrets)
    }
    for (const [key, message] of withoutClashes(changes)) faults.set(key, message)
    for (const [{ live }, secrets] of changes) live.replace(secrets)
    for (const key of keys) tell(key, faults.get(key) ?? null, isAsked)
    if (changes.size > 0) onRotated(Array.from(changes.keys(), ({ setting }) => setting))
  }

  /** Takes back changes that would give one key two owners, and gives back why. */
  function withoutClashes(changes: Map<FileKey, LiveSecrets>): ReadonlyMap<FileKey, string> {
    const refused = new Map<FileKey, string>()
    const changed = new Map<string, FileKey>(Array.from(changes.keys(), (key) => [nameOf(key.owner), key]))
    for (;;) {
      const holdings = keyHoldings(settings).map(({ owner, secrets }): KeyHolding => {
        const key = changed.get(nameOf(owner))
        return { owner, secrets: (key === undefined ? undefined : changes.get(key)) ?? secrets }
      })
      const [clash] = keyClashes(holdings)
      if (clash === undefined) return refused
      // Those that stand do not clash: each round takes back one at least.
      const changing = [clash.one, clash.other].map(({ owner }) => changed.get(nameOf(owner)))
      for (const key of changing) {
        if (key !== undefined && changes.delete(key)) refused.set(key, clash.message)
      }
    }
  }

  function tell(key: FileKey, reason: string | null, isAsked: boolean): void {
    const before = told.get(key)
    if (reason === null) {
      told.delete(key)
      return
    }
    told.set(key, reason)
    if (isAsked || before !== reason) onTrouble({ setting: key.setting, file: key.file, reason })
  }

  const watching = watchFiles({
    paths: [...new Set(keys.map(({ file }) => file))],
    onChange: () => reload(false),
    ...(quietMs !== undefined && { quietMs }),
    ...(lookMs !== undefined && { lookMs }),
  })
  return {
    reload: () => reload(true),
    close: () => {
      closed = true
      watching.close()
    },
  }
}

// --- internal ---

type FileKey = {
  readonly owner: KeyHolding['owner']
  readonly live: LiveKey
  readonly setting: string
  readonly file: string
}

function keysOfFiles({
  upstreams,
  client_keys,
}: Pick<Settings, 'upstreams' | 'client_keys'>): readonly FileKey[] {
  const found: FileKey[] = []
  const add = (owner: KeyHolding['owner'], live: LiveKey | null): void => {
    if (live === null || live.source.file === null) return
    const { file, filePath } = live.source
    found.push({ owner, live, setting: spellPath(filePath), file })
  }
  for (const { name, key } of upstreams.values()) add({ kind: 'upstream', name }, key)
  for (const { name, key } of client_keys) add({ kind: 'client', name }, key)
  return found
}

/** Null where it cannot be read a second time, such as a pipe: reading it would wait for ever. */
async function read({ file, live }: FileKey) {
  const isPipe = await stat(file).then(
    (stats) => !stats.isFile() && !stats.isDirectory(),
    () => false,
  )
  return isPipe ? null : readKeyFile(file, live.source.takesSeveral)
}

function isSame(some: LiveSecrets, others: LiveSecrets): boolean {
  return some.length === others.length && some.every((one, at) => one.reveal() === others[at]?.reveal())
}

function nameOf(owner: KeyHolding['owner']): string {
  return owner.kind === 'admin' ? owner.kind : `${owner.kind} ${owner.name}`
}
