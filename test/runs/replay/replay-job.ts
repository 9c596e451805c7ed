import { checkExchange, type Problem, type Seen } from './checks.ts'
import { nameOf, type Failure, type JobContext, type Received } from './job.ts'
import { openPins } from './pins.ts'
import { sampleKey, sampledPoints } from './sample.ts'
import type { Exchange } from './stage.ts'
import type { Subject } from './subject.ts'
import { openTally, type Tally } from './tally.ts'
import { received } from './walk.ts'

export type Replayed = {
  readonly tallies: Record<string, Tally>
  readonly failures: Failure[]
  readonly sample: Record<string, Received>
}

type ReplayOptions = JobContext & {
  /** The conversations whose received messages are kept for the cold run. */
  readonly isSampled: (subject: Subject) => boolean
}

/** Replays every request of every conversation, plain and streamed, each in its growing order. */
export async function replayAll(options: ReplayOptions): Promise<Replayed> {
  const replayed: Replayed = { tallies: {}, failures: [], sample: {} }
  for (const subject of options.subjects) {
    const digests = new Map<number, string>()
    for (const mode of ['plain', 'streamed'] as const) {
      await replayOne({ ...options, subject, mode, digests }, replayed)
    }
  }
  return replayed
}

// --- internal ---

type One = ReplayOptions & {
  readonly subject: Subject
  readonly mode: 'plain' | 'streamed'
  /** What the first mode received at each point, for comparison. */
  readonly digests: Map<number, string>
}

async function replayOne(one: One, replayed: Replayed): Promise<void> {
  const { job, subject, mode, digests } = one
  const { file, id } = subject.recording
  const row = subject.variant === 'recorded' ? file : `${file} (${subject.variant})`
  const tally = (replayed.tallies[row] ??= openTally())
  const stage = one.stageOf(subject)
  const sampled = new Set(one.isSampled(subject) && mode === 'plain' ? sampledPoints(subject.points) : [])
  const missingPins = openPins(subject, one.sizing)
  let previous: Seen | null = null
  let isTaught = false
  for (const point of subject.points) {
    const body = subject.body(point, mode === 'streamed')
    const exchange = await stage.ask(body.bytes, `Bearer ${mode}-${subject.owner}`)
    one.keepBodies(`${row} ${id} ${mode} ${point}`, exchange)
    const checked = checkExchange({ job, subject, point, body, exchange, missingPins, previous })
    previous = checked.seen
    const problems: Problem[] = [...checked.problems]
    const digest = received(exchange).join('')
    if (mode === 'plain') digests.set(point, digest)
    else if (!job.statesUsage && digests.get(point) !== digest)
      problems.push({ check: 'P6 repeatable', detail: 'streamed, other messages were sent than plain' })
    // A refusal teaches numbers, which a cold process does not know.
    isTaught ||= exchange.received.some(({ rejected }) => rejected !== null)
    if (sampled.has(point) && !isTaught) replayed.sample[sampleKey(subject, point)] = received(exchange)
    addExchange(tally, subject, point, exchange)
    if (checked.isCompaction) tally.compactions += 1
    if (checked.isRejected) tally.rejected += 1
    if (checked.isFixedTooLarge) tally.fixedTooLarge += 1
    tally.failures += problems.length
    for (const problem of problems) {
      replayed.failures.push({
        job: nameOf(job),
        file,
        conversation: id,
        variant: subject.variant,
        mode,
        point,
        ...problem,
      })
    }
  }
}

function addExchange(tally: Tally, subject: Subject, point: number, exchange: Exchange): void {
  const { action } = exchange
  const last = exchange.received.at(-1)
  tally.requests += 1
  tally.tokensIn += subject.promptTokens(point)
  tally.tokensSent += last?.promptTokens ?? 0
  tally.tokensCached += last?.cachedTokens ?? 0
  if (exchange.passes.length > 0) tally.rewritten += 1
  if (action.startsWith('recovered')) tally.recovered += 1
  if (action.startsWith('restored')) tally.restored += 1
  if (action.startsWith('failed-open')) tally.failedOpen += 1
  tally.sentAgain += Math.max(0, exchange.received.length - 1)
  if (!exchange.isReply) tally.errors += 1
}
