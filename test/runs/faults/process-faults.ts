import { hash } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync } from 'node:fs'
import { expect } from 'vitest'
import type { OnEnd } from '../../config/temporary-folder.ts'
import { eventually } from '../../support/eventually.ts'
import { completion, fakeUpstream } from '../../support/fake-upstream.ts'
import { compactedRow, conversationOfNext, send, type Sent, lostOf } from './conversation-walk.ts'
import type { Fault, Row } from './fault.ts'
import { seenText, ask, type Seen } from './wire/ask.ts'
import { eventsUpTo } from './watched.ts'
import {
  holdingUpstream,
  kindOf,
  endInOrder,
  linesOf,
  programFolder,
  startUsual,
  LOAD,
  PLACES,
  underLoad,
  type Served,
} from './program-stand.ts'
import { goodAnswer, textOfAnswer } from './wire/answers.ts'
import { main } from '../../programs/program.ts'
import { adminPlace } from '../../admin/ask-admin.ts'
import { freePort } from '../../support/free-port.ts'

/** Conversations go on side by side, all written to a file, until nobody is there any more. */
export const killFault: Fault = { name: '`kill -9` while it writes', observe: observeKill }

/** Signals that meet a program with streams under way and requests in line for the upstream. */
export const signalFaults: readonly Fault[] = [
  {
    name: 'SIGTERM under load',
    observe: (onEnd) =>
      observeSignal({ timeoutS: 20, code: 0, meanwhile: ({ release }) => release(), onEnd }),
  },
  {
    name: 'SIGTERM under load, and answers outlive `drain.timeout_s`',
    observe: (onEnd) => observeSignal({ timeoutS: 0, code: 0, meanwhile: () => {}, onEnd }),
  },
  {
    name: 'SIGTERM under load, and another one',
    observe: (onEnd) => observeSignal({ timeoutS: 60, code: 1, meanwhile: ({ signal }) => signal(), onEnd }),
  },
]

const FULL = '/dev/full'

/** What may become of the log. */
export const logFaults: readonly Fault[] = [
  {
    name: 'nobody reads the log any more',
    observe: (onEnd) =>
      observeLog(onEnd, async (cwd, upstreamUrl) => {
        const foldgate = await startUsual(cwd, upstreamUrl, onEnd)
        foldgate.child.stdout?.destroy()
        foldgate.child.stderr?.destroy()
        return foldgate
      }),
  },
  {
    name: 'the disk of the log is full',
    impossible: existsSync(FULL) ? null : `there is no ${FULL} here`,
    observe: (onEnd) => observeLog(onEnd, (cwd, upstreamUrl) => startWithFullLog(cwd, upstreamUrl, onEnd)),
  },
]

const WALKERS = 6

/** Requests of each, at least, before it is killed. */
const REQUESTS = 5

async function observeKill(onEnd: OnEnd): Promise<readonly Row[]> {
  await using holding = await holdingUpstream(completion('Understood.'))
  const { upstream } = holding
  const cwd = await programFolder({ store: { url: 'sqlite:store.sqlite' } }, onEnd)
  const killed = await startUsual(cwd, upstream.url, onEnd)
  const stream = ask(killed.url, kindOf('streamed'))
  await eventually(() => expect(holding.held()).toBe(1))
  const first = await conversationOfNext(killed.url)
  const last = new Map<number, { exchanges: number; sent: Sent }>()
  const walk = async (walker: number): Promise<never> => {
    for (let exchanges = 1; ; exchanges += 1)
      last.set(walker, { exchanges, sent: await send(killed.url, upstream, exchanges, walker + 1) })
  }
  const over = Promise.allSettled(Array.from({ length: WALKERS }, (_, walker) => walk(walker)))
  await eventually(() =>
    expect([...last.values()].filter(({ exchanges }) => exchanges >= REQUESTS)).toHaveLength(WALKERS),
  )
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
    compactedRow(
      'the file is sound, and holds the journal up to the last rows',
      'nothing: the same bytes are sent as before',
      'compacted, repeated after a restart',
    ),
  ]
}

