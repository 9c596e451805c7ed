import { setTimeout as pause } from 'node:timers/promises'
import { chatBody } from '../load/bodies.ts'
import { freshRequests } from '../load/fresh-requests.ts'
import { openConnection } from '../load/load.ts'
import type { Effort, Measure, MeasureOptions, Section } from '../section.ts'
import { startFoldgate } from '../subjects/foldgate.ts'
import { startMinimalRelay } from '../subjects/minimal-relay.ts'
import { startNginx } from '../subjects/nginx.ts'
import { startPortkey } from '../subjects/portkey.ts'
import { residentMegabytes } from '../subjects/process-figures.ts'
import type { Subject } from '../subjects/subject.ts'
import { inTurn, withSubjects } from '../subjects/with-subjects.ts'
import { cellOf } from './cell.ts'
import { checkOf } from './check-of.ts'

const CONNECTIONS = 32
const BODY_BYTES = 2000

/** What one start of a subject came to. */
type Start = {
  readonly name: string
  readonly startMs: number
  /** Resident memory some seconds after the start, in megabytes. */
  readonly idleMegabytes: number
  /** The same after many requests. */
  readonly usedMegabytes: number
}

/** How long a start takes, and what an idle process holds. */
export const startUp: Measure = {
  name: 'start-up',
  run: async (options) => {
    const starts: Start[] = []
    for (let index = 0; index < options.effort.rounds; index += 1) {
      options.tell(`round ${index + 1} of ${options.effort.rounds}`)
      starts.push(...(await startAll(options, index)))
    }
    return sectionOf(starts, options.effort)
  },
}

// --- internal ---

function requestCount({ isQuick }: Effort): number {
  return isQuick ? 1_000 : 10_000
}

function idleMs({ isQuick }: Effort): number {
  return isQuick ? 1_000 : 5_000
}

/** Each starts alone; they are idle together, which disturbs nobody. */
function startAll({ effort, upstreamOrigin }: MeasureOptions, index: number): Promise<Start[]> {
  const starts: (() => Promise<Subject | null>)[] = [
    () => startMinimalRelay(upstreamOrigin),
    () => startNginx(upstreamOrigin),
    () => startPortkey(upstreamOrigin),
    () => startFoldgate({ upstreamOrigin }),
  ]
  return withSubjects(inTurn(starts, index), async (subjects) => {
    await pause(idleMs(effort))
    const idle = subjects.map(memoryOf)
    for (const subject of subjects) await askMany(subject, requestCount(effort))
    await pause(idleMs(effort))
    return subjects.map((subject, place) => ({
      name: subject.name,
      startMs: subject.startMs ?? Number.NaN,
      idleMegabytes: idle[place] ?? Number.NaN,
      usedMegabytes: memoryOf(subject),
    }))
  })
}

function memoryOf({ pid }: Subject): number {
  return pid === null ? Number.NaN : residentMegabytes(pid)
}

async function askMany(subject: Subject, count: number): Promise<void> {
  const request = freshRequests({
    path: '/v1/chat/completions',
    body: chatBody(BODY_BYTES),
    headers: subject.headers,
    connections: CONNECTIONS,
  })
  let left = count
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async (_, index) => {
      const { ask, close } = await openConnection(subject.origin)
      while (left > 0) {
        left -= 1
        const { status, first } = await ask(request(index))
        if (status !== 200) throw new Error(`${subject.name} answered ${status}: ${first.toString('utf8')}`)
      }
      close()
    }),
  )
}

function sectionOf(starts: readonly Start[], effort: Effort): Section {
  const idleS = idleMs(effort) / 1000
  const requests = requestCount(effort).toLocaleString('en')
  const bySubject = Map.groupBy(starts, ({ name }) => name)
  const foldgate = bySubject.get('Foldgate') ?? []
  return {
    name: 'start-up',
    title: 'Start and memory',
    about: `From the start of the process to its first answer, asked for every 5 ms: \`/healthz\`, of Portkey \`/\`. Resident memory ${idleS} s after that, and ${idleS} s after ${requests} chats of 2 kB, each a new conversation, ${CONNECTIONS} at a time. Everybody with default settings.`,
    tables: [
      {
        caption: 'Each started anew in each round',
        columns: ['subject', 'start ms', 'idle MB', `MB after ${requests} requests`],
        rows: ['nginx', 'minimal relay', 'Foldgate', 'Portkey'].flatMap((name) => {
          const own = bySubject.get(name)
          return own === undefined ? [] : [rowOf(name, own)]
        }),
      },
    ],
    checks: [
      checkOf(
        'idle-memory',
        'resident memory of an idle process, in MB',
        { kind: 'at most', value: 90 },
        foldgate.map(({ idleMegabytes }) => idleMegabytes),
      ),
    ],
  }
}

function rowOf(name: string, starts: readonly Start[]): string[] {
  return [
    name,
    cellOf(starts.map(({ startMs }) => startMs)),
    cellOf(starts.map(({ idleMegabytes }) => idleMegabytes)),
    cellOf(starts.map(({ usedMegabytes }) => usedMegabytes)),
  ]
}
