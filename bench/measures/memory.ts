import { openConversation } from '../conversations/growing-conversation.ts'
import { checkOf } from './check-of.ts'
import { stampedCopies } from '../conversations/stamped-copies.ts'
import { median } from '../figures.ts'
import { askBeside } from '../load/beside.ts'
import type { Check, Measure, MeasureOptions, Table } from '../section.ts'
import { shown } from '../shown.ts'
import { startFoldgate } from '../subjects/foldgate.ts'
import { residentMegabytes } from '../subjects/process-figures.ts'
import type { Subject } from '../subjects/subject.ts'

/** How much of the bodies that came last Foldgate may keep to recognise the next ones by, in MB. */
const LAST_BODIES_MB = 64

/** How much memory many long conversations take that are in flight at a time, and how much of it stays. */
export const memory: Measure = {
  name: 'memory',
  run: async (options) => {
    const cases = [
      { name: 'compacted', action: 'compacted', idEnd: '', windowTokens: 128_000 },
      { name: 'passed unchanged', action: 'relayed', idEnd: '-unchanged', windowTokens: 10_000_000 },
    ] satisfies readonly Case[]
    const measured: Measured[] = []
    for (const each of cases) measured.push({ ...each, rounds: await measureCase(each, options) })
    return {
      name: 'memory',
      title: 'Memory under long conversations',
      about: `${CONVERSATIONS} conversations of ${BODY_MB} MB, all different and new in each round, are sent at once; the upstream answers each after half a second with 20 events in 4 seconds. Resident memory of the process is read every ${SAMPLE_MS} ms. "Before" is taken once, after a first conversation, so that what is loaded at first need is in it; every round is compared with that, so that growth shows. A small chat request is asked every ${SMALL_PAUSE_MS} ms meanwhile.`,
      tables: [...measured.map(roundsTable), cachesTable],
      checks: measured.flatMap(checksOf),
    }
  },
}

// --- internal ---

const CONVERSATIONS = 64
const BODY_MB = 4
const IN_FLIGHT_MB = CONVERSATIONS * BODY_MB
const MEGABYTE = 1024 * 1024
const SAMPLE_MS = 20
const SMALL_PAUSE_MS = 50
const REST_MS = 10_000

/** A round is 256 MB of text that nobody has counted yet: most of a minute. */
const ROUNDS_MAX = 3

/** What Foldgate keeps of requests that are over and that this load can fill, by the bounds in `src/app.ts`. */
const caches = [
  { what: 'the last bodies (`limits.last_bodies_mb`)', mb: LAST_BODIES_MB },
  { what: 'what is remembered of messages and was made of them (`limits.remembered_mb`)', mb: 64 },
  { what: 'what became of the messages of 200 conversations, for the page', mb: 32 },
] as const
const CACHES_MB = caches.reduce((sum, { mb }) => sum + mb, 0)

const cachesTable: Table = {
  caption: 'What may stay: the bounds of the caches that this load can fill',
  columns: ['cache', 'at most MB'],
  rows: [...caches.map(({ what, mb }) => [what, String(mb)]), ['all of them', String(CACHES_MB)]],
}

type Round = {
  readonly beforeMb: number
  readonly peakMb: number
  readonly afterMb: number
  readonly allAnsweredMs: number
  readonly idleMs: number
  readonly medianAddedMs: number
  readonly longestAddedMs: number
}

type Case = {
  readonly name: string
  /** What Foldgate says that it did. */
  readonly action: 'compacted' | 'relayed'
  /** What the checks' names end in. */
  readonly idEnd: string
  readonly windowTokens: number
}

type Measured = Case & { readonly rounds: readonly Round[] }

