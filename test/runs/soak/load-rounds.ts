import { setTimeout as pause } from 'node:timers/promises'
import { openDice, type Dice } from '../../../src/commands/demo/dice.ts'
import type { FoldgateProgram } from '../../support/foldgate-program.ts'
import { startSoaked, liveMegabytes, vitalSigns, type VitalSigns } from './program.ts'
import { startSoakUpstream, SUMMARY_MODEL, type SoakUpstream } from './upstream.ts'
import { openVisitor, openVisits, type Visits } from './visits.ts'

/** What was seen at one moment. */
export type Sample = VitalSigns & {
  /** Requests at the server behind Foldgate. */
  readonly inFlight: number
  /** Since the sample before. */
  readonly answers: number
  readonly refused: number
}

export type LoadReport = {
  readonly tally: Tally
  readonly samples: readonly Sample[]
  readonly rests: readonly Rest[]
  readonly wrong: readonly string[]
}

/** Foldgate after a round, when its clients had left. */
export type Rest = VitalSigns & {
  /** What lives in its memory, in megabytes. */
  readonly liveMegabytes: number
  readonly text: string
}

/** How often visits of each kind ended how. */
export type Tally = ReadonlyMap<string, ReadonlyMap<string, number>>

/** Loads Foldgate in rounds, with a rest after each, and tells what was wrong. */
export async function loadRounds(seconds: number, seed: number): Promise<LoadReport> {
  const upstream = await startSoakUpstream()
  const foldgate = await startSoaked({ upstream: upstream.url, settings, profile })
  const tally = new Map<string, Map<string, number>>()
  const wrong: string[] = []
  const samples: Sample[] = []
  const rests: Rest[] = []
  const done = { answers: 0, refused: 0 }
  const workers = Array.from({ length: CLIENTS }, (_, worker) => {
    const dice = openDice(seed + worker)
    return { dice, visits: openVisits(tenants[worker % tenants.length] ?? tenants[0], worker, dice) }
  })
  const sampler = setInterval(() => {
    const { answers, refused } = done
    Object.assign(done, { answers: 0, refused: 0 })
    samples.push({ ...vitalSigns(foldgate.pid), inFlight: upstream.inFlight(), answers, refused })
  }, 1_000)
  try {
    const before = vitalSigns(foldgate.pid)
    for (let round = 1; round <= ROUNDS; round += 1) {
      const until = Date.now() + (seconds / ROUNDS) * 1_000
      await Promise.all(
        workers.map((worker, index) =>
          beClient(
            { ...worker, name: `${round}-${index}`, until },
            { foldgate, upstream, tally, wrong, done },
          ),
        ),
      )
      rests.push(await rest(foldgate, upstream, round, before))
    }
    wrong.push(...verdicts(rests, before, upstream, tally))
  } finally {
    clearInterval(sampler)
    const exitCode = await foldgate.stop()
    if (exitCode !== '0') wrong.push(`Foldgate ended with ${exitCode}`)
    wrong.push(...foldgate.complaints().map((line) => `Foldgate said: ${line}`))
    await upstream.close()
  }
  return { tally, samples, rests, wrong: summed(wrong) }
}

const ROUNDS = 4

/** More than Foldgate may serve at a time. */
const CLIENTS = 72

const tenants = ['ant', 'bee', 'cow', 'dog', 'eel', 'fox'] as const

const settings = {
  // Every conversation's latest body is kept for a while otherwise, and what is to come back would not.
  limits: { concurrent: 56, bytes_in_flight_mb: 4, last_bodies_mb: 8 },
  drain: { delay_s: 0, timeout_s: 10 },
  log_level: 'error',
}

const profile = {
  window: { tokens: 4_000, output_reserve: 512 },
  summary: { model: SUMMARY_MODEL, mode: 'background' },
}

/** How long all may take to come back, in milliseconds: connections to the server are kept for some seconds. */
const REST_MS_MAX = 30_000

/** What is open when nothing happens may differ by a file that is just written. */
const FILES_SLACK = 8

/** By how much what lives in memory may grow from the second round to the last, in megabytes; the first warms up. */
const LIVE_SLACK_MEGABYTES = 32

