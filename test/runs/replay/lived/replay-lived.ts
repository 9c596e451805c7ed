import { hash } from 'node:crypto'
import type { Problem } from '../checks.ts'
import { nameOf, type Failure, type Job, type JobContext } from '../job.ts'
import { openTally, type Tally } from '../tally.ts'
import { openHistory, type EntryReader } from './history.ts'
import { checkLived, type LivedSeen } from './lived-checks.ts'
import type { LivedStage, LivedSubject } from './lived-subject.ts'
import { watchThoughts } from './thought-losses.ts'

export type LivedReplay<Script> = {
  readonly job: Job
  readonly subjects: readonly LivedSubject<Script>[]
  readonly stage: LivedStage<Script>
  readonly keepBodies: JobContext['keepBodies']
}

/** Lives every conversation through Foldgate, plain and streamed. */
export async function replayLived<Script>({ subjects, ...replay }: LivedReplay<Script>) {
  const tallies: Record<string, Tally> = {}
  const failures: Failure[] = []
  for (const subject of subjects) {
    const { file } = subject.recording
    const row = subject.variant === 'recorded' ? file : `${file} (${subject.variant})`
    const tally = (tallies[row] ??= openTally())
    const digests = new Map<number, string>()
    for (const mode of ['plain', 'streamed'] as const)
      failures.push(...(await liveOne({ ...replay, subject, row, tally, mode, digests })))
  }
  return { tallies, failures }
}

// --- internal ---

type One<Script> = Omit<LivedReplay<Script>, 'subjects'> & {
  readonly subject: LivedSubject<Script>
  /** Of the table, and its sums. */
  readonly row: string
  readonly tally: Tally
  readonly mode: 'plain' | 'streamed'
  /** What the first mode received at each point, for comparison. */
  readonly digests: Map<number, string>
}

async function liveOne<Script>(one: One<Script>): Promise<readonly Failure[]> {
  const { job, subject, stage, tally, mode, digests } = one
  const failures: Failure[] = []
  const history = openHistory(subject.readEntry)
  const thoughts = watchThoughts()
  let previous: LivedSeen | null = null

  await subject.live(mode === 'streamed', async ({ point, entries, body, script }) => {
    history.take(entries)
    // What is sealed names its owner: of unequal lengths it would take unequal room.
    const exchange = await stage.ask(body.bytes, `Bearer ${mode.padEnd(8, '-')}-${subject.owner}`, script)
    const { file, id } = subject.recording
    one.keepBodies(`${one.row} ${id} ${mode} ${point}`, exchange)
    const checked = checkLived({ job, subject, history, body, exchange, previous })
    previous = checked.seen
    const problems: Problem[] = [...checked.problems]
    const last = exchange.received.at(-1)
    const losses = last === undefined ? null : thoughts.asked(last, checked.isCompaction)
    if (losses !== null) {
      if (losses.sentDead > 0)
        problems.push({ check: 'P5 reasoning', detail: `${losses.sentDead} sent behind a changed prefix` })
      if (losses.lost > 0 && !checked.isCompaction)
        problems.push({ check: 'P5 reasoning', detail: `${losses.lost} lost without a compaction` })
      tally.reasoningLost += losses.lost
      tally.reasoningLostAtOnce += losses.lostAtOnce
      tally.reasoningLostTwice += losses.lostTwice
    }
    const shown = (last?.rawEntries ?? []).map((text) => visible(text, subject.readEntry))
    const digest = hash('sha1', shown.join('\n'))
    if (mode === 'plain') digests.set(point, digest)
    else if (job.isWindowKnown && digests.get(point) !== digest)
      problems.push({ check: 'P6 repeatable', detail: 'streamed, other entries were sent than plain' })

    tally.requests += 1
    tally.tokensIn += history.entries.reduce((sum, { read }) => sum + read.tokens, subject.aroundTokens)
    tally.tokensSent += last?.promptTokens ?? 0
    tally.tokensCached += last?.cachedTokens ?? 0
    if (exchange.passes.length > 0) tally.rewritten += 1
    if (exchange.action.startsWith('recovered')) tally.recovered += 1
    if (exchange.action.startsWith('restored')) tally.restored += 1
    if (exchange.action.startsWith('failed-open')) tally.failedOpen += 1
    tally.sentAgain += Math.max(0, exchange.received.length - 1)
    if (!exchange.isReply) tally.errors += 1
    if (checked.isCompaction) tally.compactions += 1
    if (checked.isRejected) tally.rejected += 1
    if (checked.isFixedTooLarge) tally.fixedTooLarge += 1
    tally.groupsBroken += checked.brokenGroups
    tally.failures += problems.length
    const { variant } = subject
    for (const problem of problems)
      failures.push({ job: nameOf(job), file, conversation: id, variant, mode, point, ...problem })

    if (!exchange.isReply) return null
    thoughts.replied(subject.thoughtsIn(exchange.answer))
    return exchange.answer
  })
  return failures
}

/** What an entry says, whatever the upstream has named it; of thoughts only that they are there. */
function visible(text: string, readEntry: EntryReader): string {
  const read = readEntry(text)
  return read.kind === 'thought' ? read.kind : read.unnamed
}
