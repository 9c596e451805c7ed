import { chmod, readdir, readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { openStore, openStoreToRead, type OpenedStore, storeLocation } from '../../src/storage/open-store.ts'
import { Secret } from '../../src/config/secret.ts'
import { purgeStore } from '../../src/commands/purge.ts'
import { StoreError } from '../../src/storage/store-error.ts'
import { temporaryFolder } from '../config/temporary-folder.ts'
import { putValue } from '../support/put-value.ts'

type More = { required?: boolean; encryptKey?: string; ttl_days?: number; max_mb?: number }

function settingsOf(url: string, { encryptKey, ...more }: More = {}) {
  const encrypt_key = encryptKey === undefined ? null : new Secret(encryptKey)
  return { url, ttl_days: 7, max_mb: 64, required: false, encrypt_key_env: null, encrypt_key, ...more }
}

async function openAt(url: string, more: More = {}): Promise<OpenedStore> {
  const opened = await openStore(settingsOf(url, more), linux({}))
  onTestFinished(opened.store.close)
  return opened
}

const linux = (env: Record<string, string>) => ({ env, platform: 'linux' })

/** The address of a file that is not there yet. */
const newUrl = async () => `sqlite:${join(await temporaryFolder(), 'store.sqlite')}`

describe('sqlite: is a file in the user’s folder for state', () => {
  test.each([
    [linux({ HOME: '/home/me' }), '/home/me/.local/state/foldgate/foldgate.sqlite'],
    [linux({ HOME: '/home/me', XDG_STATE_HOME: '/state' }), '/state/foldgate/foldgate.sqlite'],
    [linux({ HOME: '/home/me', XDG_STATE_HOME: 'rel' }), '/home/me/.local/state/foldgate/foldgate.sqlite'],
    [
      { env: { HOME: '/Users/me' }, platform: 'darwin' },
      '/Users/me/Library/Application Support/Foldgate/foldgate.sqlite',
    ],
    [
      { env: { LOCALAPPDATA: 'C:\\Users\\me\\AppData\\Local' }, platform: 'win32' },
      'C:\\Users\\me\\AppData\\Local\\Foldgate\\foldgate.sqlite',
    ],
  ])('%j', (place, path) => {
    expect(storeLocation('sqlite:', place)).toEqual({ kind: 'sqlite', path })
  })

  test('and nowhere else: without a home it is not guessed', () => {
    expect(() => storeLocation('sqlite:', linux({}))).toThrow(/HOME is not set.*--store sqlite:PATH/)
    expect(() => storeLocation('sqlite:', { env: {}, platform: 'win32' })).toThrow(/LOCALAPPDATA/)
  })
})

describe('a store by its address', () => {
  test.each(['memory:', 'sqlite::memory:'])('%s is the memory of the process', async (url) => {
    const { store, trouble } = await openAt(url)
    expect([store.name, trouble]).toEqual(['memory:', null])
    expect(await store.putIfAbsent('key', 'value')).toBe('value')
  })

  test('sqlite:PATH is that file, in folders that are made for it', async () => {
    const path = join(await temporaryFolder(), 'not', 'there', 'yet.sqlite')
    const { store, trouble } = await openAt(`sqlite:${path}`)
    expect([store.name, trouble]).toEqual([`sqlite:${path}`, null])
    expect((await stat(path)).isFile()).toBe(true)
  })

  // A third of a day was no whole number of milliseconds, and the start ended with a stack trace.
  test('takes any lifetime', async () => {
    const { store } = await openAt('memory:', { ttl_days: 1.23456789e-3 })
    await putValue(store, 'key', 'value')
    expect(await store.getFirst(['key'])).not.toBeNull()
  })

  test('with a key is encrypted, and what was not is as good as absent', async () => {
    const url = await newUrl()
    const plain = await openAt(url)
    await putValue(plain.store, 'key', 'clear')
    await plain.store.close()
    const { store } = await openAt(url, { encryptKey: 'a key' })
    expect(await store.getFirst(['key'])).toBeNull()
    expect(await store.putIfAbsent('key', 'value')).toBe('value')
    expect(await (await openAt(url)).store.getFirst(['key'])).not.toEqual({ index: 0, value: 'value' })
  })
})

describe('a store that cannot be opened', () => {
  test.each([
    ['a file in the way', 'file', 'store.sqlite', /cannot be written/],
    ['a foreign file', 'file', '', /is no database/],
  ])('becomes memory, which is told, or ends the start where it is required: %s', async (...row) => {
    const [, name, below, reason] = row
    const folder = await temporaryFolder({ file: 'These are notes, and no database at all.' })
    const url = `sqlite:${join(folder, name, below)}`
    const { store, trouble } = await openAt(url)
    expect(store.name).toBe('memory:')
    expect(trouble).toMatch(reason)
    expect(trouble).toContain(join(folder, name))
    expect(await store.putIfAbsent('key', 'value')).toBe('value')
    const opening = openAt(url, { required: true })
    await expect(opening).rejects.toThrow(StoreError)
    await expect(opening).rejects.toThrow(reason)
  })

  test('is told of without the password in its address', async () => {
    const { store, trouble } = await openAt('redis://user:PLANTED@127.0.0.1:9')
    expect(store.name).toBe('memory:')
    expect(trouble).toContain('redis://127.0.0.1:9')
    expect(trouble).not.toContain('PLANTED')
  })

  test.skipIf(process.platform === 'win32' || process.getuid?.() === 0)(
    'for it may not be written to is no different (skipped for root, who may)',
    async () => {
      const folder = await temporaryFolder()
      await chmod(folder, 0o500)
      const { trouble } = await openAt(`sqlite:${join(folder, 'store.sqlite')}`)
      expect(trouble).toMatch(/EACCES/)
    },
  )
})

describe('the installation’s secret', () => {
  test('is shared by all who use a store, at once and after a restart, and is another elsewhere', async () => {
    const folder = await temporaryFolder()
    const url = `sqlite:${folder}/a`
    const replicas = await Promise.all([openAt(url), openAt(url), openAt(url)])
    const [first] = replicas
    expect(first.secret).toHaveLength(32)
    for (const { secret } of replicas) expect(secret).toEqual(first.secret)
    for (const { store } of replicas) await store.close()
    expect((await openAt(url)).secret).toEqual(first.secret)
    const others = [await openAt('memory:'), await openAt('memory:'), await openAt(`sqlite:${folder}/b`)]
    expect(new Set([first, ...others].map(({ secret }) => secret.toString('hex'))).size).toBe(4)
  })

  test('is not in a store that is encrypted, but follows from its key', async () => {
    const one = await openAt(await newUrl(), { encryptKey: 'a key' })
    const other = await openAt('memory:', { encryptKey: 'a key' })
    const third = await openAt('memory:', { encryptKey: 'another key' })
    expect(one.secret).toEqual(other.secret)
    expect(one.secret).not.toEqual(third.secret)
    expect(one.secret).toHaveLength(32)
    expect(await one.store.purge()).toBe(0)
  })

  test('outlives the time that values are kept for, and a store that fills up, while it is in use', async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const url = await newUrl()
    const value = 'x'.repeat(1_000)
    const { store, secret } = await openAt(url, { max_mb: 1 })
    for (let halfDay = 0; halfDay < 20; halfDay += 1) {
      const written = store.put(Array.from({ length: 200 }, (_, at) => ({ key: `${halfDay} ${at}`, value })))
      await vi.advanceTimersByTimeAsync(12 * 3_600_000)
      await written
    }
    expect(await store.getFirst(['0 0', '1 0'])).toBeNull()
    expect((await openAt(url)).secret).toEqual(secret)
  })

  test('is a new one after everything was deleted, and stays it', async () => {
    const url = await newUrl()
    const { store, secret } = await openAt(url)
    await store.close()
    await purgeStore({ url, ttl_days: 7, max_mb: 64 }, linux({}), null)
    const next = await openAt(url)
    expect(next.secret).not.toEqual(secret)
    expect((await openAt(url)).secret).toEqual(next.secret)
  })

  test('that is damaged in the store is replaced', async () => {
    const url = await newUrl()
    const { store } = await openAt(url)
    await putValue(store, 'installation:secret', 'short')
    const { secret } = await openAt(url)
    expect(secret).toHaveLength(32)
    expect((await openAt(url)).secret).toEqual(secret)
  })
})

