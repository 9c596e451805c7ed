/**
 * Attacks a running Foldgate with one body after another, each made to hold its event loop or to take its memory.
 *
 *   npm run attacks -- [--only TEXT] [--share N] [--cold] [--where]
 *
 * Each attack has a program of its own: in the container of the sidecar example, by its settings and with its heap, or,
 * where bodies are larger than that takes, with several gigabytes. It is made by a client that nobody has seen, once more
 * longer by a message, both with a small window and a large one, and three times at once. Meanwhile a neighbour asks
 * small things. Where nothing is wrong but a turn of the loop that took too long, it is tried again, twice at most.
 *
 * `--only`: attacks with this text in their names; `--share 0.1`: at a tenth of their size; `--cold`: once each;
 * `--where`: with a CPU profile,
 * and what the longest turn of the loop did. Prints a line for each attack, and ends with `N passed, N failed`; exits
 * with 1 where one failed.
 */
import { attacks } from './all.ts'
import type { Attack } from './attack.ts'
import { manners, runAttack, type Blow, megabytes } from './run-attack.ts'
import { openAttackedProgram, type AttackedProgram } from './target.ts'
import { readCommand, refuse, runCommand, say, text, yes } from '../harness/command.ts'
import { alignedTable } from '../harness/table.ts'
import { z } from 'zod'
import type { Turn } from '../../support/watch-loop.ts'

type AttackOptions = {
  /** Of their full size, above 0. */
  readonly share: number
  /** Whether each is made once, by a client that nobody has seen. */
  readonly isColdOnly: boolean
  /** Whether it is looked where the longest turns spend their time, which makes all of them longer. */
  readonly isProfiled: boolean
}

/** An attack with all that came of it. */
type Row = {
  readonly name: string
  readonly blows: readonly Blow[]
  /** What the neighbour took while nobody attacked, in milliseconds. */
  readonly quietMs: number
  /** With what was tried again. */
  readonly tookMs: number
}

/** A line for each attack: the worst of all manners. */
const tableOf = (rows: readonly Row[]): string => alignedTable([columns, ...rows.map(cellsOf)])

/** The blow that held the loop for longest, garbage left out; null where none has told. */
function worstOf(blows: readonly Blow[]) {
  const told = blows.flatMap(({ manner, loop }) => (loop === null ? [] : [{ manner, ...loop }]))
  return told.reduce<(typeof told)[number] | null>(
    (one, other) =>
      one === null || gapOf(other.longestWithoutGarbage) > gapOf(one.longestWithoutGarbage) ? other : one,
    null,
  )
}

const columns = [
  'attack',
  'bytes sent',
  'longest turn, ms',
  'and garbage, ms',
  'in which manner',
  'what was done',
  'neighbour answered',
  'refused',
  'median, × quiet',
  'longest, ms',
  'peak MB',
  'runs',
  'took, s',
  '',
]

function cellsOf({ name, blows, quietMs, tookMs }: Row): string[] {
  const worst = worstOf(blows)
  const gap = worst?.longestWithoutGarbage
  const whole = Math.max(0, ...blows.map(({ loop }) => loop?.longest.workMs ?? 0))
  const slowest = blows.reduce((one, other) =>
    other.neighbour.medianMs > one.neighbour.medianMs ? other : one,
  )
  const last = blows.at(-1)
  return [
    name,
    String(Math.max(...blows.map(({ bytes }) => bytes))),
    gap === undefined ? '–' : Math.round(gap.workMs - gap.garbageMs).toString(),
    Math.round(whole).toString(),
    worst?.manner ?? '–',
    [...new Set(blows.flatMap(({ fates }) => fates))].join(' ').slice(0, 50),
    String(blows.reduce((sum, { neighbour }) => sum + neighbour.answered, 0)),
    String(blows.reduce((sum, { neighbour }) => sum + neighbour.failures.length, 0)),
    (slowest.neighbour.medianMs / quietMs).toFixed(1),
    Math.round(Math.max(...blows.map(({ neighbour }) => neighbour.longestMs))).toString(),
    megabytes(Math.max(0, ...blows.map(({ memoryBytes }) => memoryBytes ?? 0))),
    last?.wrong.some((each) => each.startsWith('ended')) === true ? 'no' : 'yes',
    (tookMs / 1_000).toFixed(1),
    blows.every(({ wrong }) => wrong.length === 0) ? 'passed' : 'failed',
  ]
}

