import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openSqliteStore } from '../../src/stores/sqlite-store.ts'

import { temporaryFolder } from '../config/temporary-folder.ts'

const stores = new URL('../../src/stores/sqlite-store.ts', import.meta.url).href

/** Values name their key and repeat one letter, so that a torn one would show. */
const writing = `
const { openSqliteStore } = await import('${stores}')
const [path, name, count] = process.argv.slice(1)
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
for (let value = 0; value < Number(count); value += 1) {
  const key = name + ' ' + value
  await written(() => store.put([{ key, value: key + ':' + 'x'.repeat(20_000), group: name }]))
  await written(() => store.putIfAbsent('shared ' + value, name))
  process.stdout.write(value + '\\n')
}
await store.close()
`

async function openAt(path: string) {
  const store = await openSqliteStore({ path, bytesMax: 64 * 1024 * 1024, lifetimeMs: 0 })
  onTestFinished(store.close)
  return store
}

/** A process of its own that writes to the store; `written` is how many values it has told of. */
function startWriter(path: string, name: string, count: number) {
  const words = ['--input-type=module', '-e', writing, path, name, String(count)]
  const child = spawn(process.execPath, words, { stdio: 'pipe' })
  const said = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream].setEncoding('utf8').on('data', (text: string) => void (said[stream] += text))
  onTestFinished(() => void child.kill('SIGKILL'))
  const written = () => said.stdout.split('\n').length - 1
  return { child, ended: once(child, 'close'), written, complaints: () => said.stderr }
}

describe('several processes on one SQLite file', () => {
  test('all get it, new as it is, lose nothing of what each wrote, and agree on who was first', async () => {
    const path = join(await temporaryFolder(), 'store.sqlite')
    const names = ['a', 'b', 'c', 'd']
    const writers = names.map((name) => startWriter(path, name, 100))
    const codes = await Promise.all(writers.map(async ({ ended }) => (await ended)[0]))
    expect(writers.map(({ complaints }) => complaints()).join('')).toBe('')
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

  test.skipIf(process.platform === 'win32')(
    'one that is killed in the middle of its writes leaves whole values, and all that it told of',
    async () => {
      const path = join(await temporaryFolder(), 'store.sqlite')
      for (const writtenBefore of [20, 27, 41]) {
        const name = `killed after ${writtenBefore}`
        const writer = startWriter(path, name, 100_000)
        await expect.poll(writer.written, { interval: 1 }).toBeGreaterThan(writtenBefore)
        writer.child.kill('SIGKILL')
        await writer.ended
        const store = await openAt(path)
        for (let value = 0; value < writer.written() + 3; value += 1) {
          const key = `${name} ${value}`
          const found = await store.getFirst([key])
          if (value < writer.written() || found !== null)
            expect(found?.value).toBe(`${key}:${'x'.repeat(20_000)}`)
        }
        await store.close()
        const database = new DatabaseSync(path)
        expect(database.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' })
        database.close()
      }
    },
  )
})
