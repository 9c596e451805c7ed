import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { adminPlace } from '../../../admin/ask-admin.ts'
import type { OnEnd } from '../../../config/temporary-folder.ts'
import { eventually } from '../../../support/eventually.ts'
import { freePort } from '../../../support/free-port.ts'
import { completion, fakeUpstream } from '../../../support/fake-upstream.ts'
import { conversationOfNext, lostOf, send } from '../conversation-walk.ts'
import type { Fault, Row } from '../fault.ts'
import { eventsUpTo } from '../told.ts'
import { ask } from '../wire/ask.ts'
import { kindOf } from './load.ts'
import { endInOrder, programFolder, startUsual, type Served } from './program-stand.ts'

const FULL = '/dev/full'

const program = join(import.meta.dirname, '../../../src/main.ts')

/** What may become of the log. */
export const logFaults: readonly Fault[] = [
  {
    name: 'nobody reads the log any more',
    observe: (onEnd) =>
      observe(onEnd, async (cwd, upstreamUrl) => {
        const foldgate = await startUsual(cwd, upstreamUrl, onEnd)
        foldgate.child.stdout?.destroy()
        foldgate.child.stderr?.destroy()
        return foldgate
      }),
  },
  {
    name: 'the disk of the log is full',
    impossible: existsSync(FULL) ? null : `there is no ${FULL} here`,
    observe: (onEnd) => observe(onEnd, (cwd, upstreamUrl) => startWithFullLog(cwd, upstreamUrl, onEnd)),
  },
]

// --- internal ---

type Running = Pick<Served, 'url' | 'adminOrigin' | 'child' | 'ended'>

/** Started by hand: nobody can read where it listens. */
async function startWithFullLog(cwd: string, upstreamUrl: string, onEnd: OnEnd): Promise<Running> {
  const [port, admin] = [await freePort(), await adminPlace()]
  const args = ['--upstream', upstreamUrl, '--port', String(port), '--admin-port', String(admin.port)]
  const log = openSync(FULL, 'w')
  const child = spawn(process.execPath, [program, ...args], {
    cwd,
    env: { HOME: cwd },
    stdio: ['ignore', log, log],
  })
  onEnd(() => void child.kill('SIGKILL'))
  const ended = once(child, 'close').then(([code]: (number | null)[]) => code ?? 'a signal')
  closeSync(log)
  await eventually(async () => expect((await fetch(`http://127.0.0.1:${port}/readyz`)).ok).toBe(true))
  return { url: `http://127.0.0.1:${port}/v1`, adminOrigin: admin.origin, child, ended }
}

async function observe(
  onEnd: OnEnd,
  start: (cwd: string, upstreamUrl: string) => Promise<Running>,
): Promise<readonly Row[]> {
  await using upstream = await fakeUpstream(completion('Understood.'))
  const cwd = await programFolder({}, onEnd)
  const foldgate = await start(cwd, upstream.url)
  const first = await send(foldgate.url, upstream, 1)
  const conversation = await conversationOfNext(foldgate.url)
  await upstream.close()
  // Is told in the log, where there is one.
  const refused = await ask(foldgate.url, kindOf('plain'))
  expect([refused.status, refused.ownCode]).toEqual([502, 'upstream_unreachable'])
  const events = await eventsUpTo(foldgate.adminOrigin, conversation)
  expect(events.map(({ reason }) => reason)).toContain('upstream_unreachable')
  await endInOrder(foldgate)
  expect(lostOf(first, [first])).toBe('nothing')
  return [
    {
      met: 'any',
      seen: 'as without the fault',
      recorded: 'in the journal all that is told',
      lost: 'the log',
    },
  ]
}