type Surroundings = {
  readonly foldgate: FoldgateProgram
  readonly upstream: SoakUpstream
  readonly tally: Map<string, Map<string, number>>
  readonly wrong: string[]
  readonly done: { answers: number; refused: number }
}

type Client = {
  readonly name: string
  readonly dice: Dice
  readonly visits: Visits
  readonly until: number
}

/** Makes requests one after the other until the round is over. */
async function beClient({ name, dice, visits, until }: Client, around: Surroundings): Promise<void> {
  const { foldgate, upstream, tally, wrong, done } = around
  const visitor = openVisitor(foldgate.port)
  for (let number = 0; Date.now() < until; number += 1) {
    const visit = visits.next()
    const visitName = `${name}-${number}`
    const { outcome, text } = await visitor.visit(visit, visitName, dice)
    for (const row of [visit.kind, `client ${visit.manner}`, 'all']) {
      const cells = tally.get(row) ?? new Map<string, number>()
      tally.set(row, cells)
      const told = outcome.startsWith('wrong') ? 'wrong' : outcome
      cells.set(told, (cells.get(told) ?? 0) + 1)
    }
    if (outcome.startsWith('wrong')) wrong.push(`${visit.kind}, client ${visit.manner}: ${outcome}`)
    if (outcome === 'refused') {
      done.refused += 1
      if (upstream.hasSeen(visitName)) wrong.push('a request was refused and sent all the same')
      await pause(dice.below(20))
    } else {
      done.answers += 1
    }
    if (visit.kind.endsWith('chat')) visits.answered(isAnswer(outcome) ? text : '')
  }
  visitor.leave()
}

const isAnswer = (outcome: string): boolean => outcome === 'answered' || outcome === 'compacted'

/** Waits until sockets and files are as they were; says what is held then. */
async function rest(
  foldgate: FoldgateProgram,
  upstream: SoakUpstream,
  round: number,
  before: VitalSigns,
): Promise<Rest> {
  const deadline = Date.now() + REST_MS_MAX
  let now = vitalSigns(foldgate.pid)
  while (Date.now() < deadline) {
    now = vitalSigns(foldgate.pid)
    if (now.files <= before.files + FILES_SLACK && upstream.inFlight() === 0) break
    await pause(100)
  }
  // What a load leaves to the garbage collector is collected once it is quiet.
  await pause(2_000)
  now = vitalSigns(foldgate.pid)
  const live = await liveMegabytes(foldgate.inspector)
  const memory = `${Math.round(now.memoryMegabytes)} MB, ${Math.round(live)} of them alive`
  const open = `${now.files} files, ${now.sockets} of them sockets (${before.files} and ${before.sockets} before)`
  return { ...now, liveMegabytes: live, text: `At rest after round ${round}: ${memory}; ${open}.` }
}

function verdicts(
  rests: readonly Rest[],
  before: VitalSigns,
  upstream: SoakUpstream,
  tally: Tally,
): readonly string[] {
  const wrong = [...upstream.mixed]
  const last = rests.at(-1)
  if (last !== undefined && last.files > before.files + FILES_SLACK)
    wrong.push(`${last.files} files are open after the last round, ${before.files} were before`)
  if (upstream.inFlight() > 0) wrong.push(`${upstream.inFlight()} requests were never ended at the server`)
  const [, second] = rests
  if (second !== undefined && last !== undefined) {
    const growth = last.liveMegabytes - second.liveMegabytes
    if (growth > LIVE_SLACK_MEGABYTES)
      wrong.push(`what lives in memory grew by ${Math.round(growth)} MB from the second round to the last`)
  }
  // A run that compacts nothing or refuses nobody shows nothing.
  const all = tally.get('all')
  for (const outcome of ['answered', 'compacted', 'refused', 'left', 'cut', '429', '500']) {
    if ((all?.get(outcome) ?? 0) === 0) wrong.push(`no visit ended as "${outcome}": the load was too short`)
  }
  if (upstream.summaries() === 0) wrong.push('no summary was asked for')
  return wrong
}

/** The same line once, with how often it stood there. */
function summed(lines: readonly string[]): readonly string[] {
  const counts = new Map<string, number>()
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1)
  return [...counts].map(([line, count]) => (count === 1 ? line : `${line} (${count} times)`))
}
