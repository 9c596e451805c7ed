import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openSqliteStore } from '../../src/storage/sqlite-store.ts'
import { temporaryFolder } from '../config/temporary-folder.ts'
import { startCommand } from '../support/run-command.ts'

const stores = new URL('../../src/storage/sqlite-store.ts', import.meta.url).href

/** Values name their key and repeat one letter, so that a torn one would show. */
const writing = `
const { openSqliteStore } = await import('${stores}')
const [path, name] = process.argv.slice(1)
const store = await openSqliteStore({ path, bytesMax: 64 * 1024 * 1024, lifetimeMs: 0 })
// Where so many write without a pause, one may find the file locked for longer than it waits: it has written nothing then.
const written = async (write) => {
  for (;;)
    try {
      return await write()
    } catch (error) {
      if (error.errstr !== 'database is locked') throw error
    }
}
for (let value = 0; value < 100; value += 1) {
  const key = name + ' ' + value
  await written(() => store.put([{ key, value: key + ':' + 'x'.repeat(20_000), group: name }]))
  await written(() => store.putIfAbsent('shared ' + value, name))
}
await store.close()
`

async function openAt(path: string) {
  const store = await openSqliteStore({ path, bytesMax: 64 * 1024 * 1024, lifetimeMs: 0 })
  onTestFinished(store.close)
  return store
}

// What one leaves that is killed in the middle of its writes `npm run faults` tells.
describe('several processes on one SQLite file', () => {
  test('all get it, new as it is, lose nothing of what each wrote, and agree on who was first', async () => {
    const path = join(await temporaryFolder(), 'store.sqlite')
    const names = ['a', 'b', 'c', 'd']
    const writers = names.map((name) => {
      const words = ['--input-type=module', '-e', writing, path, name]
      return startCommand(process.execPath, words, { env: process.env })
    })
    const codes = await Promise.all(writers.map(({ ended }) => ended))
    expect(writers.map(({ output }) => output()).join('')).toBe('')
    expect(codes).toEqual([0, 0, 0, 0])
    const store = await openAt(path)
    for (const name of names) {
      for (let value = 0; value < 100; value += 1) {
        const found = await store.getFirst([`${name} ${value}`])
        expect(found?.value).toBe(`${name} ${value}:${'x'.repeat(20_000)}`)
        expect(names).toContain((await store.getFirst([`shared ${value}`]))?.value)
      }
      expect(await store.deleteGroup(name)).toBe(100)
    }
  })
})
