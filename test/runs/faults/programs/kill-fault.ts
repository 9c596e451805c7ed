import { hash } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'vitest'
import type { OnEnd } from '../../../config/temporary-folder.ts'
import { eventually } from '../../../support/eventually.ts'
import { completion } from '../../../support/fake-upstream.ts'
import { conversationOfNext, send, type Sent } from '../conversation-walk.ts'
import type { Fault, Row } from '../fault.ts'
import { seenText } from '../seen-text.ts'
import { eventsUpTo } from '../told.ts'
import { ask } from '../wire/ask.ts'
import { holdingUpstream, kindOf } from './load.ts'
import { endInOrder, linesOf, programFolder, startUsual } from './program-stand.ts'

/** Conversations go on side by side, all written to a file, until nobody is there any more. */
export const killFault: Fault = { name: '`kill -9` while it writes', observe: observeKill }

// --- internal ---

const WALKERS = 6

/** Requests of each, at least, before it is killed. */
const REQUESTS = 5

type LastAnswered = { readonly exchanges: number; readonly sent: Sent }

async function observeKill(onEnd: OnEnd): Promise<readonly Row[]> {
  await using holding = await holdingUpstream(completion('Understood.'))
  const { upstream } = holding
  const cwd = await programFolder({ store: { url: 'sqlite:store.sqlite' } }, onEnd)
  const killed = await startUsual(cwd, upstream.url, onEnd)
  const stream = ask(killed.url, kindOf('streamed'))
  await eventually(() => expect(holding.held()).toBe(1))
  const first = await conversationOfNext(killed.url)
  const last = new Map<number, LastAnswered>()
  const walking = Array.from({ length: WALKERS }, (_, walker) => walk(walker))
  const over = Promise.allSettled(walking)

  async function walk(walker: number): Promise<void> {
    for (let exchanges = 1; ; exchanges += 1) {
      const sent = await send(killed.url, upstream, exchanges, walker + 1)
      last.set(walker, { exchanges, sent })
    }
  }

  await eventually(() => {
    const far = [...last.values()].filter(({ exchanges }) => exchanges >= REQUESTS)
    expect(far).toHaveLength(WALKERS)
  })
  const written = await eventsUpTo(killed.adminOrigin, first)
  killed.child.kill('SIGKILL')
  expect(await killed.ended).toBe('SIGKILL')
  // Each ended with a request that was not answered.
  expect((await over).every(({ status }) => status === 'rejected')).toBe(true)
  const cut = await stream
  expect(cut.isWhole).toBe(false)

  expect(integrityOf(join(cwd, 'store.sqlite'))).toBe('ok')
  const restarted = await startUsual(cwd, upstream.url, onEnd)
  for (const [walker, { exchanges, sent }] of last) {
    const again = await send(restarted.url, upstream, exchanges, walker + 1)
    expect(digestOf(again), 'what was sent before it was killed').toBe(digestOf(sent))
  }
  const events = await eventsUpTo(restarted.adminOrigin, await conversationOfNext(restarted.url))
  // The newest come first: what was written by then is the end of what there is now.
  expect(events.slice(-written.length), 'what was in the journal').toEqual(written)
  await endInOrder(restarted)
  expect(linesOf(restarted).filter((line) => line.includes('"part":'))).toEqual([])
  return [
    {
      met: 'streamed, under way',
      seen: seenText(cut),
      recorded: 'nothing: nobody is there to do it',
      lost: 'the rest of the answer: the cut shows',
    },
    {
      met: 'compacted, repeated after a restart',
      seen: '`200`',
      recorded: 'the file is sound, and holds the journal up to the last rows',
      lost: 'nothing: the same bytes are sent as before',
    },
  ]
}

function digestOf({ view }: Sent): string {
  return hash('sha256', view.join('\n'))
}

function integrityOf(path: string): string {
  const database = new DatabaseSync(path)
  const found = String(database.prepare('PRAGMA integrity_check').get()?.['integrity_check'])
  database.close()
  return found
}
