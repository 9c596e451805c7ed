import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'vitest'
import { output } from '../../programs/program.ts'
import { openSqliteStore } from '../../../src/storage/sqlite-store.ts'
import { completion, fakeUpstream } from '../../support/fake-upstream.ts'
import { freePort, listen } from '../../support/free-port.ts'
import { compactedRow, conversationOfNext, lostOf, send } from './conversation-walk.ts'
import type { Fault } from './fault.ts'
import { toldText, whatWasTold } from './watched.ts'
import { overwrite } from './store-faults.ts'
import { endInOrder, linesOf, programFolder, startUsual } from './program-stand.ts'
import { putValue } from '../../support/put-value.ts'

const SQLITE = 'sqlite:store.sqlite'

/** What may be wrong with the store when the program starts. */
export const startFaults: readonly Fault[] = [
  atStart('the SQLite file is garbage', async (cwd) => {
    await writeFile(join(cwd, 'store.sqlite'), 'garbage '.repeat(1_000))
    return { url: SQLITE }
  }),
  atStart('the SQLite file is damaged behind its first page', async (cwd) => {
    const path = join(cwd, 'store.sqlite')
    const store = await openSqliteStore({ path, bytesMax: 64 * 1024 * 1024, lifetimeMs: 0 })
    await putValue(store, 'key', 'value'.repeat(10_000))
    await store.close()
    overwrite(path)
    return { url: SQLITE }
  }),
  atStart('the SQLite file is another program’s database', async (cwd) => {
    const other = new DatabaseSync(join(cwd, 'store.sqlite'))
    other.exec('CREATE TABLE notes (text TEXT)')
    other.close()
    return { url: SQLITE }
  }),
  atStart('the SQLite file is held by another program', async (cwd) => {
    const other = new DatabaseSync(join(cwd, 'store.sqlite'))
    other.exec('BEGIN EXCLUSIVE')
    return { url: SQLITE, end: () => other.close() }
  }),
  atStart('the folder of the SQLite file cannot be made', async (cwd) => {
    await writeFile(join(cwd, 'blocked'), '')
    return { url: 'sqlite:blocked/store.sqlite' }
  }),
  atStart('nothing listens where Redis should', async () => ({
    url: `redis://127.0.0.1:${await freePort()}`,
  })),
  atStart('what listens where Redis should says nothing', () => listening(null)),
  atStart('what listens where Redis should talks nonsense', () => listening('this is no answer\r\n')),
]

type Prepared = { readonly url: string; readonly end?: () => void }

/** Started with what is wrong, and once more with `store.required`. */
function atStart(name: string, prepare: (cwd: string) => Promise<Prepared>): Fault {
  return {
    name,
    observe: async (onEnd) => {
      await using upstream = await fakeUpstream(completion('Understood.'))
      const cwd = await programFolder({}, onEnd)
      const { url, end = () => {} } = await prepare(cwd)
      const settings = { drain: { delay_s: 0, timeout_s: 10 }, store: { url } }
      const set = (more: object) =>
        writeFile(join(cwd, 'foldgate.yaml'), JSON.stringify({ ...settings, ...more }))
      try {
        await set({})
        const foldgate = await startUsual(cwd, upstream.url, onEnd)
        const first = await send(foldgate.url, upstream, 1)
        const later = await send(foldgate.url, upstream, 2)
        const conversation = await conversationOfNext(foldgate.url)
        const told = await whatWasTold(foldgate.adminOrigin, conversation, linesOf(foldgate))
        await endInOrder(foldgate)

        // As good as a restart: what was kept in memory has ended with the one before.
        const again = await startUsual(cwd, upstream.url, onEnd)
        const afterwards = await send(again.url, upstream, 3)
        await endInOrder(again)
        await set({ store: { url, required: true } })
        const refused = await output(['--upstream', upstream.url], { cwd, onEnd })
        expect([refused.code, refused.stdout]).toEqual([1, ''])
        expect(refused.stderr).toMatch(/^store\.required: .+\n$/)
        const anywhere = toldText(told)
          .replaceAll(`${cwd}/`, '')
          .replaceAll(/(?<=127\.0\.0\.1:)\d+/g, 'PORT')
        return [
          compactedRow(anywhere, lostOf(first, [later, afterwards])),
          {
            met: 'the start, with `store.required`',
            seen: 'nobody listens',
            recorded: `exit ${refused.code}, and on standard error why`,
            lost: 'nothing',
          },
        ]
      } finally {
        end()
      }
    },
  }
}

async function listening(says: string | null): Promise<Prepared> {
  const server = createServer((socket) => {
    // Whoever has had enough of it cuts it off.
    socket.on('error', () => {})
    socket.on('data', () => {
      if (says !== null) socket.write(says)
    })
    socket.unref()
  })
  return { url: `redis://127.0.0.1:${await listen(server)}`, end: () => void server.close() }
}