const gapOf = ({ workMs, garbageMs }: { readonly workMs: number; readonly garbageMs: number }): number =>
  workMs - garbageMs

/** Where a turn of the loop spent its time, by a CPU profile: the functions with most of it, as lines. */
function whereIn(profileJson: string, { beganMicros, endedMicros }: Turn): readonly string[] {
  const { nodes, samples, timeDeltas, startTime } = cpuProfile.parse(JSON.parse(profileJson))
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])))
  const own = new Map<string, number>()
  const within = new Map<string, number>()
  let all = 0
  let atMicros = startTime
  for (const [index, sample] of samples.entries()) {
    const micros = timeDeltas[index] ?? 0
    atMicros += micros
    if (atMicros < beganMicros || atMicros > endedMicros) continue
    all += micros
    const node = byId.get(sample)
    if (node !== undefined) add(own, nameOf(node), micros)
    const stack = new Set<string>()
    for (let id: number | undefined = sample; id !== undefined; id = parents.get(id)) {
      const each = byId.get(id)
      if (each !== undefined && each.callFrame.url.includes('/src/')) stack.add(nameOf(each))
    }
    for (const name of stack) add(within, name, micros)
  }
  return [
    ...mostOf(own, all, OWN_SHOWN).map((line) => `itself  ${line}`),
    ...mostOf(within, all, WITHIN_SHOWN).map((line) => `within  ${line}`),
  ]
}

const OWN_SHOWN = 4

const WITHIN_SHOWN = 9

const cpuProfile = z.object({
  nodes: z.array(
    z.object({
      id: z.number(),
      callFrame: z.object({ functionName: z.string(), url: z.string(), lineNumber: z.number() }),
      children: z.array(z.number()).optional(),
    }),
  ),
  samples: z.array(z.number()),
  timeDeltas: z.array(z.number()),
  startTime: z.number(),
})

type Node = z.output<typeof cpuProfile>['nodes'][number]

function nameOf({ callFrame: { functionName, url, lineNumber } }: Node): string {
  const file = url.replace(/^.*\/(?=(?:src|node_modules)\/)/, '')
  return `${functionName || '(nameless)'} ${file}${file === '' ? '' : `:${lineNumber + 1}`}`
}

function add(sums: Map<string, number>, name: string, micros: number): void {
  sums.set(name, (sums.get(name) ?? 0) + micros)
}

const mostOf = (sums: ReadonlyMap<string, number>, all: number, count: number): readonly string[] =>
  [...sums]
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, count)
    .map(([name, micros]) => `${String(Math.round((100 * micros) / all)).padStart(3)} %  ${name}`)

const TRIES = 3

/** Programs that wait to be attacked, each of which takes a hundred megabytes. */
const AHEAD = 4

await runCommand(attackAll)

async function attackAll(args: readonly string[]): Promise<boolean> {
  const { values: given } = readCommand(args, { only: text(''), share: text('1'), cold: yes, where: yes })
  const options = { share: Number(given.share), isColdOnly: given.cold, isProfiled: given.where }
  if (!(options.share > 0 && options.share <= 1)) refuse('--share takes a number above 0, up to 1.')
  const chosen = attacks.filter(({ name }) => name.includes(given.only))
  const rows: Row[] = []
  const failed: string[] = []
  await leaveCompiled(chosen[0])
  for await (const { attack, target } of startedAhead(chosen, options)) {
    const beganMs = performance.now()
    const { blows, quietMs, where } = await settledBlowsOf(attack, target, options)
    const wrong = blows.flatMap((blow) => blow.wrong.map((each) => `${blow.manner}: ${each}`))
    rows.push({ name: attack.name, blows, quietMs, tookMs: performance.now() - beganMs })
    const lines = [`${wrong.length === 0 ? 'passed' : 'failed'}  ${attack.name}`, ...wrong, ...where]
    const told = lines.join('\n        ')
    say(told)
    if (wrong.length > 0) failed.push(told)
  }
  say(['', tableOf(rows), '', ...failed].join('\n'))
  say(`${chosen.length - failed.length} passed, ${failed.length} failed`)
  return failed.length === 0 && chosen.length > 0
}

