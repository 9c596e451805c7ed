import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { openConversation } from '../conversations/growing-conversation.ts'
import { makeKnown, takeTurns } from '../conversations/turns.ts'
import { median, spreadOf } from '../figures.ts'
import { openConnection } from '../load/load.ts'
import type { Effort, Measure } from '../section.ts'
import { shown, shownSpread } from '../shown.ts'
import { cpuMicroseconds } from '../subjects/process-figures.ts'
import type { Subject } from '../subjects/subject.ts'
import { untilQuiet } from '../subjects/until-quiet.ts'
import { besideAgent } from './beside-agent.ts'
import { checkOf } from './check-of.ts'
import { startCompactingFoldgate } from './warm/compacting.ts'

/**
 * What a conversation costs this checkout beside another one, mostly an earlier: each request goes to both, first to one,
 * then to the other in turns, so that what disturbs the machine for a while disturbs both.
 */
export function besideCheckout(path: string): Measure {
  const checkout = resolve(path)
  return {
    name: 'beside',
    run: async (options) => {
      const { effort, upstreamOrigin, tell } = options
      tell(`building ${checkout}`)
      build(checkout)
      const other = await startCompactingFoldgate(upstreamOrigin, { checkout })
      const own = await startCompactingFoldgate(upstreamOrigin)
      const rows: string[][] = []
      const checks = []
      try {
        for (const { name, id, bytes } of effort.isQuick ? sizes.slice(0, 2) : sizes) {
          for (const kind of ['warm', 'cold'] as const) {
            const rounds: Pair[] = []
            for (let round = 0; round < effort.rounds + 2; round += 1) {
              tell(`${kind}, ${name}, ${round + 1} of ${effort.rounds + 2}`)
              const seed = 10_000 * (round + 1) + bytes / 1_000
              rounds.push(await (kind === 'warm' ? warm : cold)([other, own], { seed, bytes, effort }))
            }
            const ratios = rounds.map(({ medianMs: [before, after] }) => after / before)
            const cpuRatios = rounds.map(({ cpuMs: [before, after] }) => after / before)
            rows.push([
              `${kind}, ${name}`,
              shown(median(rounds.map(({ medianMs }) => medianMs[0]))),
              shown(median(rounds.map(({ medianMs }) => medianMs[1]))),
              shown(median(ratios)),
              shownSpread(spreadOf(ratios)),
              shown(median(rounds.map(({ cpuMs }) => cpuMs[0]))),
              shown(median(rounds.map(({ cpuMs }) => cpuMs[1]))),
              shown(median(cpuRatios)),
              shownSpread(spreadOf(cpuRatios)),
            ])
            checks.push(
              checkOf(
                `beside-${kind}-${id}`,
                `A ${kind} turn of a compacted conversation of ${name}, against the other checkout`,
                { kind: 'at most', value: NO_WORSE },
                ratios,
              ),
            )
          }
        }
      } finally {
        await own.stop()
        await other.stop()
      }
      const agent = await besideAgent(options, checkout)
      return {
        name: 'beside',
        title: 'Beside another checkout',
        about: `The same requests to this checkout and to the one in \`${path}\`, both built, with their records in a SQLite file and a window of 128,000 tokens. Warm: the next turn of a conversation that is known and compacted. Cold: a conversation that the process sees for the first time. Ratios are those of one round.`,
        tables: [{ caption: 'What a turn takes', columns, rows }, agent.table],
        checks: [...checks, agent.check],
      }
    },
  }
}

// --- internal ---

/** Of the other checkout and of this one. */
type Pair = { readonly medianMs: readonly [number, number]; readonly cpuMs: readonly [number, number] }

type Options = { readonly seed: number; readonly bytes: number; readonly effort: Effort }

const sizes = [
  { name: '1 MB', id: '1mb', bytes: 1_000_000 },
  { name: '4 MB', id: '4mb', bytes: 4_000_000 },
  { name: '16 MB', id: '16mb', bytes: 16_000_000 },
] as const

/** Two builds of the same source differ by as much. */
const NO_WORSE = 1.1

const columns = [
  'turn',
  'the other, median ms',
  'this one, median ms',
  'ratio',
  'in the rounds',
  'the other, CPU ms',
  'this one, CPU ms',
  'ratio',
  'in the rounds',
]

const WARM_TURNS = 10
const WARM_TURNS_MIN = 12
const COLD_TURNS = 4

function build(checkout: string): void {
  const { status, stderr } = spawnSync('npm', ['run', '-s', 'build'], { cwd: checkout, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${checkout} cannot be built: ${stderr}`)
}

async function warm(subjects: readonly [Subject, Subject], { seed, bytes, effort }: Options): Promise<Pair> {
  const conversation = openConversation({ seed })
  conversation.growTo(bytes)
  for (const subject of subjects) await makeKnown(subject, conversation, WARM_TURNS)
  const [other, own] = await takeTurns({
    subjects,
    conversation,
    grow: () => conversation.addRound(),
    turnsMin: WARM_TURNS_MIN,
    durationMs: effort.durationMs,
  })
  return {
    medianMs: [other?.medianMs ?? Number.NaN, own?.medianMs ?? Number.NaN],
    cpuMs: [other?.cpuMsPerTurn ?? Number.NaN, own?.cpuMsPerTurn ?? Number.NaN],
  }
}

async function cold(subjects: readonly [Subject, Subject], { seed, bytes }: Options): Promise<Pair> {
  const taken = subjects.map(() => ({ latenciesMs: [] as number[], cpuMs: [] as number[] }))
  for (let turn = 0; turn < COLD_TURNS; turn += 1) {
    const conversation = openConversation({ seed: seed + turn, stamp: `cold${seed}-${turn}` })
    conversation.growTo(bytes)
    const request = conversation.request()
    for (const index of turn % 2 === 0 ? [0, 1] : [1, 0]) {
      const subject = subjects[index]
      if (subject === undefined || subject.pid === null) continue
      const connection = await openConnection(subject.origin)
      const before = cpuMicroseconds(subject.pid)
      const { status, totalMs, first } = await connection.ask(request)
      if (status !== 200) throw new Error(`it answered ${status}: ${first.toString('utf8')}`)
      connection.close()
      await untilQuiet(subject.pid)
      taken[index]?.latenciesMs.push(totalMs)
      taken[index]?.cpuMs.push((cpuMicroseconds(subject.pid) - before) / 1_000)
    }
  }
  const of = (index: number, read: (each: (typeof taken)[number]) => readonly number[]): number => {
    const each = taken[index]
    return each === undefined ? Number.NaN : median(read(each))
  }
  return {
    medianMs: [of(0, ({ latenciesMs }) => latenciesMs), of(1, ({ latenciesMs }) => latenciesMs)],
    cpuMs: [of(0, ({ cpuMs }) => cpuMs), of(1, ({ cpuMs }) => cpuMs)],
  }
}