async function measureCase(
  { action, windowTokens, name }: Case,
  { effort, upstreamOrigin, tell }: MeasureOptions,
): Promise<readonly Round[]> {
  const foldgate = await startFoldgate({
    upstreamOrigin,
    profile: { window: { tokens: windowTokens, encoding: 'o200k_base', ratio: 1 } },
  })
  try {
    const first = openConversation({ seed: 500 })
    first.growTo(MEGABYTE)
    await askBeside(foldgate.origin, [first.request()])
    await rest()
    const beforeMb = residentMegabytes(foldgate.pid ?? 0)
    const rounds: Round[] = []
    for (let round = 0; round < Math.min(effort.rounds, ROUNDS_MAX); round += 1) {
      tell(`${CONVERSATIONS} conversations in flight, ${name}, ${round + 1}`)
      rounds.push({ beforeMb, ...(await measureRound(foldgate, round, action)) })
    }
    return rounds
  } finally {
    await foldgate.stop()
  }
}

async function measureRound(
  foldgate: Subject,
  round: number,
  action: Case['action'],
): Promise<Omit<Round, 'beforeMb'>> {
  const pid = foldgate.pid ?? 0
  const stamp = '@stamp@@'
  const conversation = openConversation({
    seed: 600 + round,
    model: 'stream-20-200-500',
    stream: true,
    stamp,
  })
  conversation.growTo(BODY_MB * MEGABYTE)
  const copy = stampedCopies(conversation.request(), stamp)
  const requests = Array.from({ length: CONVERSATIONS }, (_, index) =>
    copy(String(round * CONVERSATIONS + index).padStart(stamp.length, '0')),
  )
  let peakMb = 0
  const sampling = setInterval(() => {
    peakMb = Math.max(peakMb, residentMegabytes(pid))
  }, SAMPLE_MS)
  const { idleMs, addedMs, answers } = await askBeside(foldgate.origin, requests, SMALL_PAUSE_MS).finally(
    () => clearInterval(sampling),
  )
  const other = answers.find(({ head }) => !head.toLowerCase().includes(`\r\nx-foldgate-action: ${action}`))
  if (other !== undefined) throw new Error(`a conversation was to be ${action}:\n${other.head}`)
  await rest()
  return {
    peakMb,
    afterMb: residentMegabytes(pid),
    allAnsweredMs: Math.max(...answers.map(({ totalMs }) => totalMs)),
    idleMs,
    medianAddedMs: median(addedMs),
    longestAddedMs: Math.max(...addedMs),
  }
}

function roundsTable({ name, rounds }: Measured): Table {
  return {
    caption: `${CONVERSATIONS} conversations of ${BODY_MB} MB, ${name}`,
    columns: [
      'round',
      'resident before, MB',
      'peak MB',
      '10 s after all were answered, MB',
      'all answered after, ms',
      'small request idle, ms',
      'added to it, median ms',
      'longest added ms',
    ],
    rows: rounds.map((round, index) => [
      String(index + 1),
      shown(round.beforeMb),
      shown(round.peakMb),
      shown(round.afterMb),
      shown(round.allAnsweredMs),
      shown(round.idleMs),
      shown(round.medianAddedMs),
      shown(round.longestAddedMs),
    ]),
  }
}

function checksOf({ name, idEnd, rounds }: Measured): readonly Check[] {
  const inFlight = rounds.map(({ beforeMb, peakMb }) => (peakMb - beforeMb - LAST_BODIES_MB) / IN_FLIGHT_MB)
  const staying = rounds.map(({ beforeMb, afterMb }) => (afterMb - beforeMb) / CACHES_MB)
  return [
    checkOf(
      `memory-in-flight${idEnd}`,
      `Memory that ${CONVERSATIONS} conversations of ${BODY_MB} MB in flight, ${name}, take beyond the last bodies, against their bytes`,
      { kind: 'at most', value: 1.5 },
      inFlight,
    ),
    checkOf(
      `memory-after${idEnd}`,
      `Memory that is still taken 10 s after they were answered (${name}), against the bounds of all caches`,
      { kind: 'at most', value: 1.3 },
      staying,
    ),
  ]
}

function rest(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, REST_MS)
  })
}
