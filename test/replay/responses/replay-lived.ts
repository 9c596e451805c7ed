import { live, readReply, type LivedRequest } from '../../support/responses/living.ts'
import { valueDigest } from '../../support/responses/meaning.ts'
import type { ScriptedItem } from '../../support/responses/script.ts'
import { typeOf, type WireItem } from '../../support/responses/wire-item.ts'
import { textOf } from '../../support/strict-upstream/wire-message.ts'
import type { Problem } from '../checks.ts'
import { nameOf, type Failure, type Job, type JobContext } from '../job.ts'
import { openTally, type Tally } from '../tally.ts'
import { openHistory, parsedItem } from './history.ts'
import { checkLived, type LivedSeen } from './lived-checks.ts'
import type { LivedStage } from './lived-stage.ts'
import { spellItem, type LivedSubject } from './lived-subject.ts'
import { watchReasoning } from './reasoning-losses.ts'

export type LivedReplay = {
  readonly job: Job
  readonly subjects: readonly LivedSubject[]
  readonly stage: LivedStage
  readonly keepBodies: JobContext['keepBodies']
}

/** Lives every conversation through Foldgate, plain and streamed. */
export async function replayLived({ subjects, ...replay }: LivedReplay) {
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

type One = Omit<LivedReplay, 'subjects'> & {
  readonly subject: LivedSubject
  /** Of the table, and its sums. */
  readonly row: string
  readonly tally: Tally
  readonly mode: 'plain' | 'streamed'
  /** What the first mode received at each point, for comparison. */
  readonly digests: Map<number, string>
}

const ENDING: readonly ScriptedItem[] = [{ type: 'message', text: 'Replayed.' }]

async function liveOne(one: One): Promise<readonly Failure[]> {
  const { job, subject, stage, tally, mode, digests } = one
  const failures: Failure[] = []
  const history = openHistory()
  const reasoning = watchReasoning()
  let previous: LivedSeen | null = null
  let place = 0

  async function ask({ index: point, items, script }: LivedRequest): Promise<readonly WireItem[] | null> {
    if (!subject.points.has(point)) return null
    history.take(items)
    const body = subject.body(
      items.map(({ text }) => text),
      mode === 'streamed',
    )
    // Encrypted content names its owner: of unequal lengths it would take unequal room.
    const exchange = await stage.ask(body.bytes, `Bearer ${mode.padEnd(8, '-')}-${subject.owner}`, script)
    const { file, id } = subject.recording
    one.keepBodies(`${one.row} ${id} ${mode} ${point}`, exchange)
    const checked = checkLived({ job, subject, history, body, exchange, previous })
    previous = checked.seen
    const problems: Problem[] = [...checked.problems]
    const last = exchange.received.at(-1)
    const losses = last === undefined ? null : reasoning.asked(last, checked.isCompaction)
    if (losses !== null) {
      if (losses.sentDead > 0)
        problems.push({ check: 'P5 reasoning', detail: `${losses.sentDead} sent behind a changed prefix` })
      if (losses.lost > 0 && !checked.isCompaction)
        problems.push({ check: 'P5 reasoning', detail: `${losses.lost} lost without a compaction` })
      tally.reasoningLost += losses.lost
      tally.reasoningLostAtOnce += losses.lostAtOnce
      tally.reasoningLostTwice += losses.lostTwice
    }
    const digest = (last?.rawItems ?? []).map(visibleDigest).join('')
    if (mode === 'plain') digests.set(point, digest)
    else if (job.isWindowKnown && digests.get(point) !== digest)
      problems.push({ check: 'P6 repeatable', detail: 'streamed, other items were sent than plain' })

    tally.requests += 1
    tally.tokensIn += history.items.reduce(
      (sum, { item }) => sum + subject.itemTokens(item),
      subject.aroundTokens,
    )
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

    const reply = exchange.isReply ? readReply(exchange.answer) : null
    const thoughts = (reply?.items ?? []).filter((item) => typeOf(item) === 'reasoning')
    reasoning.replied(thoughts.map((item) => textOf(item['id'])))
    return reply?.items ?? null
  }

  const spell = (item: WireItem) => spellItem(item, (place += 1))
  const items = await live({ steps: subject.steps, spell, ask })
  await ask({ index: subject.steps.length, items, script: ENDING })
  const trigger = { text: spell({ type: 'compaction_trigger' }), reply: null }
  await ask({ index: subject.steps.length + 1, items: [...items, trigger], script: [] })
  return failures
}

/** What an item says, whatever the upstream has named it and bound it to. */
function visibleDigest(text: string): string {
  const { encrypted_content: sealed, ...said } = parsedItem(text)
  return valueDigest([said, sealed === undefined])
}