describe('a store that is only read', () => {
  test('is not made where there is none, and has nothing where it ends with its process', async () => {
    const folder = await temporaryFolder()
    expect(await openStoreToRead(settingsOf(`sqlite:${folder}/a/none.sqlite`), linux({}))).toBeNull()
    expect(await readdir(folder)).toEqual([])
    expect(await openStoreToRead(settingsOf('memory:'), linux({}))).toBeNull()
  })

  test.each([{}, { encryptKey: 'a key' }])(
    'has what another process has just written, with %j',
    async (more) => {
      const path = join(await temporaryFolder(), 'store.sqlite')
      const writer = await openAt(`sqlite:${path}`, more)
      await putValue(writer.store, 'k', 'while it is open')
      const read = async () => {
        const reader = await openStoreToRead(settingsOf(`sqlite:${path}`, more), linux({}))
        const found = await reader?.getFirst(['k'])
        await reader?.close()
        return found?.value
      }
      expect(await read()).toBe('while it is open')
      await putValue(writer.store, 'k', 'after it was closed')
      await writer.store.close()
      const before = await readFile(path)
      expect(await read()).toBe('after it was closed')
      expect(await readFile(path)).toEqual(before)
      // SQLite's own files beside it were left there, for whoever opens the store next.
      expect(await readdir(dirname(path))).toEqual(['store.sqlite'])
    },
  )
})