/**
 * Modules are kept compiled by a program that ends in its own time. Those that are attacked are killed: in a new checkout
 * each of them would compile all again, which takes as long as the rest of its start.
 */
async function leaveCompiled(attack: Attack | undefined): Promise<void> {
  const target = attack === undefined ? null : await openAttackedProgram(attack)
  await target?.program.stop()
  await target?.close()
}

/**
 * Each attack with its program. While one program is attacked the next ones are started, one after the other, as far ahead
 * as makes up for attacks that are shorter than a start: turns are measured by the processor time of a thread.
 */
async function* startedAhead(chosen: readonly Attack[], options: AttackOptions) {
  const waiting: { readonly attack: Attack; readonly starting: Promise<AttackedProgram | null> }[] = []
  let started: Promise<unknown> = Promise.resolve()
  const unstarted = chosen.values()
  function startMore(): void {
    while (waiting.length < AHEAD) {
      const { value: attack } = unstarted.next()
      if (attack === undefined) return
      const starting = started.then(() => startFor(attack, options))
      started = starting
      waiting.push({ attack, starting })
    }
  }
  try {
    startMore()
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      startMore()
      yield { attack: next.attack, target: await next.starting }
    }
  } finally {
    for (const { starting } of waiting) await (await starting)?.close()
  }
}

/** Null where it did not start: it is started again when its turn has come, and that told. */
async function startFor(attack: Attack, options: AttackOptions): Promise<AttackedProgram | null> {
  return openAttackedProgram(attack, options).catch(() => null)
}

/**
 * A turn of the loop that took too long is tried again, with a program of its own: processor time, too, grows with what
 * else the machine does, while work that is not done in steps takes as long each time.
 */
async function settledBlowsOf(attack: Attack, started: AttackedProgram | null, options: AttackOptions) {
  let tried = await blowsOf(attack, started, options)
  for (let again = 1; again < TRIES && isTooLongOnly(tried.blows); again += 1) {
    say(`again   ${attack.name}: ${tried.blows.flatMap(({ wrong }) => wrong).join(', ')}`)
    tried = await blowsOf(attack, null, options)
  }
  return tried
}

function isTooLongOnly(blows: readonly Blow[]): boolean {
  const wrong = blows.filter((blow) => blow.wrong.length > 0)
  return wrong.length > 0 && wrong.every((blow) => blow.isTooLongOnly)
}

/** Until all manners were tried or the program has ended. */
async function blowsOf(attack: Attack, started: AttackedProgram | null, options: AttackOptions) {
  const { share, isColdOnly } = options
  const target = started ?? (await openAttackedProgram(attack, options))
  const blows: Blow[] = []
  try {
    for (const manner of isColdOnly ? manners.slice(0, 1) : manners) {
      // What goes on with a request that nobody waits for any more would fall into the next one's figures.
      if (target.program.ended() !== null || blows.at(-1)?.isUnanswered === true) break
      blows.push(await runAttack(target, attack, { manner, share, client: attack.name }))
    }
    const profile = await target.profile()
    const worst = worstOf(blows)
    const where = profile === null || worst === null ? [] : whereIn(profile, worst.longestWithoutGarbage)
    return { blows, quietMs: target.quiet.medianMs, where }
  } finally {
    await target.close()
  }
}