const digestOf = ({ view }: Sent): string => hash('sha256', view.join('\n'))

function integrityOf(path: string): string {
  const database = new DatabaseSync(path)
  const found = String(database.prepare('PRAGMA integrity_check').get()?.['integrity_check'])
  database.close()
  return found
}

type Ending = {
  /** `drain.timeout_s`. */
  readonly timeoutS: number
  /** The program's exit code. */
  readonly code: number
  readonly onEnd: OnEnd
  /** What happens once it has begun to end. */
  readonly meanwhile: (acts: { readonly release: () => void; readonly signal: () => void }) => void
}

async function observeSignal({ timeoutS, code, meanwhile, onEnd }: Ending): Promise<readonly Row[]> {
  await using holding = await holdingUpstream(completion('Understood.'))
  const { foldgate, running } = await underLoad(holding, timeoutS, onEnd)
  foldgate.child.kill('SIGTERM')
  await foldgate.said(/shutting down/)
  const newcomer = await eventually(async () => {
    const seen = await ask(foldgate.url, kindOf('plain'))
    expect(seen.status, 'an answer to a newcomer').toBeNull()
    return seen
  })
  meanwhile({ release: holding.release, signal: () => void foldgate.child.kill('SIGTERM') })
  const seen = await Promise.all(running)
  expect(await foldgate.ended).toBe(code)

  const begun = seen.filter(({ status }) => status !== null)
  const unbegun = seen.filter(({ status }) => status === null)
  // Whoever was sent on has seen so; nobody else was.
  const sentOn = holding.upstream.requests.filter(({ body }) => body.includes('"stream":true'))
  expect(sentOn).toHaveLength(begun.length)
  expect([PLACES, LOAD]).toContain(begun.length)
  const cutOff = linesOf(foldgate).some((line) => line.includes('drain.timeout_s'))
  const recorded = `exit ${code}${cutOff ? '<br>log `warn` requests were cut off' : ''}`
  const begunText = begun.length === LOAD ? 'streamed, under way or in line' : 'streamed, under way'
  const refused = (met: string, all: readonly Seen[]): Row[] =>
    all.length === 0 ? [] : [{ met, seen: oneText(all), recorded, lost: 'nothing: it was not sent on' }]
  return [
    { met: begunText, seen: oneText(begun), recorded, lost: lostOfStreams(begun) },
    ...refused('streamed, in line', unbegun),
    ...refused('on a new connection', [newcomer]),
  ]
}

/** What all of them saw. */
function oneText(seen: readonly Seen[]): string {
  const texts = [...new Set(seen.map(seenText))]
  expect(texts).toHaveLength(1)
  return texts.join()
}

function lostOfStreams(seen: readonly Seen[]): string {
  const whole = textOfAnswer(goodAnswer(kindOf('streamed')))
  const isWhole = seen.every(({ isWhole: each, body }) => each && body.toString() === whole)
  if (isWhole) return 'nothing'
  // What came before the end is there, and what is missing shows.
  for (const { isWhole: each, body } of seen)
    expect([each, whole.startsWith(body.toString())]).toEqual([false, true])
  return 'the rest of the answer: the cut shows'
}

type Running = Pick<Served, 'url' | 'adminOrigin' | 'child' | 'ended'>

/** Started by hand: nobody can read where it listens. */
async function startWithFullLog(cwd: string, upstreamUrl: string, onEnd: OnEnd): Promise<Running> {
  const [port, admin] = [await freePort(), await adminPlace()]
  const args = ['--upstream', upstreamUrl, '--port', String(port), '--admin-port', String(admin.port)]
  const log = openSync(FULL, 'w')
  const child = spawn(process.execPath, [main, ...args], {
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

async function observeLog(
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
  const recorded = 'in the journal all that is told'
  return [{ met: 'any', seen: 'as without the fault', recorded, lost: 'the log' }]
}
